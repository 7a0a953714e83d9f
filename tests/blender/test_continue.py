# SPDX-License-Identifier: GPL-3.0-or-later
"""Going on from a later frame of the last result, instead of from the source."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import curves_of, grab, link_names, make_bar, make_box, make_figure, release, shown
from mathutils import Quaternion
from test_grips import make_grip


@pytest.fixture
def stored(trapeze):
    return import_module(f"{trapeze.__name__}.rig.stored")


@pytest.fixture
def act(scene):
    """A gymnast who lets go at 40, simulated over 60 frames."""
    rig, bar = make_figure(), make_bar()
    for frame, angle in ((1, 0.0), (10, 0.5)):
        rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), angle)
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    grab(scene, rig, ["hand.L", "hand.R"], bar)
    release(scene, rig, ["hand.L", "hand.R"], 40)
    scene.frame_end = 60
    bpy.ops.trapeze.simulate()
    return rig, bar


def go_on_from(scene, start, end=60):
    scene.trapeze.use_stored = True
    scene.trapeze.use_scene_range = False
    scene.trapeze.frame_start, scene.trapeze.frame_end = start, end
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}


@pytest.mark.parametrize("start", [25, 50])
def test_the_same_motion_comes_out(scene, act, start):
    """From the stored state nothing changes: before the start to the last bit, after it to rounding in the state."""
    rig, _ = act
    names = link_names(rig)
    before = shown(scene, rig, range(1, 61), names)
    go_on_from(scene, start)
    after = shown(scene, rig, range(1, 61), names)
    assert np.abs(after - before)[:start].max() < 1e-6
    assert np.abs(after - before).max() < 1e-5


def test_grips_keyed_since_then_count(scene, act):
    """Holding on longer from frame 30 on changes what comes after 40, and nothing before."""
    rig, bar = act
    names = link_names(rig)
    before = shown(scene, rig, range(1, 61), names)
    for name in ("hand.L Grip", "hand.R Grip"):
        grip = bpy.data.objects[name]
        grip.trapeze.grip.active = False
        (curve,) = curves_of(grip.animation_data.action)
        curve.keyframe_points[-1].co.x = 55.0
    go_on_from(scene, 30)
    after = shown(scene, rig, range(1, 61), names)
    assert np.abs(after - before)[:40].max() < 1e-5
    hand = shown(scene, bpy.data.objects["hand.L Grip"], range(1, 61))[:, :3, 3]
    assert np.abs(hand[:55, 1:] - [0.005, 2.03]).max() < 1e-6
    assert np.abs(after - before)[45:].max() > 0.01


def test_after_reopening_the_result_itself_is_the_state(scene, act, stored, tmp_path):
    """The run in memory is gone; poses are those of the result, velocities differences of it across a frame."""
    rig, _ = act
    names = link_names(rig)
    before = shown(scene, rig, range(1, 61), names)
    path = str(tmp_path / "act.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene, rig = bpy.context.scene, bpy.data.objects["Gymnast"]
    assert stored.recall(scene) is None
    go_on_from(scene, 45, 50)
    after = shown(scene, rig, range(1, 51), names)
    assert np.abs(after - before[:50])[:45].max() < 1e-6
    assert np.abs(after - before[:50]).max() < 0.05  # a hand that whips about, five frames later


def test_a_broken_grip_stays_broken(scene):
    scene.frame_end = 30
    box = make_box((0, 0, 1))
    box.trapeze.prop.use_volume, box.trapeze.prop.mass = False, 10.0
    make_grip(scene, box, None, (0, 0, 1), joint="FIXED", break_force=50.0)
    bpy.ops.trapeze.simulate()
    before = shown(scene, box, range(1, 31))
    assert before[-1, 2, 3] < 0.0
    go_on_from(scene, 10, 30)
    assert np.abs(shown(scene, box, range(1, 31)) - before).max() < 1e-5


def test_continue_without_a_result_starts_from_the_source(scene):
    scene.frame_end = 10
    box = make_box((0, 0, 1))
    scene.trapeze.use_stored = True
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert abs(shown(scene, box, [10])[0, 2, 3] - (1.0 - 0.5 * 9.81 * (9 / 24) ** 2)) < 2e-6
