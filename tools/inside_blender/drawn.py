# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and straight props as plain lines seen by the scene's camera: a picture without any renderer."""

import numpy as np
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from tools.inside_blender.sheet import draw_line

PAPER, INK, FAINT = np.ones(3), np.array((0.55, 0.05, 0.06)), np.array((0.55, 0.57, 0.6))
# of a bounding box, by its corners
EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
THICK, THIN = 3.0, 1.2  # pixels to each side of a line


def draw_bones(scene, frame, size):
    """The picture (rows from below, columns, 3) of a frame: figures in red, others by the edges of their boxes."""
    scene.frame_set(frame)
    width, height = size
    scene.render.resolution_x, scene.render.resolution_y = size
    picture = np.tile(PAPER, (height, width, 1)).astype(np.float32)
    for ends, colour, thickness in lines(scene):
        places = [in_view(scene, end) for end in ends]
        if all(place[2] > 0.0 for place in places):
            draw_line(picture, *(place[:2] * size for place in places), colour, thickness)
    return picture


def in_view(scene, point):
    """Where the camera sees a point of the world: across and up, each from 0 to 1, and how far away."""
    return np.array(world_to_camera_view(scene, scene.camera, point))


def bones(scene):
    """Both ends of all bones, in the world."""
    for owner in scene.objects:
        if owner.type == "ARMATURE":
            for bone in owner.pose.bones:
                yield owner.matrix_world @ bone.head, owner.matrix_world @ bone.tail


def lines(scene):
    """(both ends in the world, colour, thickness) of everything that is drawn, figures last and so on top."""
    for owner in scene.objects:
        if owner.type == "MESH" and not owner.parent:
            corners = [owner.matrix_world @ Vector(corner) for corner in owner.bound_box]
            for first, second in EDGES:
                yield (corners[first], corners[second]), FAINT, THIN
    for ends in bones(scene):
        yield ends, INK, THICK
