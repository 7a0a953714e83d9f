# SPDX-License-Identifier: GPL-3.0-or-later
"""Feed-forward of driven muscles, measured on the poses that Blender shows. Oracles: the keys, statics."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import grab, release, select_bones
from test_muscles import hang, key_angles, key_setting, make_arm, relative, simulate


def errors(scene, rig, names):
    """How far the bones are from their keys at most (rad), without feed-forward and with it."""
    frames, found = range(1, scene.frame_end + 1), []
    keyed = {name: relative(scene, rig, frames, name) for name in names}
    for feed in (False, True):
        for bone in rig.pose.bones:
            bone.trapeze_use_feed_forward = feed
        simulate()
        found.append(max(
            (keyed[name].inv() * relative(scene, rig, frames, name)).magnitude().max() for name in names))
    return found


@pytest.mark.parametrize("joint", ["HINGE", "BALL"])
def test_arm_follows_its_keys(scene, joint):
    rig, rod = make_arm(scene, joint)
    scene.frame_end = 60
    key_angles(rod, {1: 0.0, 20: 1.0, 40: -0.6, 60: 0.3}, "BEZIER")
    rod.trapeze_muscle, rod.trapeze_strength = "DRIVEN", 3.0
    without, fed = errors(scene, rig, ["rod"])
    print(f"{joint}: {without:.4f} rad without, {fed:.5f} with")
    assert fed < 0.1 * without


def test_legs_lifted_on_a_bar_follow_closer(scene):
    """Driven as a gymnast, both hands on the bar. No preset turns it on."""
    rig = hang(scene, 60)
    legs = ["thigh.L", "thigh.R", "shin.L", "shin.R"]
    for name in legs[:2]:
        key_angles(rig.pose.bones[name], {1: 0.0, 10: 0.0, 30: 1.2, 50: 0.2, 60: 0.2}, "BEZIER")
    assert bpy.ops.trapeze.muscle_preset(preset="GYMNAST") == {"FINISHED"}
    assert not any(bone.trapeze_use_feed_forward for bone in rig.pose.bones)
    without, fed = errors(scene, rig, legs)
    print(f"legs: {without:.4f} rad without, {fed:.4f} with")
    assert fed < without


def test_torque_goes_with_the_grips(scene, trapeze):
    """Held level, first at its base, from frame 30 on at the rod: the joint carries the weight of the other part.

    Before frame 10 it is switched off by keys.
    """
    rig, rod = make_arm(scene)
    scene.frame_end = 60
    rod.trapeze_muscle, rod.trapeze_strength = "DRIVEN", 3.0
    key_angles(rod, {1: 0.0})
    key_setting(rod, "trapeze_use_feed_forward", {1: False, 10: True})
    (grip,) = grab(scene, rig, ["rod"], frame=30)
    grip.trapeze.grip.joint = "FIXED"
    release(scene, rig, ["base"], 30)
    read = import_module(f"{trapeze.__name__}.rig.read").read_scene(bpy.context)
    base, link = read.figures[0].members
    before = link.inertia.mass * 9.81 * link.inertia.com[1]
    after = base.inertia.mass * 9.81 * (0.3 - base.inertia.com[1])
    assert link.acting.muscle.feed_forward is None
    (act,) = [event for event in read.events if hasattr(event, "muscles")]
    torque = act.muscles[link].feed_forward
    assert act.time == pytest.approx(read.clock(10))
    axis = np.array(link.joint.axis)[0]
    for frame, expected in ((10, before), (29.99, before), (30, after), (60, after)):
        assert axis * torque(read.clock(frame))[0] == pytest.approx(expected, rel=1e-5)


def test_copied_to_the_other_side(scene):
    rig = hang(scene)
    rig.pose.bones["thigh.L"].trapeze_muscle = "DRIVEN"
    rig.pose.bones["thigh.L"].trapeze_use_feed_forward = True
    select_bones(rig, ["thigh.L"])
    assert bpy.ops.trapeze.copy_to_selected(what="MUSCLE", opposite=True) == {"FINISHED"}
    assert rig.pose.bones["thigh.R"].trapeze_use_feed_forward
