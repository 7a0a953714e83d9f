# SPDX-License-Identifier: GPL-3.0-or-later
"""From the scene to a chain: start pose, velocities, masses, units and clock, compared with what Blender says."""

from importlib import import_module
from math import pi

import bpy
import numpy as np
import pytest
from figures import GYMNAST, curves_of, link_names, make_box, make_figure, shown
from mathutils import Euler, Matrix, Quaternion

SECOND_ORDER = 3e-3  # rates of 2 rad/s, differenced over one frame: the cube of 0.08 rad times 24 / 6


@pytest.fixture
def read_scene(trapeze):
    read = import_module(f"{trapeze.__name__}.rig.read").read_scene
    return lambda: read(bpy.context)


def axes(matrix):
    return matrix[..., :3, :3] / np.linalg.norm(matrix[..., :3, :3], axis=-2, keepdims=True)


def pose(rig, frame=1, seed=2, size=0.7):
    rng = np.random.default_rng(seed)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = Quaternion(rng.normal(size=3), size * rng.uniform(0.5, 1.0))
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    root = rig.pose.bones[0]
    root.location = rng.normal(size=3) * 0.2
    root.keyframe_insert("location", frame=frame)


def test_start_pose_is_reproduced(scene, read_scene):
    """The chain's own forward kinematics puts every link where Blender shows it."""
    rig = make_figure()
    rig.matrix_world = Matrix.LocRotScale((1, -2, 0.5), Euler((0.3, 1.0, 2.0)).to_quaternion(), (0.7,) * 3)
    bpy.ops.trapeze.set_up()
    pose(rig)
    rig.pose.bones["shin.L"].trapeze_joint = "HINGE"
    rig.pose.bones["foot.L"].trapeze_joint = "FIXED"
    read = read_scene()
    seen = shown(scene, rig, [1], link_names(rig))[0]
    (figure,) = read.figures
    for one, link in zip(figure.links, figure.members, strict=True):
        here = read.state.pose(link)
        described = np.array(one.position), np.array(one.rotation)
        assert np.abs(here.position - described[0]).max() < 1e-9
        assert np.abs(here.matrix - described[1]).max() < 1e-9
        matrix = seen[link_names(rig).index(one.name)]
        assert np.abs(here.position - matrix[:3, 3]).max() < 1e-9
        # Blender's own axes of a bone that points against its parent are only orthogonal to a few 1e-5
        assert np.abs(here.matrix - axes(matrix)).max() < 5e-5
    kinds = {one.name: link.joint.name for one, link in zip(figure.links, figure.members)}
    assert kinds["hips"] == "free" and kinds["shin.L"] == "revolute" and kinds["foot.L"] == "fixed"
    assert kinds["upper_arm.L"] == "spherical"


def test_hinge_angle_is_measured_from_rest(scene, read_scene):
    rig = make_figure()
    bone = rig.pose.bones["shin.L"]
    bone.trapeze_joint, bone.trapeze_axis = "HINGE", (1, 0, 0)
    bone.rotation_mode = "XYZ"
    bone.rotation_euler.x = 0.6
    read = read_scene()
    (figure,) = read.figures
    link = figure.members[[one.name for one in figure.links].index("shin.L")]
    assert abs(read.state.coordinates(link)[0][0] - 0.6) < 1e-6


def test_ball_joints_are_measured_from_rest(scene, read_scene):
    rig = make_figure()
    turn = Quaternion((0.5, 0.3, -0.4, 0.7)).normalized()
    rig.pose.bones["upper_arm.L"].rotation_quaternion = turn
    read = read_scene()
    (figure,) = read.figures
    link = figure.members[[one.name for one in figure.links].index("upper_arm.L")]
    assert abs(abs(read.state.coordinates(link)[0] @ np.array(turn)) - 1.0) < 1e-6


# -- velocity --------------------------------------------------------------------------------------------------------


def spinning_figure(scene, frames, straight=True):
    """The root moves and turns at even speed, an arm turns against it."""
    rig = make_figure()
    root, arm = rig.pose.bones["hips"], rig.pose.bones["upper_arm.L"]
    for bone in (root, arm):
        bone.rotation_mode = "AXIS_ANGLE"
    for frame in frames:
        root.rotation_axis_angle = (0.05 * frame, 0, 1, 0)
        root.location = (0.02 * frame, 0.01 * frame, 0)
        arm.rotation_axis_angle = (-0.08 * frame, 1, 0, 0)
        for bone, path in ((root, "rotation_axis_angle"), (root, "location"), (arm, "rotation_axis_angle")):
            bone.keyframe_insert(path, frame=frame)
    for curve in curves_of(rig.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return rig


@pytest.mark.parametrize(("frames", "start"), [((-20, 40), 5), ((5, 40), 5), ((-20, 5), 5)])
def test_velocity_of_the_source(scene, read_scene, frames, start):
    """In the middle, at the beginning and at the end of the keyed motion: constant rates, read to second order."""
    rig = spinning_figure(scene, frames)
    scene.frame_start, scene.frame_end = start, 60
    read = read_scene()
    (figure,) = read.figures
    links = dict(zip([one.name for one in figure.links], figure.members))
    rate = 24.0
    # the root: its own axes are those of rest turned about Y, so the spin stays along its Y
    spin = read.state.coordinates(links["hips"])[1]
    assert np.abs(spin[:3] - [0, 0.05 * rate, 0]).max() < SECOND_ORDER
    rest = np.array(rig.data.bones["hips"].matrix_local.to_3x3())
    velocity = rest @ (np.array([0.02, 0.01, 0]) * rate)
    assert np.abs(read.state.twist(links["hips"])[3:] - velocity).max() < SECOND_ORDER
    arm = read.state.coordinates(links["upper_arm.L"])[1]
    assert np.abs(arm - [-0.08 * rate, 0, 0]).max() < SECOND_ORDER
    for name in ("forearm.L", "thigh.R", "head"):
        assert np.abs(read.state.coordinates(links[name])[1]).max() < SECOND_ORDER


def test_velocity_off(scene, read_scene):
    spinning_figure(scene, (-20, 40))
    scene.trapeze.use_source_velocity = False
    assert not read_scene().state.v.any()


def test_a_still_figure_has_no_velocity_at_all(scene, read_scene):
    """Not even of rounding size: it would drift."""
    pose(make_figure())
    assert not read_scene().state.v.any()


@pytest.mark.parametrize("start", [1, 2])
def test_a_jump_is_no_velocity(scene, read_scene, start):
    """Captured motions have the rest pose in their first frame: the step from there to the motion is no speed."""
    rig = make_figure()
    arm = rig.pose.bones["upper_arm.L"]
    for frame, angle in ((1, 0.0), (2, 1.2), (3, 1.22), (4, 1.24), (5, 1.26)):
        arm.rotation_quaternion = Quaternion((1, 0, 0), angle)
        arm.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(rig.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scene.frame_start = start
    read = read_scene()
    assert np.abs(np.abs(read.state.v).max() - (0.0 if start == 1 else 0.02 * 24)) < SECOND_ORDER
    assert "Gymnast jumps to another pose" in read.warnings[0]


def test_hinges_take_the_part_about_their_axis(scene, read_scene):
    rig = make_figure()
    bone = rig.pose.bones["shin.L"]
    bone.trapeze_joint, bone.trapeze_axis = "HINGE", (1, 0, 0)
    bone.rotation_mode = "XYZ"
    for frame in (-10, 10):
        bone.rotation_euler = (0.03 * frame, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves_of(rig.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    read = read_scene()
    (figure,) = read.figures
    link = figure.members[[one.name for one in figure.links].index("shin.L")]
    assert abs(read.state.coordinates(link)[1][0] - 0.03 * 24) < 1e-4


# -- units, clock, props ---------------------------------------------------------------------------------------------


def test_unit_scale_makes_the_same_chain(scene, read_scene):
    """A figure in centimetres with its gravity is the figure in metres."""
    pose(make_figure())
    metres = read_scene()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0, 0, -981)
    bones = {
        name: (parent, [100 * x for x in head], [100 * x for x in tail])
        for name, (parent, head, tail) in GYMNAST.items()}
    rig = make_figure(bones)
    pose(rig)
    rig.pose.bones["hips"].location *= 100
    rig.pose.bones["hips"].keyframe_insert("location", frame=1)
    centimetres = read_scene()
    assert np.allclose(centimetres.chain.gravity, metres.chain.gravity)
    assert not centimetres.warnings
    for one, two in zip(metres.chain.links, centimetres.chain.links, strict=True):
        assert np.isclose(one.inertia.mass, two.inertia.mass, rtol=1e-5)
        assert np.allclose(one.inertia.com, two.inertia.com, atol=1e-5)
        assert np.allclose(one.inertia.tensor, two.inertia.tensor, rtol=1e-3, atol=1e-6)
        assert np.allclose(metres.state.pose(one).position, centimetres.state.pose(two).position, atol=1e-5)


def test_weak_gravity_of_a_small_unit_is_told(scene, read_scene):
    scene.unit_settings.scale_length = 0.01
    make_box((0, 0, 1))
    assert "0.0981 m/s²" in read_scene().warnings[0]


def test_clock(scene, read_scene):
    make_box((0, 0, 1))
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.frame_start, scene.frame_end, scene.trapeze.substeps = 11, 21, 4
    read = read_scene()
    second = 1.001 / 30
    assert np.isclose(read.solver["step"], second / 4) and np.isclose(read.solver["duration"], 10 * second)
    assert np.isclose(read.state.time, 11 * second)


def test_dynamic_prop(scene, read_scene):
    """A solid box of wood: mass and moments in closed form."""
    make_box((1, 2, 3), size=(0.3, 0.2, 0.1))
    read = read_scene()
    (prop,) = read.props
    mass = 700 * 0.3 * 0.2 * 0.1
    assert np.isclose(prop.link.inertia.mass, mass, rtol=1e-5)
    expected = mass / 12 * np.diag([0.2**2 + 0.1**2, 0.3**2 + 0.1**2, 0.3**2 + 0.2**2])
    assert np.allclose(prop.link.inertia.tensor, expected, rtol=1e-4, atol=1e-9)
    assert np.allclose(read.state.pose(prop.link).position, (1, 2, 3), atol=1e-6)


def test_hidden_figures_take_part_and_disabled_ones_do_not(scene, read_scene):
    one, two = make_figure(), make_figure(name="Second")
    one.hide_set(True)
    two.hide_viewport = True
    assert [figure.owner for figure in read_scene().figures] == [one]


def test_reading_changes_nothing(scene, read_scene):
    rig = make_figure()
    pose(rig)
    pose(rig, frame=20, seed=9)
    scene.frame_set(7, subframe=0.5)
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    read_scene()
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.5)
    assert [tuple(bone.rotation_quaternion) for bone in rig.pose.bones] == before


def test_several_figures_and_duplicates_in_one_chain(scene, read_scene):
    """A copy that shares its armature data is a figure of its own."""
    rig = make_figure()
    twin = rig.copy()
    scene.collection.objects.link(twin)
    twin.location.x, twin.rotation_euler.z = 2.0, pi / 2
    read = read_scene()
    assert {figure.owner for figure in read.figures} == {rig, twin}
    assert len(read.chain.links) == 2 * len(link_names(rig))
    first, second = read.figures
    assert np.allclose(
        read.state.pose(second.members[0]).position - [2, 0, 0], read.state.pose(first.members[0]).position, atol=1e-6)
