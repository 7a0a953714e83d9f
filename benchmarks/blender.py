# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator waits for, measured inside Blender from the installed zip, kernels compiled.

    python -m benchmarks.blender ZIP [FILE.json]      with the Python of a bpy environment; dev.py bench calls it

The numbers are added to the file under "blender".
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import bpy
import numpy as np

from benchmarks.tables import table
from benchmarks.timing import best_time
from tools.inside_blender.start import EXTENSION, empty_file, have_extension, leave_after

FRAMES, BONES = 250, 60
RIGHT_OFF, LEFT_OFF = 200, 225  # frames: most of the time there are two loops to close
GOALS = {"write_over_bake": 0.25, "high_bar_s": 0.5, "rigify_set_up_s": 1.0}


def measure(archive, file=None):
    have_extension(archive)
    result = {"blender": bpy.app.version_string, "frames": FRAMES, "bones": BONES}
    for part in (measure_writing, measure_high_bar, measure_set_up):
        result |= part()
        empty_file()
    show(result)
    if file:
        path = Path(file)
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps(known | {"blender": result}, indent=1) + "\n", encoding="utf-8")


def show(result):
    rows = [
        [f"write {FRAMES} frames of {BONES} bones", result["write_s"], ""],
        ["the same by Blender's Bake Action", result["bake_s"], ""],
        ["ratio", result["write_over_bake"], GOALS["write_over_bake"]],
        [f"high bar, {FRAMES} frames, all of Simulate", result["high_bar_s"], GOALS["high_bar_s"]],
        ["the same in its own 44 frames", result["high_bar_demo_s"], ""],
        [f"set up Rigify's human, {result['rigify_bones']} bones", result["rigify_set_up_s"], GOALS["rigify_set_up_s"]]]
    table(f"In Blender {result['blender']}, seconds", ["", "ours", "goal"], rows)


def measure_writing():
    """A result for a rig of sixty bones, made and put on, beside the bake of the same motion."""
    write = import_module(f"{EXTENSION}.rig.write")
    scene, rig = bpy.context.scene, make_rig()
    frames, names = np.arange(1, FRAMES + 1), [bone.name for bone in rig.pose.bones]
    turns = np.cumsum(np.random.default_rng(2).normal(size=(FRAMES, BONES, 4)) * 0.02, axis=0) + (1, 0, 0, 0)
    places = np.zeros((FRAMES, BONES, 3))

    def ours():
        motion = write.write_result(scene, rig, frames, names, places, turns).motion
        motion.assign(rig)
        return motion

    def bake():
        bpy.ops.nla.bake(
            frame_start=1, frame_end=FRAMES, only_selected=False, visual_keying=True, bake_types={"POSE"})

    source = ours()  # both start from the same action, with a key on every frame
    bpy.ops.object.mode_set(mode="POSE")
    seconds = {ours: [], bake: []}
    for _ in range(9):  # turn about, so that other work on the machine meets both
        for work, found in seconds.items():
            found.append(best_time(work, lambda: source.assign(rig), repeats=1) / 1e6)
    bpy.ops.object.mode_set(mode="OBJECT")
    written, baked = min(seconds[ours]), min(seconds[bake])
    return {"write_s": written, "bake_s": baked, "write_over_bake": written / baked}


def make_rig():
    """Six limbs of ten bones from one root."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(BONES):
        bone = data.edit_bones.new(f"bone{number}")
        limb, place = divmod(number, 10)
        bone.head, bone.tail = (0.1 * limb, 0, 0.1 * place), (0.1 * limb, 0, 0.1 * place + 0.1)
        if number:
            bone.parent = data.edit_bones[number - 1 if place else 0]
            bone.use_connect = place > 0
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def measure_high_bar():
    """The demo scene as it is, and with the hands on the bar for most of 250 frames."""
    scene = bpy.context.scene
    bpy.ops.trapeze.add_demo(demo="HIGH_BAR")
    bpy.ops.trapeze.simulate()  # compiles
    short = best_time(bpy.ops.trapeze.simulate, repeats=5)
    set_active = import_module(f"{EXTENSION}.rig.intervals").set_active
    keyed = import_module(f"{EXTENSION}.rig.demos").HIGH_BAR
    for hand, before, off in (("hand.R", keyed["right_off"], RIGHT_OFF), ("hand.L", keyed["left_off"], LEFT_OFF)):
        grip = bpy.data.objects[f"{hand} Grip"]
        grip.keyframe_delete("trapeze.grip.active", frame=before)
        set_active(scene, grip, off, False)
    scene.frame_end = FRAMES
    scene.trapeze.substeps = 10
    bpy.ops.trapeze.simulate()
    return {"high_bar_s": best_time(bpy.ops.trapeze.simulate, repeats=5) / 1e6, "high_bar_demo_s": short / 1e6}


def measure_set_up():
    """Set Up Figure on the rig that Rigify generates from its human."""
    import addon_utils  # exists once bpy is there

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    for owner in bpy.context.view_layer.objects:
        owner.select_set(owner == rig)

    def remove():
        if rig.trapeze.role == "FIGURE":
            bpy.ops.trapeze.remove_figure()

    seconds = best_time(bpy.ops.trapeze.set_up, remove, repeats=3) / 1e6
    return {"rigify_set_up_s": seconds, "rigify_bones": len(rig.pose.bones)}


if __name__ == "__main__":
    leave_after(measure, *sys.argv[1:])
