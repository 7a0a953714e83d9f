# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones whose hinge follows another bone's: a twist bone in a forearm, a finger that curls, measured on what Blender
shows.
"""

from math import radians

import bpy
import numpy as np
import pytest
from figures import curves_of, grab, make_figure, select_bones, shown
from scipy.spatial.transform import Rotation

# name: parent, head, tail; a forearm with a bone that shares the hand's twist, and a finger of three bones
FOREARM = {
    "base": (None, (0, 0, 1.0), (0, 0.3, 1.0)),
    "forearm.L": ("base", (0, 0.3, 1.0), (0, 0.6, 1.0)),
    "twist.L": ("forearm.L", (0, 0.45, 1.0), (0, 0.6, 1.02)),
    "hand.L": ("forearm.L", (0, 0.6, 1.0), (0, 0.75, 1.0)),
    "finger.01.L": ("hand.L", (0.05, 0.75, 1.0), (0.05, 0.80, 1.0)),
    "finger.02.L": ("finger.01.L", (0.05, 0.80, 1.0), (0.05, 0.84, 1.0)),
    "finger.03.L": ("finger.02.L", (0.05, 0.84, 1.0), (0.05, 0.87, 1.0)),
}
ALONG, ACROSS = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
HINGES = {"twist.L": ALONG, "hand.L": ALONG, "finger.01.L": ACROSS, "finger.02.L": ACROSS, "finger.03.L": ACROSS}
FOLLOWS = {
    "twist.L": ("hand.L", 0.5, 0.0),
    "finger.02.L": ("finger.01.L", 0.8, radians(10.0)),
    "finger.03.L": ("finger.02.L", -0.5, 0.0),
}
SINGLE = 1e-5  # rad: keys are single precision, seven digits of a quaternion


def make_forearm(scene):
    """The rig, its base held by the world, twist bone and finger following."""
    rig = make_figure(FOREARM, "Arm", connected=False)
    (grip,) = grab(scene, rig, ["base"])
    grip.trapeze.grip.joint = "FIXED"
    bones = rig.pose.bones
    for bone in bones:
        bone.trapeze_part, bone.rotation_mode = "LINK", "XYZ"
        bone.trapeze_mass = max(bone.trapeze_mass, 0.05)
    for name, axis in HINGES.items():
        bones[name].trapeze_joint, bones[name].trapeze_axis, bones[name].trapeze_use_limits = "HINGE", axis, False
    for name, (leader, factor, offset) in FOLLOWS.items():
        follow(bones[name], leader, factor, offset)
    # the mass of the hand lies beside its axis, so that it turns when it falls
    bones["hand.L"].trapeze_centre = 0.08, 0.05, 0.0
    scene.frame_end = 30
    return rig


def follow(bone, leader, factor=1.0, offset=0.0):
    bone.trapeze_follows, bone.trapeze_follow_factor, bone.trapeze_follow_offset = leader, factor, offset


def turns(scene, rig, frames, bone):
    """Rotation vectors (F, 3) of a bone in its parent from the rest pose, in its own axes, as Blender shows it."""
    here = rig.data.bones[bone]
    rest = Rotation.from_matrix(np.array((here.parent.matrix_local.inverted() @ here.matrix_local).to_3x3()))
    poses = shown(scene, rig, frames, [here.parent.name, bone])[..., :3, :3]
    relative = Rotation.from_matrix(poses[:, 0]).inv() * Rotation.from_matrix(poses[:, 1])
    return (rest.inv() * relative).as_rotvec()


def check_following(scene, rig, frames):
    """Every follower turns about its own axis alone, and by what its leader says. A hand may turn more than once."""
    for name, (leader, factor, offset) in FOLLOWS.items():
        wanted = factor * np.unwrap(turns(scene, rig, frames, leader) @ np.array(HINGES[leader])) + offset
        wanted = Rotation.from_rotvec(wanted[:, None] * np.array(HINGES[name]))
        found = Rotation.from_rotvec(turns(scene, rig, frames, name))
        assert (found * wanted.inv()).magnitude().max() < SINGLE, name


@pytest.mark.parametrize("integrator", ["MIDPOINT", "RKMK4", "SEMI_IMPLICIT"])
def test_limp_bones_follow_and_are_keyed(scene, integrator):
    """A forearm falls: twist bone and finger keep to the bones that they follow, in the keys that are written."""
    rig = make_forearm(scene)
    scene.trapeze.integrator = integrator
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    frames = range(1, 31)
    check_following(scene, rig, frames)
    assert np.ptp(turns(scene, rig, frames, "hand.L")[:, 1]) > 0.2
    assert np.ptp(turns(scene, rig, frames, "finger.01.L")[:, 0]) > 0.2
    paths = {curve.data_path for curve in curves_of(rig.animation_data.action)}
    assert all(rig.pose.bones[name].path_from_id("rotation_euler") in paths for name in FOLLOWS)


def test_followers_of_a_keyed_bone_move_with_its_keys(scene):
    """The hand turns by one radian; the twist bone by half of that, the bent finger stays where its leader is keyed."""
    rig = make_forearm(scene)
    hand, finger = rig.pose.bones["hand.L"], rig.pose.bones["finger.01.L"]
    for frame, angle in ((1, 0.0), (30, 1.0)):
        hand.rotation_euler.y = angle
        hand.keyframe_insert("rotation_euler", frame=frame)
    for point in (point for curve in curves_of(rig.animation_data.action) for point in curve.keyframe_points):
        point.interpolation = "LINEAR"
    finger.rotation_euler.x = 0.4
    finger.keyframe_insert("rotation_euler", frame=1)
    hand.trapeze_muscle = finger.trapeze_muscle = "KEYED"
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    frames = range(1, 31)
    check_following(scene, rig, frames)
    wanted = np.linspace(0.0, 1.0, 30)
    assert np.abs(turns(scene, rig, frames, "twist.L")[:, 1] - 0.5 * wanted).max() < SINGLE
    assert np.abs(turns(scene, rig, frames, "finger.02.L")[:, 0] - 0.8 * 0.4 - radians(10.0)).max() < SINGLE


def test_going_on_from_a_result_still_follows(scene):
    rig = make_forearm(scene)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    before = turns(scene, rig, range(15, 31), "finger.03.L")
    settings = scene.trapeze
    settings.use_stored, settings.use_scene_range, settings.frame_start, settings.frame_end = True, False, 15, 30
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert np.abs(turns(scene, rig, range(15, 31), "finger.03.L") - before).max() < SINGLE


def ball(bones):
    bones["hand.L"].trapeze_joint = "BALL"


def circle(bones):
    follow(bones["finger.01.L"], "finger.03.L")


def key_a_follower(bones):
    bones["finger.02.L"].trapeze_muscle = "KEYED"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (ball, "twist.L follows hand.L, but hand.L has a ball joint"),
        (lambda bones: follow(bones["twist.L"], "nobody"), "twist.L follows nobody, which is no bone of Arm"),
        (lambda bones: follow(bones["twist.L"], "base"), "twist.L follows base, which has no joint of its own"),
        (lambda bones: follow(bones["twist.L"], "twist.L"), "twist.L follows twist.L: bones cannot follow in a circle"),
        (lambda bones: follow(bones["twist.L"], "hand.L", 0.0), "twist.L follows hand.L with a factor of 0"),
        (circle, "bones cannot follow in a circle"),
        (key_a_follower, "finger.02.L follows finger.01.L and cannot be keyed too"),
    ],
)
def test_what_cannot_follow_is_named(scene, change, words):
    rig = make_forearm(scene)
    change(rig.pose.bones)
    actions = len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.trapeze.simulate()
    assert len(bpy.data.actions) == actions


def test_copying_names_the_opposite_bones(scene):
    """What the left finger follows on the left, the right one follows on the right; a leader does not follow itself."""
    other = {
        name.replace(".L", ".R"): (parent.replace(".L", ".R"), (-head[0], *head[1:]), (-tail[0], *tail[1:]))
        for name, (parent, head, tail) in list(FOREARM.items())[1:]}
    rig = make_figure({**FOREARM, **other}, "Arms", connected=False)
    bones = rig.pose.bones
    follow(bones["finger.02.L"], "finger.01.L", 0.8, 0.1)
    select_bones(rig, ["finger.02.L"])
    assert bpy.ops.trapeze.copy_to_selected(what="MUSCLE", opposite=True) == {"FINISHED"}
    assert bones["finger.02.R"].trapeze_follows == "finger.01.R"
    assert bones["finger.02.R"].trapeze_follow_factor == pytest.approx(0.8)
    assert bones["finger.02.R"].trapeze_follow_offset == pytest.approx(0.1)
    select_bones(rig, ["finger.01.L", "finger.03.L", "finger.02.L"])
    assert bpy.ops.trapeze.copy_to_selected(what="MUSCLE") == {"FINISHED"}
    assert bones["finger.03.L"].trapeze_follows == "finger.01.L" and bones["finger.01.L"].trapeze_follows == ""
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.trapeze.remove_figure() == {"FINISHED"}
    assert bones["finger.02.L"].trapeze_follows == ""
