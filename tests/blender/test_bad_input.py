# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is told in a sentence that names it, and nothing is changed."""

from importlib import import_module

import bpy
import pytest
from figures import GYMNAST, curves_of, grab, make_bar, make_box, make_figure, make_rig, select
from mathutils import Quaternion
from test_grips import make_grip


def refused(words):
    """Simulating raises the sentence; no action is left behind, nothing is switched, the frame stays."""
    before = sorted(action.name for action in bpy.data.actions)
    frame = bpy.context.scene.frame_current
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.trapeze.simulate()
    assert sorted(action.name for action in bpy.data.actions) == before
    assert bpy.context.scene.frame_current == frame
    assert all(owner.trapeze.figure.showing == "SOURCE" for owner in bpy.data.objects)


def test_nothing_to_simulate(scene):
    """Greyed out with a reason; a scene whose only prop is static says so when asked."""
    with pytest.raises(RuntimeError, match="Set up a figure first"):
        bpy.ops.trapeze.simulate()
    make_box((0, 0, 1), motion="STATIC")
    refused("There is nothing to simulate; select an armature and use Set Up Figure")


def test_no_armature(scene):
    make_box((0, 0, 1))
    with pytest.raises(RuntimeError, match="Select the armature"):
        bpy.ops.trapeze.set_up()


def test_empty_armature(scene):
    rig = make_rig({})
    rig.trapeze.role = "FIGURE"
    refused("Gymnast has no bones")


def test_no_bone_takes_part(scene):
    rig = make_figure()
    for bone in rig.pose.bones:
        bone.trapeze_part = "IGNORED"
    refused("No bone of Gymnast takes part")


def test_zero_length_bone(scene):
    rig = make_figure()
    rig.pose.bones["hand.L"].scale = (0, 0, 0)
    refused(r"hand\.L has zero length")


@pytest.mark.parametrize(("scale", "words"), [
    ((1, 1, -1), "mirrored by a negative scale"), ((1, 2, 1), "scaled unevenly"), ((0, 0, 0), "scale of zero")])
def test_scale(scene, scale, words):
    rig = make_figure()
    rig.scale = scale
    refused(f"Gymnast .*{words}")


def test_keys_that_are_not_numbers(scene):
    rig = make_figure()
    rig.pose.bones["hips"].location = (float("nan"), 0, 0)
    refused("not number|not a number")


def test_no_frames(scene):
    make_figure()
    scene.trapeze.use_scene_range = False
    scene.trapeze.frame_start, scene.trapeze.frame_end = 10, 10
    refused("There are no frames to simulate from 10 to 10")


def test_massless_link(scene):
    rig = make_figure()
    for name in ("hand.L",):
        rig.pose.bones[name].trapeze_mass = 0.0
    refused(r"hand\.L of Gymnast can move without moving any mass")


def test_edit_mode(scene):
    """The button is greyed out with a reason; another figure in Edit Mode is named."""
    rig = make_figure()
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Go to Object Mode or Pose Mode"):
        bpy.ops.trapeze.simulate()
    bpy.ops.object.mode_set(mode="OBJECT")


# -- grips -----------------------------------------------------------------------------------------------------------


def test_grip_without_ends(scene):
    rig = make_figure()
    grip = make_grip(scene, (rig, "hand.L"), None)
    grip.trapeze.grip.use_world = False
    refused("Grip has no target; choose its second object, or let it hold on to the world")
    grip.trapeze.grip.first_object = None
    refused("Grip has nothing that takes hold")


def test_grip_to_itself(scene):
    rig = make_figure()
    make_grip(scene, (rig, "hand.L"), (rig, "hand.L"))
    refused(r"Both ends of Grip are hand\.L of Gymnast")
    box = make_box((0, 0, 1))
    bpy.data.objects["Grip"].trapeze.grip.first_object = box
    bpy.data.objects["Grip"].trapeze.grip.second_object = box
    refused("Both ends of Grip are Box")


def test_grip_between_things_that_stay(scene):
    make_figure()
    bar = make_bar()
    make_grip(scene, bar, None)
    refused("Neither end of Grip can move")


def test_deleted_target(scene):
    """Deleted for good, or only out of the scene: a grip does not hold on to the world instead."""
    rig, bar = make_figure(), make_bar()
    grab(scene, rig, ["hand.L"], bar)
    scene.collection.objects.unlink(bar)
    refused(r"Bar, which hand\.L Grip holds on to, is not in the scene")
    bpy.data.objects.remove(bar)
    refused(r"hand\.L Grip has no target")


def test_disabled_target(scene):
    """A bar that is only disabled is still there; a figure that is disabled takes no part."""
    rig, bar, other = make_figure(), make_bar(), make_figure(name="Other")
    (grip,) = grab(scene, rig, ["hand.L"], bar)
    scene.frame_end = 5
    bar.hide_viewport = True
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    grip.trapeze.grip.second_object, grip.trapeze.grip.second_bone = other, "hand.R"
    other.hide_viewport = True
    refused(r"hand\.R of Other takes no part in the simulation, but hand\.L Grip holds it")


def test_renamed_bone(scene):
    """The figure keeps its settings; a grip that knows the old name says so."""
    rig, bar = make_figure(), make_bar()
    grab(scene, rig, ["hand.L"], bar)
    rig.pose.bones["forearm.R"].name = "Ellbow"
    rig.data.bones["hand.L"].name = "Paw"
    refused(r"Gymnast has no bone hand\.L, which hand\.L Grip holds")
    bpy.data.objects["hand.L Grip"].trapeze.grip.first_bone = "Paw"
    scene.frame_end = 5
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}


def test_ignored_bone(scene):
    rig = make_figure()
    make_grip(scene, (rig, "hand.L"), None)
    rig.pose.bones["hand.L"].trapeze_part = "IGNORED"
    refused(r"hand\.L of Gymnast takes no part")


def test_figure_without_a_bone(scene):
    rig = make_figure()
    box = make_box((0, 0, 1))
    make_grip(scene, box, rig)
    refused("Grip holds Gymnast of the figure Gymnast; choose which bone")


def test_two_hard_grips_that_cannot_both_hold(scene):
    """One fixes the hand to the world, the other to something that is moving."""
    rig, mover = make_figure(), make_box((1, 0, 1), name="Mover", motion="ANIMATED")
    for frame, where in ((-10, 0.0), (40, 2.0)):
        mover.location.x = where
        mover.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    make_grip(scene, (rig, "hand.L"), None, joint="FIXED").name = "Still"
    make_grip(scene, (rig, "hand.L"), mover, joint="FIXED").name = "Moving"
    refused("(Still|Moving) cannot hold at frame 1.* together with (Moving|Still); make one of them soft")
    bpy.data.objects["Moving"].trapeze.grip.hold = "SOFT"
    scene.frame_end = 5
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}


# -- links between files, parents, actions -----------------------------------------------------------------------------


def linked_figure(scene, tmp_path):
    rig = make_figure()
    path = str(tmp_path / "stranger.blend")
    bpy.data.libraries.write(path, {rig})
    bpy.data.objects.remove(rig)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    scene.collection.objects.link(here.objects[0])
    return here.objects[0]


def test_linked_figure(scene, tmp_path):
    linked_figure(scene, tmp_path)
    refused("Gymnast is linked from another file; make a library override")


def test_overridden_figure_works(scene, tmp_path):
    linked = linked_figure(scene, tmp_path)
    local = linked.override_create(remap_local_usages=True)
    if local.name not in scene.collection.objects:
        scene.collection.objects.link(local)
    if linked.name in scene.collection.objects and linked.library:
        for owner in list(scene.collection.objects):
            if owner.library:
                scene.collection.objects.unlink(owner)
    scene.frame_end = 5
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert local.trapeze.figure.showing == "RESULT"


def test_parented_to_what_is_simulated(scene):
    rig, box = make_figure(), make_box((0, 0, 1))
    rig.parent = box
    refused("Gymnast is parented to Box, which is simulated too")


def test_muted_action(scene, trapeze):
    """Nothing moves the figure; it starts as it looks, and that is told."""
    rig = make_figure()
    for frame in (1, 20):
        rig.pose.bones["chest"].rotation_quaternion = Quaternion((1, 0, 0), 0.1 * frame)
        rig.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(rig.animation_data.action):
        curve.mute = True
    grip = make_grip(scene, (rig, "hand.L"), None, keys=((1, False), (5, True)))
    for curve in curves_of(grip.animation_data.action):
        curve.mute = True
    read = import_module(f"{trapeze.__name__}.rig.read").read_scene(bpy.context)
    assert not read.state.v.any()
    assert "All keys of Gymnast in GymnastAction are muted; it starts as it looks" in read.warnings
    assert any("The keys of Grip are muted" in warning for warning in read.warnings)


def test_no_action_at_all(scene):
    """A pose without keys is a source too, and comes back."""
    rig = make_figure(dict(GYMNAST))
    rig.pose.bones["chest"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    scene.frame_end = 10
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    scene.frame_set(10)
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert rig.animation_data is None or rig.animation_data.action is None
    assert abs(rig.pose.bones["chest"].rotation_quaternion.angle - 0.3) < 1e-6


def test_source_deleted_while_the_result_plays(scene):
    rig = make_figure()
    rig.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=1)
    rig.animation_data.action.name = "Dance"
    scene.frame_end = 5
    bpy.ops.trapeze.simulate()
    bpy.data.actions.remove(bpy.data.actions["Dance"])
    with pytest.raises(RuntimeError, match="Dance, the source motion of Gymnast, was deleted"):
        bpy.ops.trapeze.simulate()
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
