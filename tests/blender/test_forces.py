# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes and force fields in Blender, beside closed forms: momentum is mass times velocity."""

from importlib import import_module
from math import pi, radians

import bpy
import numpy as np
import pytest
from figures import centre_of_mass, curves_of, make_box, make_figure, select, select_bones, shown
from mathutils import Matrix

RATE = 24


@pytest.fixture
def floating(scene):
    """A scene without gravity, ten frames long."""
    scene.use_gravity = False
    scene.render.fps = RATE
    scene.frame_start, scene.frame_end = 1, 13
    return scene


def add_push(rig, bone, frame=1, strength=30.0):
    select_bones(rig, [bone])
    bpy.context.scene.frame_set(frame)
    before = set(bpy.data.objects)
    assert bpy.ops.trapeze.add_push(strength=strength) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    (push,) = set(bpy.data.objects) - before
    return push


def simulate():
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}


def path(scene, rig):
    return centre_of_mass(scene, rig, range(scene.frame_start, scene.frame_end + 1))


def add_field(kind, strength=0.0, place=(0, 0, 0), turn=(0, 0, 0), **settings):
    bpy.ops.object.effector_add(type=kind, location=place, rotation=turn)
    owner = bpy.context.object
    owner.field.strength, owner.field.flow, owner.field.quadratic_drag = strength, 0.0, 0.0
    for name, value in settings.items():
        setattr(owner.field, name, value)
    return owner


def test_add_push_makes_an_arrow_at_the_bone(scene):
    rig = make_figure()
    push = add_push(rig, "chest", frame=7)
    settings = push.trapeze.push
    assert (push.type, push.empty_display_type, push.trapeze.role) == ("EMPTY", "SINGLE_ARROW", "PUSH")
    assert (settings.target, settings.bone, settings.frame, settings.strength) == (rig, "chest", 7.0, 30.0)
    bone = rig.pose.bones["chest"]
    assert (push.matrix_world.translation - (bone.head + bone.tail) / 2).length < 1e-5
    assert push.matrix_world.to_3x3().col[2].normalized().y == pytest.approx(1.0, abs=1e-6)
    other = add_push(rig, "head", frame=9)
    assert scene.objects[scene.trapeze.push_index] == other != push


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_pushed_body_has_the_momentum_of_the_push(floating, scale):
    """Two pushes on a limp body in free flight: its centre moves on by p/m each, whatever the limbs do."""
    floating.unit_settings.scale_length = scale
    rig = make_figure()
    if scale != 1.0:
        rig.scale = (1.0 / scale,) * 3
        bpy.context.view_layer.update()
        bpy.ops.trapeze.set_up(mass=70.0)
    mass = rig.trapeze.figure.mass
    add_push(rig, "chest", frame=3, strength=40.0)
    up = add_push(rig, "thigh.L", frame=6, strength=25.0)
    up.matrix_world = Matrix.Translation(up.matrix_world.translation)
    bpy.context.view_layer.update()
    simulate()
    moved = (path(floating, rig) - path(floating, rig)[0]) * scale
    for frame in range(1, 14):
        expected = [0.0, 40.0 / mass * max(frame - 3, 0) / RATE, 25.0 / mass * max(frame - 6, 0) / RATE]
        assert moved[frame - 1] == pytest.approx(expected, abs=2e-5)  # single precision keys of some metres


def test_a_push_off_the_middle_turns_a_box(floating):
    """Spin is r x p / I, about the box's own axis; the Empty's place is the point that is struck."""
    box = make_box((1, 2, 3), size=(0.6, 0.2, 0.2))
    select(box)
    floating.frame_set(1)
    assert bpy.ops.trapeze.add_push(strength=2.0) == {"FINISHED"}
    push = next(owner for owner in bpy.data.objects if owner.trapeze.role == "PUSH")
    push.matrix_world = Matrix.Translation((0.3, 0, 0)) @ push.matrix_world
    bpy.context.view_layer.update()
    mass = 700.0 * 0.6 * 0.2 * 0.2
    spin = 0.3 * 2.0 / (mass * (0.6**2 + 0.2**2) / 12.0)
    simulate()
    poses = shown(floating, box, range(1, 4))
    turned = np.arctan2(poses[:, 1, 0], poses[:, 0, 0])
    assert np.diff(turned) == pytest.approx(spin / RATE, rel=1e-4)
    assert poses[2, :3, 3] - poses[0, :3, 3] == pytest.approx([0.0, 2.0 / mass * 2 / RATE, 0.0], abs=1e-5)


def message(*words):
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.trapeze.simulate()
    assert all(word in str(caught.value) for word in words), caught.value


def test_wrong_pushes_are_named_and_change_nothing(floating):
    rig = make_figure()
    push = add_push(rig, "chest", frame=3)
    settings = push.trapeze.push
    settings.bone = "tail"
    message(push.name, "tail", rig.name)
    settings.bone = "head"
    rig.pose.bones["head"].trapeze_part = "IGNORED"
    message(push.name, "head", "takes no part")
    settings.bone, settings.strength = "chest", 0.0
    message(push.name, "strength")
    settings.strength, settings.target = 1.0, None
    message(push.name, "nothing")
    bpy.ops.mesh.primitive_cube_add()
    settings.target = bpy.context.object
    message(push.name, "Cube", "not simulated")
    assert rig.animation_data is None


def read_again(trapeze):
    return import_module(trapeze.__name__ + ".rig.read").read_scene(bpy.context)


def test_a_push_outside_of_the_frames_is_warned_of(floating, trapeze):
    rig = make_figure()
    push = add_push(rig, "chest", frame=3)
    push.trapeze.push.frame = 99
    read = read_again(trapeze)
    assert not read.events and any(push.name in warning and "99" in warning for warning in read.warnings)
    push.hide_viewport = True
    assert not any(push.name in warning for warning in read_again(trapeze).warnings)


def test_add_push_needs_something_simulated(scene):
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError, match="not simulated"):
        bpy.ops.trapeze.add_push()
    assert len(bpy.data.objects) == 1


# -- force fields ------------------------------------------------------------------------------------------------------


def test_wind_pushes_each_kilogram_with_its_strength(floating):
    """The centre of mass of a limp figure moves by a t^2/2; half the weight of the field is half of it."""
    rig = make_figure()
    add_field("WIND", 4.0, turn=(0, pi / 2, 0))
    simulate()
    t = np.arange(13) / RATE
    moved = path(floating, rig) - path(floating, rig)[0]
    assert moved[:, 0] == pytest.approx(0.5 * 4.0 * t**2, abs=2e-5)
    assert np.abs(moved[:, 1:]).max() < 2e-5
    rig.trapeze.figure.field_weight = 0.5
    simulate()
    moved = path(floating, rig) - path(floating, rig)[0]
    assert moved[:, 0] == pytest.approx(0.25 * 4.0 * t**2, abs=2e-5)


def test_wind_blows_light_limbs_ahead_of_the_trunk(floating):
    rig = make_figure()
    add_field("WIND", 8.0, turn=(radians(-90), 0, 0))
    simulate()
    last = shown(floating, rig, [13], ["hand.L", "chest"])[0, :, 1, 3]
    first = shown(floating, rig, [1], ["hand.L", "chest"])[0, :, 1, 3]
    assert last[0] - first[0] > last[1] - first[1] + 0.01


def test_keyed_strength_is_read_at_every_frame(floating):
    """Strength that grows evenly with time: a t^3/6."""
    box = make_box((0, 0, 0))
    wind = add_field("WIND", 0.0)
    for frame, strength in ((1, 0.0), (13, 12.0)):
        wind.field.strength = strength
        wind.keyframe_insert("field.strength", frame=frame)
    for curve in curves_of(wind.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    simulate()
    t = np.arange(13) / RATE
    assert shown(floating, box, range(1, 14))[:, 2, 3] == pytest.approx(RATE * t**3 / 6.0, abs=1e-4)


def test_force_falls_off_as_blender_says(floating, trapeze):
    """Strength times (1 + d)^-power away from the point, nothing beyond the greatest distance; against a drag of its
    own (flow) and units of a centimetre.
    """
    floating.unit_settings.scale_length = 0.01
    boxes = [make_box((x, 0, 0), size=(10, 10, 10)) for x in (30.0, 300.0)]
    add_field("FORCE", 50.0, falloff_power=1.0, use_max_distance=True, distance_max=100.0, flow=2.0)
    read = read_again(trapeze)
    masses = [link.inertia.mass for link in read.chain.links]
    places = np.array([[0.3, 0, 0], [3.0, 0, 0]])
    push, drag, flow = read.winds(0.1, places, np.zeros((2, 3)))
    assert push[0] == pytest.approx([masses[0] * 0.5 / 31.0, 0, 0], rel=1e-6) and not push[1].any()
    assert drag == pytest.approx([masses[0] * 2.0 / 31.0, 0.0], rel=1e-6)
    assert len(boxes) == len(masses)


@pytest.mark.parametrize("kind, settings", [
    ("FORCE", {"falloff_power": 1.0}),
    ("FORCE", {"falloff_power": 2.0, "use_min_distance": True, "distance_min": 1.0, "shape": "LINE"}),
    ("WIND", {}),
    ("WIND", {"falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 1.0}),
    ("WIND", {"falloff_type": "CONE", "radial_falloff": 1.0, "z_direction": "POSITIVE"}),
    ("TURBULENCE", {"size": 0.7, "use_global_coords": True}),
    ("TURBULENCE", {"size": 0.7}),
])  # fmt: skip
def test_fields_push_as_they_push_rigid_bodies_in_blender(floating, trapeze, kind, settings):
    """Direction and falloff beside the first step of Blender's own rigid body of one kilogram, in single precision.
    Such bodies feel the strength divided by the frame rate, whatever the field; figures feel all of it.
    """
    place = (1.3, 0.4, 2.0)
    add_field(kind, 500.0, place=(0.1, 0.2, 0.3), turn=(0.3, 0.2, 0.1), **settings)
    box = make_box(place, size=(0.1, 0.1, 0.1))
    box.trapeze.prop.use_volume, box.trapeze.prop.mass = False, 1.0
    ours = read_again(trapeze).winds(0.0, np.array([place]), np.zeros((1, 3)))[0][0]
    box.trapeze.role = "NONE"
    bpy.ops.rigidbody.object_add()
    box.rigid_body.linear_damping = 0.0
    floating.rigidbody_world.substeps_per_frame = 1
    first, second = shown(floating, box, [1, 2])[:, :3, 3]
    theirs = RATE * (second - first) * RATE**2
    assert theirs == pytest.approx(ours, abs=1e-3 * np.linalg.norm(ours))


def test_drag_slows_down(floating):
    """A box that was pushed: its velocity falls by exp(-c t)."""
    box = make_box((0, 0, 0))
    select(box)
    floating.frame_set(1)
    bpy.ops.trapeze.add_push(strength=8.4)
    add_field("DRAG", linear_drag=3.0)
    simulate()
    t = np.arange(13) / RATE
    place = shown(floating, box, range(1, 14))[:, 1, 3]
    assert place == pytest.approx(8.4 / (700 * 0.006) * (1.0 - np.exp(-3.0 * t)) / 3.0, abs=1e-4)


def test_turbulence_is_smooth_and_repeats(floating, trapeze):
    make_box((0, 0, 0))
    add_field("TURBULENCE", 5.0, size=1.0)
    field = read_again(trapeze).winds
    along = np.array([field(0.0, np.array([[x, 0.3, 0.2]]), np.zeros((1, 3)))[0][0] for x in np.linspace(0, 1, 101)])
    mass = 700 * 0.006
    assert np.abs(along).max() <= 5.0 * mass and np.ptp(along, axis=0).max() > 0.5 * mass
    assert np.abs(np.diff(along, axis=0)).max() < 0.1 * np.ptp(along, axis=0).max()
    assert (field(0.0, np.ones((1, 3)), np.zeros((1, 3)))[0] == read_again(trapeze).winds(
        0.0, np.ones((1, 3)), np.zeros((1, 3)))[0]).all()


def add_surface_wind():
    """A mesh that blows from its faces."""
    bpy.ops.mesh.primitive_plane_add()
    owner = bpy.context.object
    select(owner)
    bpy.ops.object.forcefield_toggle()
    owner.field.type, owner.field.shape = "WIND", "SURFACE"
    return owner


def test_kinds_that_are_not_felt_are_named(floating, trapeze):
    make_box((0, 0, 0))
    vortex, surface = add_field("VORTEX", 5.0), add_surface_wind()
    read = read_again(trapeze)
    assert read.winds is None
    for owner, word in ((vortex, "vortex"), (surface, "surface")):
        assert any(owner.name in warning and word in warning for warning in read.warnings)
