# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone names of the usual skeletons, and what an anatomist would call them."""

from importlib import import_module

import pytest

NAMES = {
    # Mixamo
    "mixamorig:Hips": ("pelvis", ""), "mixamorig:LeftUpLeg": ("thigh", "L"), "mixamorig:RightForeArm": ("forearm", "R"),
    "mixamorig:LeftHandIndex2": ("finger", "L"), "mixamorig:HeadTop_End": ("end", ""),
    "mixamorig:RightToeBase": ("toe", "R"), "mixamorig1:Spine2": ("spine", ""),
    # Unreal
    "thigh_l": ("thigh", "L"), "calf_r": ("shin", "R"), "ball_l": ("toe", "L"), "upperarm_r": ("upper_arm", "R"),
    "lowerarm_l": ("forearm", "L"), "clavicle_r": ("clavicle", "R"), "ik_foot_root": ("control", ""),
    "ik_hand_gun": ("control", ""), "pinky_03_l": ("finger", "L"), "spine_05": ("spine", ""), "neck_01": ("neck", ""),
    # MakeHuman, MPFB
    "upperleg01.L": ("thigh", "L"), "lowerleg02.R": ("shin", "R"), "lowerarm01.L": ("forearm", "L"),
    "wrist.R": ("hand", "R"), "metacarpal3.L": ("finger", "L"), "finger2-1.R": ("finger", "R"),
    "toe1-2.L": ("toe", "L"), "levator05.L": ("face", "L"), "orbicularis04.R": ("face", "R"),
    # Rigify
    "DEF-upper_arm.L.001": ("upper_arm", "L"), "f_ring.02.R": ("finger", "R"), "lip.T.L.001": ("face", "L"),
    "heel.02.L": ("toe", "L"), "MCH-spine.001": ("control", ""), "r_toe.L": ("toe", "L"),
    "front_shin.R": ("forearm", "R"),
    # CMU
    "LeftFingerBase": ("finger", "L"), "RThumb": ("finger", "R"), "LowerBack": ("trunk", ""),
    # Biped, DAZ
    "Bip01 R Calf": ("shin", "R"), "Bip01_L_Finger0": ("finger", "L"), "rThighBend": ("thigh", "R"),
    "lCollar": ("clavicle", "L"),
    # Nothing to go by
    "Bone.003": ("", ""), "Armor_plate": ("", ""), "legacy": ("", ""), "Tentacle.L": ("", "L"),
}

HUMAN = {
    "mixamo": {
        "mixamorig:Hips": None, "mixamorig:Spine": "mixamorig:Hips", "mixamorig:Spine1": "mixamorig:Spine",
        "mixamorig:Neck": "mixamorig:Spine1", "mixamorig:Head": "mixamorig:Neck",
        "mixamorig:LeftShoulder": "mixamorig:Spine1", "mixamorig:LeftArm": "mixamorig:LeftShoulder",
        "mixamorig:LeftForeArm": "mixamorig:LeftArm", "mixamorig:LeftHand": "mixamorig:LeftForeArm",
        "mixamorig:LeftUpLeg": "mixamorig:Hips", "mixamorig:LeftLeg": "mixamorig:LeftUpLeg",
        "mixamorig:LeftFoot": "mixamorig:LeftLeg", "mixamorig:LeftToeBase": "mixamorig:LeftFoot"},
    "unreal": {
        "root": None, "pelvis": "root", "spine_01": "pelvis", "spine_02": "spine_01", "neck_01": "spine_02",
        "head": "neck_01", "clavicle_l": "spine_02", "upperarm_l": "clavicle_l", "upperarm_twist_01_l": "upperarm_l",
        "lowerarm_l": "upperarm_l", "hand_l": "lowerarm_l", "thigh_l": "pelvis", "calf_l": "thigh_l",
        "foot_l": "calf_l", "ball_l": "foot_l"},
    "makehuman": {
        "root": None, "spine05": "root", "spine01": "spine05", "neck01": "spine01", "head": "neck01",
        "clavicle.L": "spine01", "shoulder01.L": "clavicle.L", "upperarm01.L": "shoulder01.L",
        "upperarm02.L": "upperarm01.L", "lowerarm01.L": "upperarm02.L", "wrist.L": "lowerarm01.L", "pelvis.L": "root",
        "upperleg01.L": "pelvis.L", "upperleg02.L": "upperleg01.L", "lowerleg01.L": "upperleg02.L",
        "foot.L": "lowerleg01.L", "pelvis.R": "root", "upperleg01.R": "pelvis.R"},
    "rigify": {
        "spine": None, "spine.001": "spine", "spine.003": "spine.001", "spine.004": "spine.003",
        "spine.006": "spine.004", "shoulder.L": "spine.003", "upper_arm.L": "shoulder.L", "forearm.L": "upper_arm.L",
        "hand.L": "forearm.L", "pelvis.L": "spine", "thigh.L": "spine", "shin.L": "thigh.L", "foot.L": "shin.L"},
    "joints": {  # bones called after the joint that they start from
        "Hips": None, "Chest": "Hips", "Neck": "Chest", "Head": "Neck", "LeftCollar": "Chest",
        "LeftShoulder": "LeftCollar", "LeftElbow": "LeftShoulder", "LeftWrist": "LeftElbow", "LeftHip": "Hips",
        "LeftKnee": "LeftHip", "LeftAnkle": "LeftKnee"},
}
# Where each skeleton has the bones that carry the mass of a body.
PLACES = {
    "mixamo": {"pelvis": "Hips", "clavicle": "LeftShoulder", "upper_arm": "LeftArm", "thigh": "LeftUpLeg",
               "shin": "LeftLeg", "head": "Head"},
    "unreal": {"pelvis": "pelvis", "clavicle": "clavicle_l", "upper_arm": "upperarm_l", "shin": "calf_l"},
    "makehuman": {"pelvis": "root", "clavicle": "clavicle.L", "upper_arm": "upperarm01.L", "thigh": "upperleg01.L",
                  "shin": "lowerleg01.L", "hand": "wrist.L"},
    "rigify": {"pelvis": "spine", "spine": "spine.001", "neck": "spine.004", "head": "spine.006",
               "clavicle": "shoulder.L", "thigh": "thigh.L"},
    "joints": {"pelvis": "Hips", "spine": "Chest", "clavicle": "LeftCollar", "upper_arm": "LeftShoulder",
               "forearm": "LeftElbow", "hand": "LeftWrist", "thigh": "LeftHip", "shin": "LeftKnee",
               "foot": "LeftAnkle"},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_part_and_side(trapeze, name):
    names = import_module(f"{trapeze.__name__}.rig.names")
    assert names.recognise(name)[:2] == NAMES[name]


@pytest.mark.parametrize("family", HUMAN)
def test_the_tree_settles_what_names_leave_open(trapeze, family):
    anatomy = import_module(f"{trapeze.__name__}.rig.anatomy")
    bones = list(HUMAN[family])
    parents = [bones.index(parent) if parent else -1 for parent in HUMAN[family].values()]
    found = anatomy.Anatomy(bones, parents)
    for part, name in PLACES[family].items():
        side = "" if part in ("pelvis", "spine", "neck", "head") else "L"
        assert bones[found.first(part, side)].split(":")[-1] == name, part


def test_split_limbs_and_twists_continue_their_segment(trapeze):
    anatomy = import_module(f"{trapeze.__name__}.rig.anatomy")
    for family, continuing in (
            ("unreal", {"upperarm_twist_01_l"}),
            ("makehuman", {"shoulder01.L", "upperarm02.L", "upperleg02.L", "pelvis.L", "pelvis.R"})):
        bones = list(HUMAN[family])
        parents = [bones.index(parent) if parent else -1 for parent in HUMAN[family].values()]
        found = anatomy.Anatomy(bones, parents)
        assert {name for number, name in enumerate(bones) if found.continues(number)} == continuing


def test_a_digit_belongs_to_the_limb_it_hangs_on(trapeze):
    """A wolf's rear paw has palms and its front leg ends in toes, by name."""
    anatomy = import_module(f"{trapeze.__name__}.rig.anatomy")
    bones = ["front_foot.L", "front_toe.L", "foot.L", "r_palm.01.L"]
    found = anatomy.Anatomy(bones, [-1, 0, -1, 2])
    assert [found[number].part for number in range(4)] == ["hand", "finger", "foot", "toe"]
