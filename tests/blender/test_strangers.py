# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs of strangers: import, Set Up Figure, one grip, ten seconds limp under gravity. None may diverge."""

import time
from importlib import import_module
from pathlib import Path

import addon_utils
import bpy
import numpy as np
import pytest
from figures import link_names, make_rig, select, select_bones, shown

CMU = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmu"
SECONDS = 10


@pytest.fixture
def stored(trapeze):
    return import_module(f"{trapeze.__name__}.rig.stored")


def hang(scene, rig, bone, start=1, seconds=SECONDS):
    """Hang the rig by one bone, where it is at the start, and simulate."""
    select(rig)
    bpy.ops.trapeze.set_up()
    scene.trapeze.use_scene_range = False
    scene.trapeze.frame_start = start
    scene.trapeze.frame_end = start + seconds * round(scene.render.fps / scene.render.fps_base)
    scene.frame_set(start)
    select_bones(rig, [bone])
    assert bpy.ops.trapeze.grab() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    begin = time.perf_counter()
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    print(f"{rig.name}: {len(link_names(rig))} links, {time.perf_counter() - begin:.2f} s")
    return next(owner for owner in scene.objects if owner.trapeze.role == "GRIP")


def assert_hangs(scene, rig, grip, stored, close=1e-5):
    """The grip stays where it was in what Blender shows, nothing flies off, no energy comes from nowhere."""
    start, end = scene.trapeze.frame_start, scene.trapeze.frame_end
    frames = range(start, end + 1, 10)
    held = shown(scene, grip, frames)[:, :3, 3]
    size = max(1.0, np.abs(held).max())
    assert np.linalg.norm(held - held[0], axis=1).max() < close * size
    run = stored.recall(scene).run
    assert len(run) == (end - start) * scene.trapeze.substeps + 1
    assert np.isfinite(run.energy).all()
    assert run.energy.max() < run.energy[0] + 0.05 * run.kinetic.max()
    assert run.closure.max() < 1e-9


def captured(name):
    path = CMU / f"{name}.bvh"
    if not path.exists():
        pytest.skip("the captured motions are not here")
    addon_utils.enable("io_anim_bvh", default_set=True)
    bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.056444, update_scene_fps=True)
    return bpy.context.object


@pytest.mark.parametrize(("name", "start"), [("01_09", 1), ("01_09", 300), ("13_11", 200)])
def test_captured_motion(scene, stored, name, start):
    """With the velocity of the motion at the start frame."""
    rig = captured(name)
    grip = hang(scene, rig, "LeftHand", start)
    assert_hangs(scene, rig, grip, stored)


def test_rigify_metarig(scene, stored):
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    grip = hang(scene, rig, "hand.L")
    assert_hangs(scene, rig, grip, stored)


def test_rigify_generated_rig(scene, stored):
    """The deform skeleton is simulated through all controls; the control of the hand means the hand."""
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.data.objects["rig"] if "rig" in bpy.data.objects else bpy.data.objects["RIG-metarig"]
    grip = hang(scene, rig, "hand_ik.L")
    assert grip.trapeze.grip.first_bone.startswith("DEF-hand")
    assert all(name.startswith("DEF-") for name in link_names(rig))
    assert_hangs(scene, rig, grip, stored)


@pytest.mark.parametrize("kind", ["horse", "wolf"])
def test_quadruped(scene, stored, kind):
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    rig = bpy.context.object
    bone = next(name for name in ("front_foot.L", "front_toe.L", "forefoot.L") if name in rig.pose.bones)
    grip = hang(scene, rig, bone)
    assert_hangs(scene, rig, grip, stored)


def test_chain_of_a_hundred_bones(scene, stored):
    """Two seconds: the whip of its end takes most of the steps in a hundred pieces, ten seconds take minutes."""
    bones = {f"bone{i}": (f"bone{i - 1}" if i else None, (0.1 * i, 0, 3), (0.1 * i + 0.1, 0, 3)) for i in range(100)}
    rig = make_rig(bones, "Rope")
    grip = hang(scene, rig, "bone0", seconds=2)
    assert len(link_names(rig)) == 100
    assert_hangs(scene, rig, grip, stored, close=2e-5)
