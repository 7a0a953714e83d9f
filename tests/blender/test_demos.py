# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scenes: complete when added, and an act worth watching when simulated."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from mathutils import Vector

DEMOS = ["HIGH_BAR", "SWING", "ARTISTS"]


@pytest.fixture
def demos(trapeze):
    return import_module(trapeze.__name__ + ".rig.demos")


def by_role(scene, role):
    return sorted((owner for owner in scene.objects if owner.trapeze.role == role), key=lambda owner: owner.name)


def middle(owner, name):
    bone = owner.pose.bones[name]
    return owner.matrix_world @ ((bone.head + bone.tail) / 2)


def off_bar(place, bar):
    """Distance from the middle line of a bar along X."""
    return Vector((0, place.y - bar.y, place.z - bar.z)).length


@pytest.mark.parametrize("demo", DEMOS)
def test_scene_is_complete(scene, demo):
    assert bpy.ops.trapeze.add_demo(demo=demo) == {"FINISHED"}
    figures, grips = by_role(scene, "FIGURE"), by_role(scene, "GRIP")
    assert len(figures) == (2 if demo == "ARTISTS" else 1)
    for figure in figures:
        links = [bone for bone in figure.pose.bones if bone.trapeze_part == "LINK"]
        assert len(links) == 17
        assert sum(bone.trapeze_mass for bone in links) == pytest.approx(figure.trapeze.figure.mass, rel=1e-5)
        hinges = {bone.name[:-2] for bone in links if bone.trapeze_joint == "HINGE"}
        assert hinges == {"forearm", "shin"}
        body = next(child for child in figure.children if child.type == "MESH")
        assert len(body.data.vertices) > 1000 and len(body.data.materials) == 2
    assert all(grip.trapeze.grip.first_object for grip in grips)
    assert all(grip.trapeze.grip.second_object or grip.trapeze.grip.use_world for grip in grips)
    assert scene.camera and {"SUN", "AREA"} <= {light.data.type for light in scene.objects if light.type == "LIGHT"}
    assert (scene.render.fps, scene.frame_start) == (24, 1)
    assert bpy.context.active_object == (bpy.data.objects["Flyer"] if demo == "ARTISTS" else figures[0])


@pytest.mark.parametrize("demo", DEMOS)
def test_everything_added_is_in_one_collection(scene, demo):
    before = set(bpy.data.objects)
    bpy.ops.trapeze.add_demo(demo=demo)
    (collection,) = scene.collection.children
    assert set(collection.objects) == set(bpy.data.objects) - before


def test_demos_can_be_added_to_a_scene_with_things_in_it(scene):
    bpy.ops.mesh.primitive_cube_add(location=(5, 5, 5))
    bpy.ops.object.mode_set(mode="EDIT")
    for demo in DEMOS:
        bpy.ops.trapeze.add_demo(demo=demo)
    assert bpy.data.objects["Cube"].location[:] == (5, 5, 5)
    assert len(by_role(scene, "FIGURE")) == 4


def test_other_units_are_refused(scene):
    scene.unit_settings.scale_length = 0.01
    before = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match="unit scale"):
        bpy.ops.trapeze.add_demo(demo="SWING")
    assert len(bpy.data.objects) == before and not scene.collection.children


def test_undo_takes_a_demo_away(scene):
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.trapeze.add_demo(demo="ARTISTS")
    bpy.ops.ed.undo_push(message="Demo")
    bpy.ops.ed.undo()
    assert not bpy.data.objects
    bpy.ops.ed.redo()
    assert len(by_role(bpy.context.scene, "FIGURE")) == 2


def test_menu(scene):
    assert bpy.types.TRAPEZE_MT_add.bl_label == "Trapeze"


def test_high_bar(scene, demos):
    """Hands stay on the bar while they hold, then the gymnast is off it, in the air to the end."""
    numbers = demos.HIGH_BAR
    bpy.ops.trapeze.add_demo(demo="HIGH_BAR")
    bar, gymnast = Vector((0, 0, numbers["height"])), bpy.data.objects["Gymnast"]
    assert {grip.trapeze.grip.joint for grip in by_role(scene, "GRIP")} == {"CYLINDER"}
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    for frame in range(1, numbers["end"] + 1):
        scene.frame_set(frame)
        for hand, end in (("hand.R", numbers["right_off"]), ("hand.L", numbers["left_off"])):
            distance = off_bar(bpy.data.objects[f"{hand} Grip"].matrix_world.translation, bar)
            assert (distance < 1e-6) == (frame <= end), (frame, hand, distance)
        lowest = min((gymnast.matrix_world @ bone.tail).z for bone in gymnast.pose.bones)
        assert lowest > 0.2  # the mat
    assert (middle(gymnast, "hips") - bar).length > 1.0


def test_swing(scene, demos):
    """Seat and rods are one until it breaks; both hands hold on; both thighs end up off the seat."""
    numbers = demos.SWING
    bpy.ops.trapeze.add_demo(demo="SWING")
    seat, rod, rider = (bpy.data.objects[name] for name in ("Seat", "Rod.L", "Rider"))
    start = seat.matrix_world.inverted() @ rod.matrix_world
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    apart = {}
    for frame in range(1, numbers["end"] + 1):
        scene.frame_set(frame)
        apart[frame] = np.abs(np.array(seat.matrix_world.inverted() @ rod.matrix_world) - np.array(start)).max()
        for side in (".L", ".R"):
            on_rod = bpy.data.objects[f"Rod{side}"].matrix_world.inverted() @ middle(rider, "hand" + side)
            assert on_rod.xy.length < 1e-2  # the hand is around the rod
    assert max(apart[frame] for frame in range(1, numbers["breaks"] + 1)) < 1e-5
    assert apart[numbers["end"]] > 0.1
    for side in (".L", ".R"):
        on_seat = seat.matrix_world.inverted() @ middle(rider, "thigh" + side)
        assert abs(on_seat.x) > numbers["half"] or on_seat.yz.length > 0.15
