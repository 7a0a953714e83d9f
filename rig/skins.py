# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes that follow the bones of an armature, and the shape that they give to each bone.

Meshes count in their rest shape, before modifiers, in the space of the armature: those with an Armature modifier or
parented with deformation, by their vertex weights, and those parented to a single bone, as a whole.
"""

import bpy
import numpy as np

from .shapes import skin

MOST = 20000  # triangles that are looked at in one mesh; of a denser one, evenly picked ones


def skin_shapes(skeleton, ends):
    """{bone number: Shape in armature space} for the bones that some mesh follows; `ends` (b, 3) of their segments."""
    parts = [part for mesh in bound_meshes(skeleton.owner) if (part := _read(mesh, skeleton))]
    if not parts:
        return {}
    points, triangles, weights, offset = [], [], [], 0
    for some, faces, (vertices, bones, amounts) in parts:
        points.append(some)
        triangles.append(faces + offset)
        weights.append((vertices + offset, bones, amounts))
        offset += len(some)
    together = tuple(np.concatenate(column) for column in zip(*weights))
    return skin(np.concatenate(points), np.concatenate(triangles), together, skeleton.heads, ends)


def bound_meshes(owner):
    """The mesh objects that follow the armature object or one of its bones."""
    return [mesh for mesh in bpy.data.objects if owner in _armatures(mesh)]


def armature_of(owner):
    """The armature that an object is, or that its mesh follows; None if there is none."""
    if owner is None or owner.type == "ARMATURE":
        return owner
    return next((rig for rig in _armatures(owner) if rig), None)


def _armatures(mesh):
    """The armatures that a mesh follows."""
    if mesh.type != "MESH" or mesh.trapeze.role == "PROP":
        return
    if mesh.parent and mesh.parent.type == "ARMATURE" and mesh.parent_type in ("ARMATURE", "BONE"):
        yield mesh.parent
    for modifier in mesh.modifiers:
        if modifier.type == "ARMATURE":
            yield modifier.object


def _read(mesh, skeleton):
    """Points in armature space, triangles, and weights of one mesh; None if it has no faces or follows no bone."""
    data = mesh.data
    data.calc_loop_triangles()
    if not len(data.loop_triangles):
        return None
    points = np.empty(len(data.vertices) * 3, dtype=np.float32)
    data.vertices.foreach_get("co", points)
    triangles = np.empty(len(data.loop_triangles) * 3, dtype=np.int32)
    data.loop_triangles.foreach_get("vertices", triangles)
    triangles = triangles.reshape(-1, 3)
    triangles = triangles[:: -(-len(triangles) // MOST)]
    used, triangles = np.unique(triangles, return_inverse=True)
    place = np.array(skeleton.owner.matrix_world.inverted_safe() @ mesh.matrix_world)
    points = points.reshape(-1, 3)[used] @ place[:3, :3].T + place[:3, 3]
    weights = _weights(mesh, used, skeleton)
    return (points, triangles.reshape(-1, 3), weights) if len(weights[0]) else None


def _weights(mesh, used, skeleton):
    """Arrays (vertex, bone, weight) of the used vertices; the weights of a vertex add up to one."""
    if mesh.parent == skeleton.owner and mesh.parent_type == "BONE":
        bone = skeleton.index.get(mesh.parent_bone, -1)
        count = len(used) if bone >= 0 else 0
        return np.arange(count), np.full(count, bone), np.ones(count)
    bones = {group.index: skeleton.index[group.name] for group in mesh.vertex_groups if group.name in skeleton.index}
    vertices = mesh.data.vertices
    rows = [
        (number, bones[group.group], group.weight)
        for number, vertex in enumerate(used.tolist()) for group in vertices[vertex].groups if group.group in bones]
    if not rows:
        return np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0)
    number, bone, weight = (np.array(column) for column in zip(*rows))
    bone_deforms = skeleton.deform[bone]
    number, bone, weight = number[bone_deforms], bone[bone_deforms], weight[bone_deforms]
    total = np.bincount(number, weight, len(used))
    return number, bone, weight / np.maximum(total[number], 1e-12)
