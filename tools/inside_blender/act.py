# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a demo scene, simulate it, measure what Blender then shows, and save it.

    python -m tools.inside_blender.act ZIP DEMO FILE.blend
"""

import sys
from time import perf_counter

import bpy
from mathutils import Matrix

from tools.inside_blender.start import have_extension, leave_after

ALONG = {"CYLINDER", "SLIDER"}  # joints that let the grip move along its axis
CLOSE = 1e-4  # metres; beyond this somebody should look


def act(archive, demo, file):
    have_extension(archive)
    bpy.ops.trapeze.add_demo(demo=demo)
    print("Simulating; the first time after a change the kernels are compiled, which takes a minute ...", flush=True)
    seconds = [simulate(), simulate()]
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    gaps = measure(scene)
    scene.frame_set(scene.frame_start)
    bpy.ops.wm.save_as_mainfile(filepath=file, compress=True)

    count = scene.frame_end - scene.frame_start + 1
    rate = scene.render.fps / scene.render.fps_base
    print(f"\n{scene.collection.children[0].name} in Blender {bpy.app.version_string}")
    print(f"  {count} frames, {(count - 1) / rate:.2f} s of motion")
    print(f"  simulated in {seconds[1]:.2f} s ({seconds[0]:.1f} s the first time, kernels made ready)")
    for name, (first, last, gap) in gaps.items():
        print(f"  {name + ':':28} frames {first:2} to {last:2}, held within {gap:.0e} m")
    if max(gap for _, _, gap in gaps.values()) > CLOSE:
        raise SystemExit(f"a grip has opened by more than {CLOSE} m; this should not happen, please report it")


def simulate():
    begin = perf_counter()
    if bpy.ops.trapeze.simulate() != {"FINISHED"}:
        raise SystemExit("the simulation did not finish; Blender's message is above")
    return perf_counter() - begin


def measure(scene):
    """{grip: (first frame, last frame, largest distance in metres from where it took hold)} while it holds.

    Grips that let go by themselves at the end of their travel are left out: their keys do not say when.
    """
    grips = [one for one in scene.objects if one.trapeze.role == "GRIP" and not one.trapeze.grip.use_travel]
    holding, taken, gaps = {}, {}, {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for grip in grips:
            settings = grip.trapeze.grip
            if not settings.active:
                continue
            holding.setdefault(grip, []).append(frame)
            if frame - holding[grip][0] < settings.close_frames:
                continue  # the ends are still coming together
            place = other_end(settings).inverted() @ grip.matrix_world
            shift = taken.setdefault(grip, place).inverted() @ place.translation
            if settings.joint in ALONG:
                shift.z = 0.0
            gaps[grip] = max(gaps.get(grip, 0.0), shift.length)
    return {grip.name: (holding[grip][0], holding[grip][-1], gap) for grip, gap in gaps.items()}


def other_end(settings):
    """World matrix of what the grip, which is parented to its first end, holds on to."""
    if settings.use_world:
        return Matrix()
    owner, bone = settings.second_object, settings.second_bone
    return owner.matrix_world @ owner.pose.bones[bone].matrix if bone else owner.matrix_world


if __name__ == "__main__":
    leave_after(act, *sys.argv[1:])
