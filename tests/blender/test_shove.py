# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo Shove: planted feet hold, the body sways and comes back, a stronger push makes it step."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import centre_of_mass, shown

FEET = ["foot.L", "foot.R"]


@pytest.fixture
def numbers(trapeze):
    return import_module(trapeze.__name__ + ".rig.shove").SHOVE


def act(scene, pushed=True):
    """Simulate the demo; the figure, its centre of mass (F, 3), its feet (F, 2, 4, 4) and the head's height (F)."""
    assert bpy.ops.trapeze.add_demo(demo="SHOVE") == {"FINISHED"}
    figure = bpy.data.objects["Walker"]
    pushes = [owner for owner in scene.objects if owner.trapeze.role == "PUSH"]
    assert len(pushes) == 2
    if not pushed:
        for push in pushes:
            bpy.data.objects.remove(push)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    frames = range(scene.frame_start, scene.frame_end + 1)
    bones = shown(scene, figure, frames, [*FEET, "head"])
    return centre_of_mass(scene, figure, frames), bones[:, :2], bones[:, 2, 2, 3]


def test_feet_hold_and_the_body_comes_back_and_then_steps(scene, numbers):
    centre, feet, head = act(scene)
    lift, land = numbers["lift"], numbers["land"] + numbers["close"]
    first, second = sorted(numbers["pushes"])
    # gripped feet do not move: the left one ever, the right one until it is lifted, and after it has landed
    assert np.abs(feet[:, 0] - feet[0, 0]).max() < 1e-6
    assert np.abs(feet[:lift, 1] - feet[0, 1]).max() < 1e-6
    assert np.abs(feet[land:, 1] - feet[-1, 1]).max() < 1e-6
    # pushed forward (-Y) by a hand's breadth, and back within a finger's before the second push
    swayed = centre[0, 1] - centre[: second - 1, 1]
    assert 0.05 < swayed.max() < 0.25 and int(np.argmax(swayed)) + 1 > first
    assert np.abs(centre[second - 1] - centre[0]).max() < 0.01
    assert abs(head[second - 1] - head[0]) < 0.005
    # one step ahead, on the ground, and still on two feet at the end
    step = feet[-1, 1, :3, 3] - feet[0, 1, :3, 3]
    assert step == pytest.approx([0.0, -numbers["step"], 0.0], abs=1e-3)
    assert feet[:, :, 2, 3].min() > 0.08  # no ankle sinks into the ground
    assert head[-1] > 0.9 * head[0] and np.abs(centre[-1] - centre[-6]).max() < 0.005


def test_nobody_pushes_and_nothing_happens(scene, numbers):
    """Until the keys of the step begin, the figure stands still: it sinks into its muscles by millimetres."""
    centre, feet, _ = act(scene, pushed=False)
    before = slice(0, numbers["lift"] - 1)
    assert np.abs(centre[before] - centre[0]).max() < 0.005
    assert np.abs(feet[before] - feet[0]).max() < 1e-6
