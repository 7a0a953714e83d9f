# SPDX-License-Identifier: GPL-3.0-or-later
"""One interface to actions in every Blender, held against what Blender itself plays."""

from importlib import import_module

import bpy
import pytest


@pytest.fixture
def actions(trapeze):
    return import_module(trapeze.__name__ + ".rig.actions")


def make_object(name="Thing"):
    thing = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(thing)
    return thing


def key_places(curve, places):
    for frame, value in places:
        curve.keyframe_points.insert(frame, value)


def test_nothing_plays(actions):
    assert actions.motion_of(make_object()) is None


def test_new_action_plays_when_assigned(scene, actions):
    thing = make_object()
    motion = actions.new_motion("Motion", thing)
    assert list(motion.curves()) == []
    key_places(motion.add("location", 2, "Place"), [(1, 0.0), (11, 10.0)])
    motion.assign(thing)
    assert actions.motion_of(thing) == motion
    scene.frame_set(11)
    assert thing.location[:] == (0, 0, 10)
    assert [curve.group.name for curve in motion.curves()] == ["Place"]


def test_curves_share_a_group_of_the_same_name(actions):
    motion = actions.new_motion("Motion", make_object())
    for index in range(3):
        motion.add("location", index, "Place")
    assert {curve.group.name for curve in motion.curves()} == {"Place"}


def test_curves_that_blender_keyed_are_found_and_removed(scene, actions):
    thing = make_object()
    thing.keyframe_insert("location", frame=1)
    motion = actions.motion_of(thing)
    assert sorted(curve.array_index for curve in motion.curves()) == [0, 1, 2]
    motion.remove(next(curve for curve in motion.curves() if curve.array_index == 1))
    assert sorted(curve.array_index for curve in motion.curves()) == [0, 2]


def test_copy_is_independent(actions):
    thing = make_object()
    thing.keyframe_insert("location", frame=1)
    motion = actions.motion_of(thing)
    copy = motion.copy("Copy")
    copy.remove(copy.curves()[0])
    assert (len(motion.curves()), len(copy.curves())) == (3, 2)
    assert copy.action.name == "Copy"


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="slots came with Blender 4.4")
def test_slots_of_others_stay_out_of_a_copy(actions):
    """Two objects share an action, each with a slot: each has its own curves, and a copy takes only its own."""
    first, second = make_object("First"), make_object("Second")
    first.keyframe_insert("location", frame=1)
    second.animation_data_create().action = first.animation_data.action
    second.animation_data.action_slot = first.animation_data.action.slots.new(id_type="OBJECT", name="Second")
    second.keyframe_insert("scale", frame=1)
    one, other = actions.motion_of(first), actions.motion_of(second)
    assert one.action == other.action and one.slot != other.slot
    assert {curve.data_path for curve in one.curves()} == {"location"}
    assert {curve.data_path for curve in other.curves()} == {"scale"}
    copy = other.copy("Copy")
    assert len(copy.action.slots) == 1
    assert {curve.data_path for curve in copy.curves()} == {"scale"}
    copy.assign(second)
    assert actions.motion_of(second) == copy


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="slots came with Blender 4.4")
def test_action_without_a_slot_is_assigned_back_without_one(actions):
    thing = make_object()
    thing.keyframe_insert("location", frame=1)
    thing.animation_data.action_slot = None
    motion = actions.motion_of(thing)
    assert motion.slot == "" and list(motion.curves()) == []
    actions.clear(thing)
    motion.assign(thing)
    assert thing.animation_data.action == motion.action and thing.animation_data.action_slot is None


def test_muted_means_that_blender_does_not_play_it(scene, actions):
    """Whatever switches a curve or its group has, is_muted says what playing shows."""
    for mute_group in (False, True):
        for mute_curve in (False, True):
            thing = make_object()
            thing.keyframe_insert("location", index=0, frame=1, group="Place")
            thing.location[0] = 5.0
            thing.keyframe_insert("location", index=0, frame=11, group="Place")
            curve = actions.motion_of(thing).curves()[0]
            curve.mute, curve.group.mute = mute_curve, mute_group
            thing.animation_data.action.update_tag()
            scene.frame_set(1)
            thing.location[0] = 77.0
            scene.frame_set(11)
            assert actions.is_muted(curve) == (thing.location[0] == 77.0), (mute_group, mute_curve)
