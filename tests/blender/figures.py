# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of whole simulations share: small figures, bars, grips, and how to look at what Blender shows."""

from math import pi

import bpy
import numpy as np

# name: parent, head, tail. A hanging gymnast, hands up; no bone points straight against its parent.
GYMNAST = {
    "hips": (None, (0, 0, 1.00), (0, 0.02, 1.15)),
    "chest": ("hips", (0, 0.02, 1.15), (0, 0, 1.50)),
    "head": ("chest", (0, 0, 1.50), (0, 0.01, 1.75)),
    "upper_arm.L": ("chest", (0.18, 0, 1.45), (0.20, 0.01, 1.73)),
    "forearm.L": ("upper_arm.L", (0.20, 0.01, 1.73), (0.22, 0, 1.98)),
    "hand.L": ("forearm.L", (0.22, 0, 1.98), (0.22, 0.01, 2.08)),
    "upper_arm.R": ("chest", (-0.18, 0, 1.45), (-0.20, 0.01, 1.73)),
    "forearm.R": ("upper_arm.R", (-0.20, 0.01, 1.73), (-0.22, 0, 1.98)),
    "hand.R": ("forearm.R", (-0.22, 0, 1.98), (-0.22, 0.01, 2.08)),
    "thigh.L": ("hips", (0.10, 0, 0.98), (0.11, -0.01, 0.55)),
    "shin.L": ("thigh.L", (0.11, -0.01, 0.55), (0.11, 0, 0.12)),
    "foot.L": ("shin.L", (0.11, 0, 0.12), (0.11, -0.14, 0.02)),
    "thigh.R": ("hips", (-0.10, 0, 0.98), (-0.11, -0.01, 0.55)),
    "shin.R": ("thigh.R", (-0.11, -0.01, 0.55), (-0.11, 0, 0.12)),
    "foot.R": ("shin.R", (-0.11, 0, 0.12), (-0.11, -0.14, 0.02)),
}


def make_rig(bones=GYMNAST, name="Gymnast", connected=True):
    """An armature object from {bone: (parent, head, tail)}."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (parent, head, tail) in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = connected and (bone.parent.tail - bone.head).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def make_figure(bones=GYMNAST, name="Gymnast", connected=True):
    rig = make_rig(bones, name, connected)
    bpy.ops.trapeze.set_up()
    return rig


def make_bar(place=(0, 0.005, 2.03), name="Bar", length=2.4):
    """A horizontal bar along X."""
    bpy.ops.mesh.primitive_cylinder_add(radius=0.014, depth=length, location=place, rotation=(0, pi / 2, 0))
    bar = bpy.context.object
    bar.name = name
    return bar


def make_box(place, size=(0.3, 0.2, 0.1), name="Box", motion="DYNAMIC"):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    box = bpy.context.object
    box.name = name
    for vertex in box.data.vertices:
        vertex.co = [value * width for value, width in zip(vertex.co, size)]
    bpy.ops.trapeze.set_prop(motion=motion)
    return box


def select(*owners, active=None):
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.view_layer.objects:
        other.select_set(other in owners)
    bpy.context.view_layer.objects.active = active or owners[-1]


def select_bones(rig, names, *others):
    """Pose Mode with these bones selected, and other objects beside the rig."""
    select(*others, rig)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        owner = bone if bpy.app.version >= (5, 0, 0) else bone.bone
        owner.select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[-1]]


def grab(scene, rig, names, *others, frame=1):
    """Press Grab with these bones and objects selected; returns the new grips."""
    before = set(scene.objects)
    select_bones(rig, names, *others)
    scene.frame_set(frame)
    assert bpy.ops.trapeze.grab() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    return sorted(set(scene.objects) - before, key=lambda owner: owner.name)


def release(scene, rig, names, frame):
    select_bones(rig, names)
    scene.frame_set(frame)
    assert bpy.ops.trapeze.release() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")


def go_to(scene, frame):
    scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
    return bpy.context.evaluated_depsgraph_get()


def shown(scene, owner, frames, bones=None):
    """World matrices (F, n, 4, 4) that Blender shows: of bones, or of the object itself (F, 4, 4)."""
    found = []
    for frame in frames:
        seen = owner.evaluated_get(go_to(scene, frame))
        world = np.array(seen.matrix_world, dtype=float)
        if bones is None:
            found.append(world)
        else:
            found.append([world @ np.array(seen.pose.bones[name].matrix, dtype=float) for name in bones])
    return np.array(found)


def link_names(rig):
    return [bone.name for bone in rig.pose.bones if bone.trapeze_part == "LINK"]


def centre_of_mass(scene, rig, frames):
    """(F, 3) in Blender units, from the bones as Blender shows them and the masses on them."""
    bones = [bone for bone in rig.pose.bones if bone.trapeze_part != "IGNORED"]
    masses = np.array([bone.trapeze_mass for bone in bones])
    centres = np.array([[*bone.trapeze_centre, 1.0] for bone in bones])
    poses = shown(scene, rig, frames, [bone.name for bone in bones])
    places = np.einsum("fnij,nj->fni", poses, centres)[..., :3]
    return masses @ places / masses.sum()


def curves_of(action):
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [
        curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags
        for curve in bag.fcurves]


def dump(action):
    """Every number of an action, to compare bit by bit."""
    result = {}
    for curve in curves_of(action):
        points = curve.keyframe_points
        for name, size in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
            values = np.zeros(len(points) * size, dtype=np.float32)
            points.foreach_get(name, values)
            result[curve.data_path, curve.array_index, name] = values.tobytes()
        result[curve.data_path, curve.array_index] = curve.mute, [point.interpolation for point in points]
    return result
