# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys within a tolerance, as Blender's own F-curves and poses see it."""

from importlib import import_module
from math import radians

import bpy
import numpy as np
import pytest


@pytest.fixture
def reduce(trapeze):
    return import_module(trapeze.__name__ + ".rig.reduce")


def distance(fitted, wanted):
    return np.linalg.norm(fitted - wanted, axis=-1)


def test_cubic_needs_two_keys(reduce):
    """A cubic is what a segment can be: nothing is left over but rounding."""
    times = np.arange(1.0, 101.0)
    values = np.stack([1e-5 * (times - 20) ** 3 - 0.1 * times, 3.0 - times], -1)
    thinned = reduce.thin(times, values, 1e-6, distance)
    assert thinned.kept.tolist() == [0, 99]
    np.testing.assert_allclose(thinned.values, values, atol=1e-9)


def test_still_channel_needs_two_keys(reduce):
    assert reduce.thin(np.arange(50.0), np.full((50, 4), 0.3), 1e-9, distance).kept.tolist() == [0, 49]


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-4])
def test_tolerance_holds_and_smaller_ones_take_more_keys(reduce, tolerance):
    times = np.arange(0.0, 200.0)
    values = np.stack([np.sin(times / 7), np.cos(times / 11) * np.exp(-times / 80)], -1)
    thinned = reduce.thin(times, values, tolerance, distance)
    assert distance(thinned.values, values).max() <= tolerance
    finer = reduce.thin(times, values, tolerance / 10, distance)
    assert len(thinned.kept) < len(finer.kept) < len(times)


def test_kink_is_kept(reduce):
    """A catch: the speed jumps from one frame to the next. One key sits there, or close by on both sides."""
    times = np.arange(0.0, 100.0)
    values = np.where(times < 40, times, 40 - 3 * (times - 40))[:, None] / 10
    thinned = reduce.thin(times, values, 1e-4, distance)
    assert distance(thinned.values, values).max() <= 1e-4
    assert len(thinned.kept) <= 5 and np.abs(times[thinned.kept] - 40).min() <= 1


def test_noise_is_not_smoothed_away(reduce):
    """Nothing to save in noise: a segment has four numbers, so it can skip two values and no more."""
    values = np.random.default_rng(3).normal(size=(61, 1))
    thinned = reduce.thin(np.arange(61.0), values, 1e-6, distance)
    assert len(thinned.kept) == 21
    np.testing.assert_allclose(thinned.values, values, atol=1e-6)


def test_zero_tolerance_keeps_every_value(reduce):
    values = np.random.default_rng(3).normal(size=(60, 3))
    thinned = reduce.thin(np.arange(60.0), values, 0.0, distance)
    np.testing.assert_array_equal(thinned.values[thinned.kept], values[thinned.kept])
    assert distance(thinned.values, values).max() < 1e-12


def test_uneven_times(reduce):
    times = np.sort(np.random.default_rng(4).uniform(0, 50, 80))
    values = np.sin(times / 5)[:, None]
    thinned = reduce.thin(times, values, 1e-3, distance)
    assert distance(thinned.values, values).max() <= 1e-3
    assert len(thinned.kept) < 30


def test_one_and_two_keys(reduce):
    assert reduce.thin(np.array([3.0]), np.array([[1.0]]), 0.1, distance).kept.tolist() == [0]
    assert reduce.thin(np.array([3.0, 4.0]), np.array([[1.0], [2.0]]), 0.1, distance).kept.tolist() == [0, 1]


def make_chain(count, scene):
    data = bpy.data.armatures.new("Chain")
    rig = bpy.data.objects.new("Chain", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(count):
        bone = data.edit_bones.new(f"bone{number}")
        bone.head, bone.tail = (0, 0.3 * number, 0), (0, 0.3 * number + 0.3, 0)
        if number:
            bone.parent, bone.use_connect = data.edit_bones[f"bone{number - 1}"], True
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def wave(rig, frames, motion, mode):
    """Swing every bone, one key per frame. Returns what was written."""
    written = set()
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = mode
        name, size = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}.get(
            mode, ("rotation_euler", 3))
        values = np.zeros((len(frames), size))
        if size == 4:
            values[:, 0] = 1.0
        for index in range(size):
            values[:, index] += 0.4 * np.sin(frames / (5 + number + 2 * index) + index)
        if mode == "QUATERNION":
            values /= np.linalg.norm(values, axis=-1, keepdims=True)
        paths = [(bone.path_from_id(name), values)]
        if number == 0:
            paths.append((bone.path_from_id("location"), np.stack([np.sin(frames / 9)] * 3, -1)))
        for path, channel in paths:
            for index in range(channel.shape[1]):
                curve = motion.add(path, index, bone.name)
                curve.keyframe_points.add(len(frames))
                curve.keyframe_points.foreach_set("co", np.stack([frames, channel[:, index]], -1).ravel())
                for point in curve.keyframe_points:
                    point.interpolation = "LINEAR"
                curve.update()
                written.add((path, index))
    motion.assign(rig)
    return written


def ends(scene, rig, frames):
    """World axes and both ends of all bones, as Blender shows them."""
    axes, places = [], []
    for frame in frames:
        scene.frame_set(int(frame))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        axes.append([np.array((seen.matrix_world @ bone.matrix).to_3x3().normalized()) for bone in seen.pose.bones])
        places.append([[seen.matrix_world @ bone.head, seen.matrix_world @ bone.tail] for bone in seen.pose.bones])
    return np.array(axes), np.array(places)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ"])
@pytest.mark.parametrize(("angle", "millimetres"), [(0.2, 1.0), (2.0, 1000.0), (180.0, 5.0)])
def test_every_bone_of_a_figure_stays_within_both_tolerances(scene, trapeze, mode, angle, millimetres):
    """Errors add up along eight bones; still no bone turns or moves farther than allowed, and most keys are gone."""
    actions = import_module(trapeze.__name__ + ".rig.actions")
    thin = import_module(trapeze.__name__ + ".rig.thin")
    frames = np.arange(1.0, 121.0)
    rig = make_chain(8, scene)
    rig.scale = (0.5, 0.5, 0.5)
    motion = actions.new_motion("Wave", rig)
    written = wave(rig, frames, motion, mode)
    axes, places = ends(scene, rig, frames)
    before, after = thin.thin_result(scene, rig, motion, written, radians(angle), millimetres / 1000)
    motion.action.update_tag()
    thinned_axes, thinned_places = ends(scene, rig, frames)
    turns = np.linalg.norm(thinned_axes - axes, axis=(-2, -1)) / np.sqrt(2)
    assert turns.max() <= radians(angle) + 1e-5
    assert np.linalg.norm(thinned_places - places, axis=-1).max() <= millimetres / 1000 + 1e-5
    assert before == len(written) * len(frames)
    assert after < before / 3
    assert sum(len(curve.keyframe_points) for curve in motion.curves()) == after


def test_between_frames_nothing_overshoots(scene, trapeze):
    """Where the motion bends sharply, curves between the kept keys stay near the straight lines they replace."""
    actions = import_module(trapeze.__name__ + ".rig.actions")
    thin = import_module(trapeze.__name__ + ".rig.thin")
    rig = make_chain(2, scene)
    motion = actions.new_motion("Wave", rig)
    frames = np.arange(1.0, 121.0)
    written = wave(rig, frames, motion, "XYZ")
    between = np.arange(1.0, 120.0, 0.125)
    before = {(c.data_path, c.array_index): np.array([c.evaluate(t) for t in between]) for c in motion.curves()}
    thin.thin_result(scene, rig, motion, written, radians(0.2), 0.001)
    for curve in motion.curves():
        after = np.array([curve.evaluate(time) for time in between])
        assert np.abs(after - before[curve.data_path, curve.array_index]).max() < 0.02
