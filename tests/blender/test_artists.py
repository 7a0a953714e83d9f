# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Trapeze Artists: an act of two figures with muscles, in which only physics decides the swings and the flight."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import centre_of_mass, link_names, shown
from mathutils import Vector
from test_muscles import beyond_limits

HANDS = ["hand.L", "hand.R"]
SINGLE = 1e-5  # m: what is shown ten metres up is right to some 1e-6, since Blender's matrices are in single precision


@pytest.fixture
def numbers(trapeze):
    return import_module(f"{trapeze.__name__}.rig.artists").ARTISTS


@pytest.fixture
def run(trapeze):
    stored = import_module(f"{trapeze.__name__}.rig.stored")
    return lambda: stored.recall(bpy.context.scene).run


def act(scene):
    assert bpy.ops.trapeze.add_demo(demo="ARTISTS") == {"FINISHED"}
    return bpy.data.objects["Flyer"], bpy.data.objects["Catcher"]


def middles(scene, owner, frames):
    """(F, 2, 3) places of the middles of both hands."""
    length = owner.pose.bones["hand.L"].length
    return (shown(scene, owner, frames, HANDS) @ [0.0, length / 2.0, 0.0, 1.0])[..., :3]


def turned_over(scene, owner, frames):
    """Angle of the trunk about X over the frames (degrees), backwards positive."""
    up = shown(scene, owner, frames, ["hips"])[:, 0, :3, 1]
    return np.degrees(np.unwrap(np.arctan2(up[:, 1], up[:, 2])))


def test_the_flyer_turns_over_and_is_caught(scene, numbers, run):
    flyer, catcher = act(scene)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    release, catch, last = numbers["release"], numbers["catch"], numbers["end"]
    assert run().closure.max() < 1e-8  # metres, radians: every grip, as simulated

    before = middles(scene, flyer, range(1, last + 1)), middles(scene, catcher, range(1, last + 1))
    gap = np.linalg.norm(before[0] - before[1], axis=-1).max(axis=1)
    assert gap[release - 1] > 2.0
    assert gap[catch - 1] < 0.05  # the hands meet by themselves, before anything pulls them together
    closing = np.diff(before[0] - before[1], axis=0)[catch - 2] * 24
    assert np.linalg.norm(closing, axis=-1).max() < 2.0  # m/s, of two people who swing and fly at four
    held = gap[catch + numbers["close"] - 1:]
    assert np.abs(held - held[0]).max() < SINGLE and held.max() < 1e-3

    flight = range(release, catch + 1)
    assert np.ptp(turned_over(scene, flyer, flight)) > 200.0
    drop = np.diff(centre_of_mass(scene, flyer, flight), 2, axis=0) * 24**2
    assert np.abs(drop - [0.0, 0.0, -9.81]).max() < 24**2 * SINGLE

    for owner in (flyer, catcher):
        bones = [bone for bone in owner.pose.bones if bone.parent and bone.trapeze_use_limits]
        beyond = {bone.name: np.degrees(beyond_limits(scene, owner, bone, last)) for bone in bones}
        assert len(bones) > 12 and max(beyond.values()) < 0.5, beyond
        places = shown(scene, owner, range(1, last + 1), link_names(owner))[..., :3, 3]
        assert np.linalg.norm(np.diff(places, axis=0), axis=-1).max() * 24 < 15.0  # m/s
        assert places[..., 2].min() > 1.0 and np.abs(places[..., 0]).max() < 0.6


def test_held_hands_and_knees_as_shown(scene, numbers):
    """Where a grip took hold is where it stays, in both of its ends, as Blender shows them."""
    act(scene)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    flyer = bpy.data.objects["Flyer Trapeze"]
    for frame in range(1, numbers["release"] + 1):
        scene.frame_set(frame)
        for name in ("hand.L Grip", "hand.R Grip"):
            place = flyer.matrix_world.inverted() @ bpy.data.objects[name].matrix_world.translation
            assert (Vector((0, place.y, place.z)) - Vector((0, 0, -numbers["ropes"]["Flyer"]))).length < SINGLE


def test_rag_dolls_miss_each_other(scene, numbers):
    """Without muscles, the same keys and releases: she does not come near his hands."""
    flyer, catcher = act(scene)
    for owner in (flyer, catcher):
        bpy.context.view_layer.objects.active = owner
        owner.select_set(True)
    assert bpy.ops.trapeze.muscle_preset(preset="RAG_DOLL", whole=True) == {"FINISHED"}
    scene.frame_end = numbers["catch"]
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    hands = [middles(scene, owner, [numbers["catch"]])[0] for owner in (flyer, catcher)]
    assert np.linalg.norm(hands[0] - hands[1], axis=-1).min() > 0.5
