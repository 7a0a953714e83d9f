# SPDX-License-Identifier: GPL-3.0-or-later
"""A limp figure without gravity and velocity stays exactly where it looks to be, whatever rig, place, unit or clock."""

import bpy
import numpy as np
import pytest
from figures import GYMNAST, link_names, make_box, make_figure, shown
from mathutils import Euler, Matrix, Quaternion

MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
CLOSE = 1e-6
FRAMES = range(1, 9)


@pytest.fixture
def still(scene):
    scene.use_gravity = False
    scene.frame_end = FRAMES[-1]
    return scene


def pose(rig, keyed=True, seed=4):
    """A pose far from rest, keyed at the first frame."""
    rng = np.random.default_rng(seed)
    for bone in rig.pose.bones:
        turn = Quaternion(rng.normal(size=3), rng.uniform(0.2, 1.0))
        set_rotation(bone, turn)
        if bone.parent is None:
            bone.location = rng.normal(size=3) * 0.3
        if keyed:
            bone.keyframe_insert("location", frame=1)
            bone.keyframe_insert(rotation_path(bone), frame=1)


def rotation_path(bone):
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        bone.rotation_mode, "rotation_euler")


def set_rotation(bone, turn):
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(bone.rotation_mode)


def assert_stays(scene, rig, frames=FRAMES, close=CLOSE):
    """Simulate; at every frame the links are where the source had them at the first."""
    names = link_names(rig)
    before = shown(scene, rig, [frames[0]], names)[0]
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert rig.trapeze.figure.showing == "RESULT"
    after = shown(scene, rig, frames, names)
    size = max(1.0, np.abs(before[:, :3, 3]).max())
    assert np.abs(after[..., :3, 3] - before[:, :3, 3]).max() < close * size
    lengths = np.linalg.norm(before[:, :3, :3], axis=1)[:, None, :]
    assert np.abs((after - before)[..., :3, :3] / lengths).max() < close


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode(still, mode, keyed):
    rig = make_figure()
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    pose(rig, keyed)
    assert_stays(still, rig)


def moved(rig):
    rig.matrix_world = Matrix.LocRotScale((3, -2, 1), Quaternion((0.3, 0.5, -0.2, 0.7)).normalized(), None)


def scaled(rig):
    rig.matrix_world = Matrix.LocRotScale((0.5, -2, 1), Euler((0.3, 1.0, 2.0)).to_quaternion(), (0.4,) * 3)


def parented(rig):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.matrix_world = Matrix.LocRotScale((1, 2, 0.5), Euler((1.0, -0.4, 0.3)).to_quaternion(), (2.0,) * 3)
    rig.parent = parent
    rig.location, rig.rotation_euler, rig.scale = (0.2, 0.1, -0.3), (0.4, 0.2, 0.9), (0.6,) * 3
    return parent


@pytest.mark.parametrize("place", [moved, scaled, parented])
def test_every_place(still, place):
    rig = make_figure()
    place(rig)
    bpy.ops.trapeze.set_up()
    pose(rig)
    assert_stays(still, rig)


def test_moving_parent_does_not_take_the_figure_along(still):
    """Physics moves the figure, not its object: with nothing acting, it stays where it was."""
    rig = make_figure()
    parent = parented(rig)
    for frame, where in ((1, (1, 2, 0.5)), (9, (2, 1, 1.5))):
        parent.location = where
        parent.keyframe_insert("location", frame=frame)
    bpy.ops.trapeze.set_up()
    pose(rig)
    still.trapeze.use_source_velocity = False
    assert_stays(still, rig, close=2e-6)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_unit_scale(still, scale):
    still.unit_settings.scale_length = scale
    factor = 1.0 / scale
    bones = {
        name: (parent, [x * factor for x in head], [x * factor for x in tail])
        for name, (parent, head, tail) in GYMNAST.items()}
    rig = make_figure(bones)
    assert 50.0 < rig.trapeze.figure.mass < 100.0
    pose(rig)
    assert_stays(still, rig)


@pytest.mark.parametrize("fps", [24, 30, 60])
@pytest.mark.parametrize("base", [1.0, 1.001])
def test_frame_rate(still, fps, base):
    still.render.fps, still.render.fps_base = fps, base
    rig = make_figure()
    pose(rig)
    assert_stays(still, rig)


def test_frame_step_and_time_remapping(still):
    still.frame_step = 3
    still.render.frame_map_old, still.render.frame_map_new = 100, 250
    rig = make_figure()
    pose(rig)
    assert_stays(still, rig)


@pytest.mark.parametrize(
    ("fps", "old", "new"), [(24, 100, 100), (30, 100, 100), (60, 100, 100), (24, 100, 250), (25, 100, 40)])
def test_falling_takes_the_time_it_takes(scene, fps, old, new):
    """g t²/2 at every frame, in seconds of the frame rate, however actions are remapped."""
    scene.render.fps, scene.render.frame_map_old, scene.render.frame_map_new = fps, old, new
    scene.frame_end = 31
    box = make_box((0, 0, 1))
    bpy.ops.trapeze.simulate()
    t = np.arange(31) / fps
    assert np.abs(shown(scene, box, range(1, 32))[:, 2, 3] - (1.0 - 0.5 * 9.81 * t**2)).max() < 2e-6


def test_start_at_any_frame(still):
    """The pose of the source at the start frame; before it the source plays on."""
    rig = make_figure()
    pose(rig)
    bone = rig.pose.bones["chest"]
    set_rotation(bone, Quaternion((0, 1, 0), 1.0))
    bone.keyframe_insert("rotation_quaternion", frame=9)
    still.frame_end = 20
    source = shown(still, rig, range(1, 21), link_names(rig))
    still.trapeze.use_source_velocity = False
    still.trapeze.use_scene_range = False
    still.trapeze.frame_start, still.trapeze.frame_end = 6, 20
    assert_stays(still, rig, range(6, 21))
    assert np.abs(shown(still, rig, range(1, 6), link_names(rig)) - source[:5]).max() < CLOSE


def test_inverse_kinematics_is_read_as_it_looks(still):
    rig = make_figure()
    target = bpy.data.objects.new("Target", None)
    still.collection.objects.link(target)
    target.location = (0.5, -0.3, 1.6)
    solver = rig.pose.bones["hand.L"].constraints.new("IK")
    solver.target, solver.chain_count = target, 3
    rest = shown(still, rig, [1], ["hand.L"])
    solver.mute = True
    assert np.abs(rest - shown(still, rig, [1], ["hand.L"])).max() > 0.1  # it does pull
    solver.mute = False
    assert_stays(still, rig)


def test_constraints_and_drivers_are_read_as_they_look(still):
    rig = make_figure()
    look_at = bpy.data.objects.new("Look At", None)
    still.collection.objects.link(look_at)
    look_at.location = (1.0, 2.0, 1.0)
    track = rig.pose.bones["head"].constraints.new("DAMPED_TRACK")
    track.target = look_at
    copy = rig.pose.bones["forearm.R"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "forearm.L"
    rig.pose.bones["forearm.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.7)
    limit = rig.pose.bones["chest"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x = True, -0.1, 0.1
    rig.pose.bones["chest"].rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    bone = rig.pose.bones["shin.L"]
    bone.rotation_mode = "XYZ"
    driver = bone.driver_add("rotation_euler", 2).driver
    driver.expression = "0.4"
    bpy.context.view_layer.update()
    names = [name for name in link_names(rig) if name not in ("shin.L", "foot.L")]  # a driven channel cannot be written
    before = shown(still, rig, [1], names)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert np.abs(shown(still, rig, FRAMES, names) - before).max() < 3e-6


def test_merged_and_ignored_bones(still):
    """Fingers ride along as they are keyed; a control that takes no part plays on."""
    bones = dict(GYMNAST)
    bones["f_index.01.L"] = ("hand.L", (0.22, 0.01, 2.08), (0.22, 0.03, 2.11))
    bones["f_index.02.L"] = ("f_index.01.L", (0.22, 0.03, 2.11), (0.22, 0.04, 2.13))
    bones["control"] = (None, (1, 0, 0), (1, 0, 0.5))
    rig = make_figure(bones)
    rig.pose.bones["control"].trapeze_part = "IGNORED"
    assert rig.pose.bones["f_index.01.L"].trapeze_part == "MERGED"
    pose(rig)
    for frame, angle in ((1, 0.2), (8, 1.2)):
        rig.pose.bones["control"].rotation_quaternion = Quaternion((1, 0, 0), angle)
        rig.pose.bones["control"].keyframe_insert("rotation_quaternion", frame=frame)
    before = shown(still, rig, FRAMES, ["control", "f_index.02.L"])
    assert_stays(still, rig)
    assert np.abs(shown(still, rig, FRAMES, ["control", "f_index.02.L"]) - before).max() < 2e-6
