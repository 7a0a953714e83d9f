# SPDX-License-Identifier: GPL-3.0-or-later
"""Source curves read in bulk give what Blender's own evaluation gives, key by key."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import curves_of

FRAMES = np.arange(1.0, 41.0)


@pytest.fixture
def sample(trapeze):
    return import_module(trapeze.__name__ + ".rig.sample")


def make_curve(times):
    """A curve of an Empty with keys of random heights at the given times."""
    owner = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(owner)
    owner.keyframe_insert("location", index=0, frame=float(times[0]))
    (curve,) = curves_of(owner.animation_data.action)
    curve.keyframe_points.add(len(times) - 1)
    keys = np.stack([times, np.random.default_rng(3).normal(size=len(times))], -1)
    curve.keyframe_points.foreach_set("co", keys.astype(np.float32).ravel())
    curve.update()
    return curve


@pytest.mark.parametrize("times, frames", [
    (FRAMES, FRAMES),
    (FRAMES, FRAMES[5:25]),
    (FRAMES, FRAMES[5:9]),
    (np.arange(-10.0, 60.0), FRAMES),
    (np.arange(1.0, 41.0, 0.5), FRAMES),
    (FRAMES, FRAMES + 0.25),
    (FRAMES, FRAMES + 10.0),  # beyond the last key
    (FRAMES[::4], FRAMES),
    (np.sort([*FRAMES, 7.001, 20.0]), FRAMES),  # keys upon keys
    (FRAMES, FRAMES[:0]),
], ids=str)
def test_values_are_those_that_blender_evaluates(sample, times, frames):
    curve = make_curve(times)
    expected = [curve.evaluate(frame) for frame in frames]
    assert np.array_equal(np.asarray(sample.curve_values(curve, frames), dtype=np.float32), np.float32(expected))


def test_modifiers_count(sample):
    curve = make_curve(FRAMES)
    curve.modifiers.new("NOISE").strength = 3.0
    expected = [curve.evaluate(frame) for frame in FRAMES]
    assert np.array_equal(np.float32(sample.curve_values(curve, FRAMES)), np.float32(expected))
