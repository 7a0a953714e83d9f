# SPDX-License-Identifier: GPL-3.0-or-later
"""Grab and Release, and what every kind of grip holds: measured on what Blender shows."""

from importlib import import_module
from math import inf, pi

import bpy
import numpy as np
import pytest
from figures import GYMNAST, curves_of, grab, make_bar, make_box, make_figure, release, select, select_bones, shown
from mathutils import Euler, Matrix, Vector

CLOSE = 2e-6


@pytest.fixture
def rig_of(trapeze):
    """The modules of the extension's rig/ by name."""
    return lambda name: import_module(f"{trapeze.__name__}.rig.{name}")


def make_grip(scene, first, second=None, place=(0, 0, 0), turn=(0, 0, 0), joint="BALL", keys=(), **more):
    """A grip Empty between two objects or (object, bone) pairs, parented to the first, made without Grab."""
    grip = bpy.data.objects.new("Grip", None)
    scene.collection.objects.link(grip)
    settings, grip.trapeze.role = grip.trapeze.grip, "GRIP"
    first, second = (end if isinstance(end, tuple) else (end, "") for end in (first, second))
    settings.first_object, settings.first_bone = first
    settings.second_object, settings.second_bone = second
    settings.use_world, settings.joint = second[0] is None, joint
    for name, value in more.items():
        setattr(settings, name, value)
    grip.parent = first[0]
    if first[1]:
        grip.parent_type, grip.parent_bone = "BONE", first[1]
    bpy.context.view_layer.update()
    grip.matrix_world = Matrix.LocRotScale(place, Euler(turn).to_quaternion(), None)
    for frame, active in keys:
        settings.active = active
        grip.keyframe_insert("trapeze.grip.active", frame=frame)
    bpy.context.view_layer.update()
    return grip


# -- buttons ---------------------------------------------------------------------------------------------------------


def test_grab_puts_arrows_around_the_bar(scene, rig_of):
    """A long object: a cylinder about its middle line, where the hand is, held from this frame on."""
    rig, bar = make_figure(), make_bar()
    (left,) = grab(scene, rig, ["hand.L"], bar, frame=7)
    settings = left.trapeze.grip
    assert (left.parent, left.parent_type, left.parent_bone) == (rig, "BONE", "hand.L")
    assert settings.joint == "CYLINDER" and settings.second_object == bar and not settings.use_world
    world = np.array(left.matrix_world)
    assert np.abs(np.abs(world[:3, 2]) - [1, 0, 0]).max() < 1e-6
    assert np.abs(world[:3, 3] - [0.22, 0.005, 2.03]).max() < 1e-6
    assert left.empty_display_type == "ARROWS"
    (curve,) = curves_of(left.animation_data.action)
    assert [tuple(point.co) for point in curve.keyframe_points] == [(6, 0), (7, 1)]
    assert {point.interpolation for point in curve.keyframe_points} == {"CONSTANT"}
    assert rig_of("intervals").keyed_intervals(scene, left) == [(7.0, inf)]


def test_release_and_grab_again_use_the_same_grip(scene, rig_of):
    rig, bar = make_figure(), make_bar()
    (left,) = grab(scene, rig, ["hand.L"], bar, frame=1)
    release(scene, rig, ["hand.L"], 20)
    assert grab(scene, rig, ["hand.L"], bar, frame=30) == []
    assert rig_of("intervals").keyed_intervals(scene, left) == [(1.0, 20.0), (30.0, inf)]
    assert rig_of("overview").when_text(scene, left) == "1 to 20, from 30"


def test_grab_and_release_between_frames_and_under_remapping(scene, rig_of):
    """Where the key is in the action is Blender's business; the frame at which it acts is what counts."""
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 50
    rig, bar = make_figure(), make_bar()
    select_bones(rig, ["hand.L"], bar)
    scene.frame_set(3, subframe=0.25)
    bpy.ops.trapeze.grab()
    grip = bpy.data.objects["hand.L Grip"]
    assert rig_of("intervals").keyed_intervals(scene, grip) == [(3.25, inf)]
    for frame, active in ((3, False), (4, True)):
        scene.frame_set(frame)
        assert grip.trapeze.grip.active == active


def test_grab_the_world_both_hands(scene):
    rig = make_figure()
    grips = grab(scene, rig, ["hand.L", "hand.R"])
    assert [grip.trapeze.grip.joint for grip in grips] == ["BALL", "BALL"]
    assert all(grip.trapeze.grip.use_world and grip.trapeze.grip.second_object is None for grip in grips)
    middle = (np.array(GYMNAST["hand.L"][1]) + GYMNAST["hand.L"][2]) / 2
    assert np.abs(np.array(grips[0].matrix_world.translation) - middle).max() < 1e-6


def test_grab_the_nearest_of_several_objects(scene):
    rig = make_figure()
    left, right = make_box((0.5, 0, 2.0), name="Left"), make_box((-0.5, 0, 2.0), name="Right")
    grips = grab(scene, rig, ["hand.L", "hand.R"], left, right)
    assert [grip.trapeze.grip.second_object for grip in grips] == [left, right]


def test_grab_another_figure(scene):
    """Both in Pose Mode: the active figure's bones take hold of the other's."""
    one, two = make_figure(), make_figure(name="Catcher")
    two.location.x = 0.5
    select(one, two)
    bpy.ops.object.mode_set(mode="POSE")
    for rig, name in ((one, "hand.L"), (two, "hand.R")):
        for bone in rig.pose.bones:
            (bone if bpy.app.version >= (5, 0, 0) else bone.bone).select = bone.name == name
    two.data.bones.active = two.data.bones["hand.R"]
    assert bpy.ops.trapeze.grab() == {"FINISHED"}
    settings = bpy.data.objects["hand.R Grip"].trapeze.grip
    assert (settings.first_object, settings.second_object, settings.second_bone) == (two, one, "hand.L")


def test_grab_in_object_mode(scene):
    """The selected objects hold the active one; one alone holds its place."""
    one, two = make_box((0, 0, 1), name="One"), make_box((0, 0, 2), name="Two")
    select(one, two)
    bpy.ops.trapeze.grab()
    settings = bpy.data.objects["One Grip"].trapeze.grip
    assert (settings.first_object, settings.second_object) == (one, two)
    select(two)
    bpy.ops.trapeze.grab()
    assert bpy.data.objects["Two Grip"].trapeze.grip.use_world
    scene.frame_set(10)
    select(bpy.data.objects["Two Grip"])
    bpy.ops.trapeze.release()
    assert not bpy.data.objects["Two Grip"].trapeze.grip.active


def test_grab_with_a_control_means_the_bone_that_it_is_for(scene):
    bones = {**GYMNAST, "hand_ik.L": (None, (0.23, 0, 1.98), (0.23, 0.01, 2.08))}
    rig = make_figure(bones)
    rig.pose.bones["hand_ik.L"].trapeze_part = "IGNORED"
    (grip,) = grab(scene, rig, ["hand_ik.L"])
    assert grip.trapeze.grip.first_bone == "hand.L"


@pytest.mark.parametrize(("prepare", "words"), [
    (lambda rig, bar: select(bar), "Neither Bar nor its place in the world can move"),
    (lambda rig, bar: select(rig), "Choose a bone of Gymnast"),
])
def test_grab_says_what_is_wrong(scene, prepare, words):
    rig, bar = make_figure(), make_bar()
    rig.data.bones.active = None
    prepare(rig, bar)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.trapeze.grab()
    assert not [owner for owner in scene.objects if owner.trapeze.role == "GRIP"]


def test_release_of_nothing_and_grab_twice(scene):
    rig, bar = make_figure(), make_bar()
    select_bones(rig, ["hand.L"], bar)
    with pytest.raises(RuntimeError, match="holds anything at frame 1"):
        bpy.ops.trapeze.release()
    bpy.ops.trapeze.grab()
    with pytest.raises(RuntimeError, match=r"hand\.L Grip holds already at frame 1"):
        bpy.ops.trapeze.grab()


# -- joints ----------------------------------------------------------------------------------------------------------

# which of turning about and sliding along x, y, z each joint leaves free
FREE = {"FIXED": "", "HINGE": "c", "BALL": "abc", "SLIDER": "z", "CYLINDER": "cz", "PLANE": "cxy"}


@pytest.mark.parametrize("hold", ["world", "bone"])
@pytest.mark.parametrize("joint", FREE)
def test_joint_types(scene, joint, hold):
    """A tumbling body on a grip: what the joint takes away stays zero in the joint's axes, what it leaves moves."""
    scene.frame_end = 24
    box = make_box((0.3, 0.2, 1), size=(0.5, 0.3, 0.1))
    grip = make_grip(scene, box, None, (0.1, 0.15, 1.02), (0.7, 0.4, 0.3), joint)
    if hold == "bone":
        rig = make_figure()
        make_grip(scene, (rig, "hips"), joint="FIXED")
        grip.trapeze.grip.use_world = False
        grip.trapeze.grip.second_object, grip.trapeze.grip.second_bone = rig, "hips"
    for frame, angle in ((-5, -0.5), (7, 0.7)):  # spinning at the first frame
        box.rotation_euler = (angle, 0.5 * angle, angle)
        box.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    start = np.array(grip.matrix_world, dtype=float)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    poses = np.linalg.inv(start) @ shown(scene, grip, range(1, 25))
    turn, slide = poses[:, :3, :3], poses[:, :3, 3]
    # about a fixed axis the other columns of R - I vanish
    vector = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], -1)
    moved = {
        **{letter: np.abs(vector[:, axis]).max() for axis, letter in enumerate("abc")},
        **{letter: np.abs(slide[:, axis]).max() for axis, letter in enumerate("xyz")}}
    assert {letter for letter, size in moved.items() if size > CLOSE} == set(FREE[joint]), moved


def test_held_at_an_exact_time_between_frames(scene):
    """A falling body that takes hold at frame 7.3 stops where it is then, and falls again from 13.7 on."""
    scene.frame_end = 24
    box = make_box((0, 0, 1))
    make_grip(scene, box, None, (0, 0, 1), joint="FIXED", keys=((1, False), (7.3, True), (13.7, False)))
    bpy.ops.trapeze.simulate()
    height = shown(scene, box, range(1, 25))[:, 2, 3]
    stop = 1.0 - 0.5 * 9.81 * (6.3 / 24) ** 2
    assert np.abs(height[7:13] - stop).max() < CLOSE
    again = (np.arange(14, 25) - 13.7) / 24
    assert np.abs(height[13:] - (stop - 0.5 * 9.81 * again**2)).max() < CLOSE


def test_moving_a_key_moves_the_event(scene):
    scene.frame_end = 24
    box = make_box((0, 0, 1))
    grip = make_grip(scene, box, None, (0, 0, 1), joint="FIXED", keys=((1, True), (10, False)))
    curve = next(iter(curves_of(grip.animation_data.action)))
    curve.keyframe_points[1].co.x = 16.0
    bpy.ops.trapeze.simulate()
    height = shown(scene, box, (16, 24))[:, 2, 3]
    assert np.abs(height - [1.0, 1.0 - 0.5 * 9.81 * (8 / 24) ** 2]).max() < CLOSE


def test_animated_prop_takes_along_what_holds_it(scene):
    """A body fixed to a prop that moves and turns as keyed moves as one with it; parents of the prop count."""
    scene.frame_end = 30
    prop = make_box((0, 0, 2), name="Lift", motion="ANIMATED")
    child = make_box((0, 0, 2.2), name="Handle", motion="NONE")
    child.parent = prop
    child.matrix_parent_inverse = prop.matrix_world.inverted()
    for frame, height, angle in ((1, 2, 0.0), (30, 3, 1.0)):
        prop.location.z, prop.rotation_euler.z = height, angle
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    box = make_box((0.4, 0, 2))
    make_grip(scene, box, child, (0.2, 0, 2), joint="FIXED")
    bpy.ops.trapeze.simulate()
    frames = range(1, 31)
    together = np.linalg.inv(shown(scene, prop, frames)) @ shown(scene, box, frames)
    assert np.abs(together - together[0]).max() < CLOSE


def test_bone_of_a_stranger_is_held_as_it_moves(scene):
    """An armature that is no figure moves as keyed."""
    scene.frame_end = 20
    crane = make_figure({"boom": (None, (0, 0, 0), (0, 0, 2))}, "Crane")
    crane.trapeze.role = "NONE"
    bone = crane.pose.bones["boom"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, 0.8)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    box = make_box((0, 0, 2.2))
    make_grip(scene, box, (crane, "boom"), (0, 0, 2.1), joint="FIXED")
    bpy.ops.trapeze.simulate()
    frames = range(1, 21)
    together = np.linalg.inv(shown(scene, crane, frames, ["boom"])[:, 0]) @ shown(scene, box, frames)
    assert np.abs(together - together[0]).max() < CLOSE


def test_break_force(scene):
    """A body hangs on a grip; it falls if the grip cannot carry its weight, and stays if it can."""
    scene.frame_end = 13
    box = make_box((0, 0, 1))
    box.trapeze.prop.use_volume, box.trapeze.prop.mass = False, 10.0
    grip = make_grip(scene, box, None, (0, 0, 1.05), joint="FIXED", break_force=99.0)
    bpy.ops.trapeze.simulate()
    assert np.abs(shown(scene, box, [13])[0, 2, 3] - 1.0) < CLOSE
    grip.trapeze.grip.break_force = 97.0
    bpy.ops.trapeze.simulate()
    assert np.abs(shown(scene, box, [13])[0, 2, 3] - (1.0 - 0.5 * 9.81 * 0.5**2)) < 1e-3


@pytest.mark.parametrize("joint", ["SLIDER", "CYLINDER"])
def test_travel(scene, joint):
    """A body slides down along the grip and comes off at the end of the way: it then turns as it likes."""
    scene.frame_end = 24
    box = make_box((0, 0, 1))
    make_grip(scene, box, None, (0, 0, 1), (0, 0.5, 0), joint, use_travel=True, travel_lower=-0.5, travel_upper=1.0)
    bpy.ops.trapeze.simulate()
    place = shown(scene, box, range(1, 25))[:, :3, 3] - [0, 0, 1]
    down = -np.array([np.sin(0.5), 0, np.cos(0.5)])
    along = np.minimum(0.5 * 9.81 * np.cos(0.5) * (np.arange(24) / 24) ** 2, 0.5)
    held = along < 0.49
    assert np.abs(place[held] - np.outer(along[held], down)).max() < CLOSE
    assert np.abs(np.diff(place[~held], 2, axis=0) * 24**2 - [0, 0, -9.81])[2:].max() < 0.01  # free fall


def test_soft_grip_hangs_by_its_weight(scene):
    """A ball on a spring comes to rest m g / k lower."""
    scene.frame_end = 120
    box = make_box((0, 0, 1))
    box.trapeze.prop.use_volume, box.trapeze.prop.mass = False, 10.0
    make_grip(scene, box, None, (0, 0, 1), joint="BALL", hold="SOFT", stiffness=1000.0, damping=150.0)
    bpy.ops.trapeze.simulate()
    assert abs(shown(scene, box, [120])[0, 2, 3] - (1.0 - 98.1 / 1000.0)) < 1e-4


def test_closing_over_some_frames(scene):
    """The hand was keyed on the handle at the catch; the simulated one is pulled there, and stays there."""
    scene.frame_end = 40
    box, target = make_box((0, 0, 1)), make_box((0.0, 0, 0.7), name="Hook", motion="STATIC")
    for frame, height in ((1, 1.0), (10, 0.8)):
        box.location.z = height
        box.keyframe_insert("location", frame=frame)
    scene.trapeze.use_source_velocity = False
    scene.frame_set(1)
    make_grip(scene, box, target, (0, 0, 1), joint="FIXED", close_frames=6.0, keys=((1, False), (10, True)))
    scene.frame_set(1)
    bpy.ops.trapeze.simulate()
    height = shown(scene, box, range(1, 41))[:, 2, 3]
    assert abs(height[9] - (1.0 - 0.5 * 9.81 * (9 / 24) ** 2)) < CLOSE
    assert np.abs(height[15:] - 0.8).max() < CLOSE


def test_catch_in_flight_keeps_momentum(scene, rig_of):
    """Two figures in free fall; one takes the other's hand at frame 8: only internal impulses."""
    scene.frame_end = 20
    one, two = make_figure(), make_figure(name="Catcher")
    two.location.x = 0.6
    for rig, speed in ((one, 0.1), (two, -0.05)):
        for frame in (-5, 30):
            rig.location.y = speed * frame
            rig.keyframe_insert("location", index=1, frame=frame)
    bpy.context.view_layer.update()
    grip = make_grip(
        scene, (one, "hand.L"), (two, "hand.R"), (0.3, 0, 2.0), keys=((1, False), (8, True), (15, False)))
    scene.frame_set(1)
    bpy.ops.trapeze.simulate()
    run = rig_of("stored").recall(scene).run
    assert [type(one.event).__name__ for one in run.events] == ["Connect", "Release"]
    momentum = run.momentum
    fall = np.outer(run.times - run.times[0], [0, 0, -9.81]) * sum(
        bone.trapeze_mass for rig in (one, two) for bone in rig.pose.bones if bone.trapeze_part != "IGNORED")
    assert np.abs(momentum[:, 3:] - fall - momentum[0, 3:]).max() < 1e-6 * np.abs(momentum[:, 3:]).max()
    frames = range(9, 16)
    apart = shown(scene, grip, frames)[:, :3, 3] - two_point(scene, grip, two, frames)
    assert np.linalg.norm(apart, axis=1).max() < CLOSE
    later = shown(scene, grip, [20])[:, :3, 3] - two_point(scene, grip, two, [20], frames[0])
    assert np.linalg.norm(later) > 1e-3


def two_point(scene, grip, rig, frames, start=8):
    """The point of the other hand that the grip was at when it took hold."""
    hand = shown(scene, rig, [start], ["hand.R"])[0, 0]
    point = np.linalg.inv(hand) @ shown(scene, grip, [start])[0]
    return (shown(scene, rig, frames, ["hand.R"])[:, 0] @ point)[:, :3, 3]


def test_rigid_pendulum_against_its_period(scene):
    """A thin rod hung at its end, small angle: 2 pi sqrt(2 L / 3 g)."""
    scene.frame_end = 73
    rod = make_box((0, 0, 1), size=(0.001, 0.001, 1.0))
    rod.rotation_euler.x = 0.05
    bpy.context.view_layer.update()
    end = np.array(rod.matrix_world @ Vector((0, 0, 0.5)))
    make_grip(scene, rod, None, end, (0, pi / 2, 0), "HINGE")
    bpy.ops.trapeze.simulate()
    tilt = np.arcsin(shown(scene, rod, range(1, 74))[:, 2, 1])
    t = np.arange(73) / 24
    omega = np.sqrt(1.5 * 9.81)
    assert np.abs(tilt - 0.05 * np.cos(omega * t)).max() < 0.05 * 0.01  # the amplitude lengthens the period by 0.016 %
