# SPDX-License-Identifier: GPL-3.0-or-later
"""A simple human for the demo scenes: an armature of seventeen bones with a smooth body around it.

It is 1.75 m tall, stands in a T-pose, faces -Y and has its left side towards +X. Metres throughout.
"""

import bpy
import numpy as np
from mathutils import Vector

from .figure import set_up
from .stage import material

# bone: parent, head, tail. Those on the left side have their mirror image on the right.
BONES = {
    "hips": (None, (0, 0, 0.95), (0, 0, 1.09)),
    "spine": ("hips", (0, 0, 1.09), (0, 0.015, 1.46)),
    "head": ("spine", (0, 0.015, 1.46), (0, 0, 1.75)),
    "shoulder.L": ("spine", (0.03, 0.01, 1.42), (0.18, 0.01, 1.43)),
    "upper_arm.L": ("shoulder.L", (0.18, 0.01, 1.43), (0.46, 0.015, 1.43)),
    "forearm.L": ("upper_arm.L", (0.46, 0.015, 1.43), (0.71, 0.01, 1.43)),
    "hand.L": ("forearm.L", (0.71, 0.01, 1.43), (0.89, 0.01, 1.43)),
    "thigh.L": ("hips", (0.09, 0, 0.92), (0.1, -0.01, 0.5)),
    "shin.L": ("thigh.L", (0.1, -0.01, 0.5), (0.105, 0.02, 0.09)),
    "foot.L": ("shin.L", (0.105, 0.02, 0.09), (0.115, -0.16, 0.03)),
}
FORWARD, UP = Vector((0, -1, 0)), Vector((0, 0, 1))
# bone: start, end, half width and half depth at the start, and at the end
FLESH = (
    ("hips", (0, 0, 0.96), (0, 0, 1.06), (0.15, 0.11), (0.135, 0.1)),
    ("spine", (0, 0.005, 1.1), (0, 0.01, 1.36), (0.13, 0.095), (0.165, 0.115)),
    ("head", (0, 0.01, 1.42), (0, 0, 1.58), (0.055, 0.055), (0.05, 0.05)),
    ("head", (0, -0.012, 1.615), (0, 0, 1.665), (0.072, 0.085), (0.08, 0.1)),
    ("shoulder.L", (0.06, 0.01, 1.415), (0.17, 0.01, 1.425), (0.065, 0.07), (0.06, 0.06)),
    ("upper_arm.L", (0.19, 0.01, 1.43), (0.45, 0.014, 1.43), (0.052, 0.05), (0.041, 0.041)),
    ("forearm.L", (0.47, 0.014, 1.43), (0.7, 0.01, 1.43), (0.043, 0.042), (0.029, 0.027)),
    ("hand.L", (0.73, 0.01, 1.43), (0.85, 0.01, 1.43), (0.035, 0.02), (0.034, 0.016)),
    ("thigh.L", (0.09, 0, 0.9), (0.1, -0.008, 0.52), (0.082, 0.088), (0.056, 0.058)),
    ("shin.L", (0.1, -0.005, 0.49), (0.105, 0.018, 0.12), (0.054, 0.058), (0.036, 0.038)),
    ("foot.L", (0.106, 0.025, 0.06), (0.114, -0.13, 0.032), (0.038, 0.045), (0.042, 0.026)),
)
BARE = ("head", "hand")  # parts in the colour of skin
AROUND, CAP = 20, 5  # corners of a cross-section, rings of a rounded end


def make_mannequin(scene, collection, name, suit, mass):
    """A figure in its rest pose, in a suit of the given material, set up as the button does it."""
    data = bpy.data.armatures.new(name)
    owner = bpy.data.objects.new(name, data)
    collection.objects.link(owner)
    data.display_type = "STICK"
    _make_bones(owner)
    body = _make_body(name, material(suit), material("Skin"))
    collection.objects.link(body)
    body.parent = owner
    body.modifiers.new("Armature", "ARMATURE").object = owner
    bpy.context.view_layer.update()
    set_up(owner, scene, mass)
    return owner


def _both_sides(rows):
    """Rows of a table with their mirror images: names end in .L and .R, x changes its sign."""
    for name, *rest in rows:
        yield name, rest, 1.0
        if name.endswith(".L"):
            yield f"{name[:-2]}.R", rest, -1.0


def _make_bones(owner):
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    bones = owner.data.edit_bones
    for name, ((parent, head, tail),), side in _both_sides((name, row) for name, row in BONES.items()):
        bone = bones.new(name)
        bone.head, bone.tail = (side * head[0], *head[1:]), (side * tail[0], *tail[1:])
        if parent:
            bone.parent = bones[f"{parent[:-2]}.R" if side < 0 and parent.endswith(".L") else parent]
            bone.use_connect = bone.parent.tail == bone.head
        bone.align_roll(UP if abs(head[0] - tail[0]) > 0.1 else FORWARD)
    bpy.ops.object.mode_set(mode="OBJECT")


def _make_body(name, suit, skin):
    """One mesh of rounded limbs, each following its bone."""
    points, faces, materials, groups = [], [], [], {}
    for bone, (start, end, first, last), side in _both_sides(FLESH):
        mirror = np.array([side, 1.0, 1.0])
        corners, sides = rounded(np.array(start) * mirror, np.array(end) * mirror, first, last)
        groups.setdefault(bone, []).extend(range(len(points), len(points) + len(corners)))
        faces += [[len(points) + corner for corner in face] for face in sides]
        materials += [int(bone.startswith(BARE))] * len(sides)
        points += corners.tolist()
    mesh = bpy.data.meshes.new(f"{name} Body")
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(suit)
    mesh.materials.append(skin)
    mesh.polygons.foreach_set("material_index", materials)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    body = bpy.data.objects.new(f"{name} Body", mesh)
    for bone, places in groups.items():
        body.vertex_groups.new(name=bone).add(places, 1.0, "REPLACE")
    return body


def rounded(start, end, first, last):
    """Points and faces of a limb with round ends: half widths and depths (2,) at its start and its end."""
    along = (end - start) / np.linalg.norm(end - start)
    side = np.cross(along, (0, 1, 0)) if abs(along[1]) < 0.9 else np.cross(along, (0, 0, 1))
    wide = side / np.linalg.norm(side)
    deep = np.cross(along, wide)
    rings = []
    bend = np.linspace(0, np.pi / 2, CAP + 1)[:-1]
    for centre, radii, angles in ((start, np.array(first), -bend[::-1]), (end, np.array(last), bend)):
        rings += [(centre + along * radii.mean() * np.sin(angle), radii * np.cos(angle)) for angle in angles]
    turn = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    circle = np.cos(turn)[:, None, None] * wide, np.sin(turn)[:, None, None] * deep
    points = [place + (radii[0] * circle[0] + radii[1] * circle[1])[:, 0] for place, radii in rings]
    poles = [start - along * np.mean(first), end + along * np.mean(last)]
    faces = []
    for ring in range(len(rings) - 1):
        for corner in range(AROUND):
            after = (corner + 1) % AROUND
            low, high = ring * AROUND, (ring + 1) * AROUND
            faces.append((low + corner, low + after, high + after, high + corner))
    bottom, top, last_ring = len(rings) * AROUND, len(rings) * AROUND + 1, (len(rings) - 1) * AROUND
    faces += [(bottom, (corner + 1) % AROUND, corner) for corner in range(AROUND)]
    faces += [(top, last_ring + corner, last_ring + (corner + 1) % AROUND) for corner in range(AROUND)]
    return np.concatenate([*points, np.array(poles)]), faces
