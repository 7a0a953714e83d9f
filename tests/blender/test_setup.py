# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Figure on rigs of all kinds: what takes part, what it weighs, how it turns; and what a person changed."""

import time
from importlib import import_module
from math import pi, radians
from pathlib import Path

import addon_utils
import bpy
import numpy as np
import pytest
from mathutils import Vector

CMU = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmu"
LIMBS = ["upper_arm", "forearm", "hand", "thigh", "shin", "foot"]


@pytest.fixture(autouse=True)
def enabled(trapeze):
    """The extension itself; it is enabled in an empty file."""
    return trapeze


@pytest.fixture
def figure(trapeze):
    return import_module(f"{trapeze.__name__}.rig.figure")


def make_rig(bones, name="Rig"):
    """An armature from {bone: (parent, head, tail)}."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(rig)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (parent, head, tail) in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def activate(owner):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    owner.select_set(True)
    bpy.context.view_layer.objects.active = owner


def metarig(kind):
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    return bpy.context.object


def captured(name):
    path = CMU / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the captured motions are not part of the project")
    bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.0564444)
    return bpy.context.object


def set_up(owner, **more):
    activate(owner)
    assert bpy.ops.trapeze.set_up(**more) == {"FINISHED"}
    return owner


def masses(owner):
    return {bone.name: bone.trapeze_mass for bone in owner.pose.bones if bone.trapeze_part != "IGNORED"}


def links(owner):
    return {bone.name for bone in owner.pose.bones if bone.trapeze_part == "LINK"}


def test_a_male_metarig_weighs_what_the_table_says():
    """De Leva 1996, table 4, men: forearm 1.62 %, shank 4.33 %, thigh 14.16 %, hand 0.61 % and so on of the body."""
    rig = metarig("human")
    rig.trapeze.figure.body = "MALE"
    set_up(rig, mass=80.0)
    mass = masses(rig)
    assert sum(mass.values()) == pytest.approx(80.0, rel=1e-5)
    expected = {"upper_arm": 2.71, "forearm": 1.62, "thigh": 14.16, "shin": 4.33}
    for part, percent in expected.items():
        assert mass[f"{part}.L"] == pytest.approx(0.8 * percent, rel=1e-5)
        assert mass[f"{part}.R"] == pytest.approx(mass[f"{part}.L"], rel=1e-5)
    fingers = "hand", "f_", "thumb", "palm"
    hand = sum(value for name, value in mass.items() if name.endswith(".L") and name.startswith(fingers))
    assert hand == pytest.approx(0.8 * 0.61, rel=1e-5)
    head = sum(mass[f"spine.00{number}"] for number in (4, 5, 6))
    assert head == pytest.approx(0.8 * 6.94, rel=1e-5)


def test_the_metarig_has_hinges_at_elbows_and_knees_and_balls_elsewhere():
    rig = set_up(metarig("human"))
    hinges = {bone.name for bone in rig.pose.bones if bone.trapeze_part == "LINK" and bone.trapeze_joint == "HINGE"}
    assert hinges == {"forearm.L", "forearm.R", "shin.L", "shin.R"}
    assert {f"{part}.{side}" for part in LIMBS for side in "LR"} <= links(rig)
    assert not any(name.startswith(("f_", "thumb", "lip", "toe", "heel", "breast")) for name in links(rig))


@pytest.mark.parametrize("bone, towards", [("forearm.L", (0, -1, 0)), ("forearm.R", (0, -1, 0)),
                                           ("shin.L", (0, 1, 0)), ("shin.R", (0, 1, 0))])
def test_bending_is_positive_and_goes_the_human_way(bone, towards):
    """The figure looks along -Y: elbows bend its hands forward, knees its feet backward."""
    rig = set_up(metarig("human"))
    pose = rig.pose.bones[bone]
    axis = pose.bone.matrix_local.to_3x3() @ Vector(pose.trapeze_axis)
    along = (pose.bone.tail_local - pose.bone.head_local).normalized()
    assert axis.cross(along).dot(towards) > 0.5
    assert pose.trapeze_hinge_lower < 0.0 < radians(100) < pose.trapeze_hinge_upper < pi


def test_the_generated_rig_simulates_its_deform_skeleton_within_a_second():
    rig = metarig("human")
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    started = time.perf_counter()
    set_up(rig)
    assert time.perf_counter() - started < 1.0
    assert all(name.startswith("DEF-") for name in masses(rig))
    assert {f"DEF-{part}.{side}" for part in LIMBS for side in "LR"} <= links(rig)
    assert rig.pose.bones["DEF-thigh.L.001"].trapeze_part == "MERGED"
    assert rig.pose.bones["DEF-spine.006"].trapeze_joint == "BALL"  # locked for the animator, not a stiff neck


def test_a_captured_skeleton_needs_no_hand_work():
    rig = set_up(captured("13_11"))
    mass = masses(rig)
    assert 50.0 < sum(mass.values()) < 90.0
    assert rig.pose.bones["LHipJoint"].trapeze_part == "MERGED"
    assert {bone.name for bone in rig.pose.bones if bone.trapeze_joint == "HINGE"} == {
        "LeftForeArm", "RightForeArm", "LeftLeg", "RightLeg"}


@pytest.mark.parametrize("kind, most", [("wolf", 80.0), ("horse", 1000.0), ("cat", 10.0)])
def test_animals_have_legs_and_a_weight(figure, kind, most):
    rig = set_up(metarig(kind))
    assert figure.summary(rig).kind == "quadruped"
    mass = masses(rig)
    assert 0.03 * most < sum(mass.values()) < most
    trunk = sum(value for name, value in mass.items() if name.startswith(("spine", "pelvis", "neck", "head", "skull")))
    assert trunk > 0.5 * sum(mass.values())
    assert all(value > 0.0 for name, value in mass.items() if name in links(rig))


def test_a_chain_of_a_hundred_equal_bones_is_a_hundred_equal_links():
    names = [f"Bone.{number:03}" for number in range(100)]
    parents = dict(zip(names[1:], names))
    rig = set_up(make_rig({
        name: (parents.get(name), (0, 0, 0.1 * k), (0, 0, 0.1 * (k + 1))) for k, name in enumerate(names)}))
    assert len(links(rig)) == 100
    mass = list(masses(rig).values())
    assert mass == pytest.approx([mass[0]] * 100, rel=1e-4)
    assert mass[0] > 0.0


def test_a_mesh_gives_mass_and_shape_to_a_creature():
    """A box of 0.2 x 0.2 x 1 m around one bone: 1050 kg per cubic metre."""
    rig = make_rig({"Bone": (None, (0, 0, 0), (0, 0, 1))})
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 0.5))
    box = bpy.context.object
    box.scale = (0.2, 0.2, 1.0)
    box.modifiers.new("Armature", "ARMATURE").object = rig
    box.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    bpy.context.view_layer.update()
    set_up(rig)
    bone = rig.pose.bones["Bone"]
    assert bone.trapeze_shape == "MESH"
    assert bone.trapeze_mass == pytest.approx(0.04 * 1050.0, rel=1e-3)
    assert np.array(bone.trapeze_centre) == pytest.approx([0, 0.5, 0], abs=1e-4)
    assert np.array(bone.trapeze_spread)[:3] == pytest.approx([0.04 / 12, 1 / 12, 0.04 / 12], rel=1e-3)


def limited(**settings):
    rig = make_rig({"a": (None, (0, 0, 0), (0, 0, 1)), "b": ("a", (0, 0, 1), (0, 0, 2))})
    for name, value in settings.items():
        setattr(rig.pose.bones["b"], name, value)
    return rig


def test_ik_limits_and_locks_become_joint_and_range():
    rig = limited(lock_ik_y=True, lock_ik_z=True, use_ik_limit_x=True, ik_min_x=-0.25, ik_max_x=2.0)
    bone = set_up(rig).pose.bones["b"]
    assert bone.trapeze_joint == "HINGE"
    assert tuple(bone.trapeze_axis) == (1.0, 0.0, 0.0)
    assert (bone.trapeze_hinge_lower, bone.trapeze_hinge_upper) == (-0.25, 2.0)


def test_all_ik_locks_make_a_fixed_joint():
    assert set_up(limited(lock_ik_x=True, lock_ik_y=True, lock_ik_z=True)).pose.bones["b"].trapeze_joint == "FIXED"


def test_two_rotation_locks_make_a_hinge():
    bone = set_up(limited(lock_rotation=(True, True, False))).pose.bones["b"]
    assert bone.trapeze_joint == "HINGE"
    assert tuple(bone.trapeze_axis) == (0.0, 0.0, 1.0)


def test_limit_rotation_becomes_a_range():
    rig = limited()
    constraint = rig.pose.bones["b"].constraints.new("LIMIT_ROTATION")
    constraint.owner_space = "LOCAL"
    constraint.use_limit_x, constraint.min_x, constraint.max_x = True, -0.5, 1.0
    constraint.use_limit_y, constraint.min_y, constraint.max_y = True, -0.125, 0.125
    bone = set_up(rig).pose.bones["b"]
    assert bone.trapeze_joint == "BALL" and bone.trapeze_use_limits
    assert (bone.trapeze_swing_x_lower, bone.trapeze_swing_x_upper) == (-0.5, 1.0)
    assert (bone.trapeze_twist_lower, bone.trapeze_twist_upper) == (-0.125, 0.125)
    assert bone.trapeze_swing_z_upper == pytest.approx(pi)


def test_running_again_keeps_what_a_person_changed(figure):
    rig = set_up(metarig("human"))
    bones = rig.pose.bones
    bones["forearm.L"].trapeze_mass = 7.0
    bones["hand.R"].trapeze_part = "MERGED"
    bones["shin.L"].trapeze_hinge_upper = 1.25
    guessed = bones["thigh.L"].trapeze_mass
    assert figure.changes(bones["forearm.L"]) == {"mass"}
    rig.scale = (0.5, 0.5, 0.5)  # everything that was guessed is guessed anew
    bpy.context.view_layer.update()
    set_up(rig)
    assert bones["forearm.L"].trapeze_mass == 7.0
    assert bones["hand.R"].trapeze_part == "MERGED"
    assert bones["shin.L"].trapeze_hinge_upper == 1.25
    assert bones["thigh.L"].trapeze_mass < 0.3 * guessed
    set_up(rig, keep=False)
    assert bones["forearm.L"].trapeze_mass < 1.0 and bones["hand.R"].trapeze_part == "LINK"


def test_a_new_total_mass_spreads_over_what_was_guessed():
    rig = set_up(metarig("human"), mass=70.0)
    bones = rig.pose.bones
    bones["forearm.L"].trapeze_mass = 7.0
    thigh = bones["thigh.L"].trapeze_mass
    rig.trapeze.figure.mass = 140.0
    assert bones["thigh.L"].trapeze_mass == pytest.approx(2.0 * thigh, rel=1e-5)
    assert bones["forearm.L"].trapeze_mass == 7.0
    set_up(rig)
    assert rig.trapeze.figure.mass == 140.0


def test_settings_survive_saving_and_renaming(tmp_path):
    rig = set_up(metarig("human"), mass=75.0)
    rig.pose.bones["hand.L"].trapeze_mass = 1.5
    rig.data.bones["hand.L"].name = "Left fist"
    name = rig.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "figure.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "figure.blend"))
    rig = bpy.data.objects[name]
    assert rig.trapeze.role == "FIGURE" and rig.trapeze.figure.mass == 75.0
    assert rig.pose.bones["Left fist"].trapeze_mass == 1.5
    assert rig.pose.bones["forearm.L"].trapeze_joint == "HINGE"


def test_bone_settings_take_keys():
    rig = set_up(metarig("human"))
    bone = rig.pose.bones["forearm.L"]
    for name in ("trapeze_muscle", "trapeze_strength", "trapeze_hinge_upper"):
        assert bone.keyframe_insert(name, frame=3)
    assert rig.trapeze.figure.keyframe_insert("strength", frame=3)


def test_remove_leaves_no_trace(figure):
    rig = metarig("human")
    set_up(rig)
    assert bpy.ops.trapeze.remove_figure() == {"FINISHED"}
    assert rig.trapeze.role == "NONE"
    assert links(rig) == set() and masses(rig) == {}
    assert not any(bone.trapeze_guess for bone in rig.pose.bones)


def test_copying_to_the_opposite_bone_mirrors():
    """Rigify's sides are mirror images, so its own guesses for both sides are the oracle."""
    rig = set_up(metarig("human"))
    bones = rig.pose.bones
    bpy.ops.object.mode_set(mode="POSE")
    for name in ("thigh", "forearm"):
        left, right = bones[f"{name}.L"], bones[f"{name}.R"]
        keys = "trapeze_swing_z_lower", "trapeze_twist_upper", "trapeze_hinge_upper"
        wanted = {key: getattr(right, key) for key in keys}
        axis = np.array(right.trapeze_axis)
        right.trapeze_swing_z_lower, right.trapeze_axis = 1.0, (0, 1, 0)
        rig.data.bones.active = left.bone
        assert bpy.ops.trapeze.copy_to_selected(what="LINK", opposite=True) == {"FINISHED"}
        assert {key: getattr(right, key) for key in wanted} == pytest.approx(wanted, abs=1e-5)
        assert np.array(right.trapeze_axis) == pytest.approx(axis, abs=1e-5)


def test_an_object_becomes_a_prop():
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    assert bpy.ops.trapeze.set_prop(motion="DYNAMIC") == {"FINISHED"}
    assert (cube.trapeze.role, cube.trapeze.prop.motion) == ("PROP", "DYNAMIC")
    assert bpy.ops.trapeze.set_prop(motion="NONE") == {"FINISHED"}
    assert cube.trapeze.role == "NONE"


def refused(owner, sentence):
    activate(owner)
    before = owner.trapeze.role
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.trapeze.set_up()
    assert owner.trapeze.role == before


def test_nothing_selected_is_refused_with_a_reason():
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="Select the armature of a character"):
        bpy.ops.trapeze.set_up()


def test_an_empty_armature_is_refused():
    refused(make_rig({}), "Rig has no bones")


@pytest.mark.parametrize("scale, sentence", [((1, 2, 1), "Rig is scaled unevenly"), ((-1, 1, 1), "Rig is mirrored"),
                                             ((0, 0, 0), "Rig has a scale of zero")])
def test_bad_scale_is_refused(scale, sentence):
    rig = make_rig({"Bone": (None, (0, 0, 0), (0, 0, 1))})
    rig.scale = scale
    bpy.context.view_layer.update()
    refused(rig, sentence)


def test_edit_mode_is_refused():
    make_rig({"Bone": (None, (0, 0, 0), (0, 0, 1))})
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Go to Object Mode or Pose Mode"):
        bpy.ops.trapeze.set_up()


def test_a_linked_armature_is_refused(tmp_path):
    make_rig({"Bone": (None, (0, 0, 0), (0, 0, 1))}, "Stranger")
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(library, link=True) as (_, there):
        there.objects = ["Stranger"]
    linked = bpy.data.objects["Stranger"]
    bpy.context.collection.objects.link(linked)
    refused(linked, "Stranger is linked from another file")
    local = linked.override_create(remap_local_usages=True)
    if local.name not in bpy.context.view_layer.objects:
        bpy.context.collection.objects.link(local)
    assert len(links(set_up(local))) == 1
