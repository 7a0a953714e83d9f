# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes in the 3D viewport: an arrow that ends where it strikes, with strength and frame beside it."""

import blf
import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ..rig.pushes import pushes
from .overlay import draw_lines

COLOUR = (1.0, 0.3, 0.15, 0.9)
LENGTH = 3.0  # times the size of the Empty
HEAD = 0.25  # of the arrow
WIDTH = 2.5
SIZE = 12.0  # of the letters, points

_handles = []


def arrow_lines(push):
    """Lines (4, 2, 3) of the arrow of a push, in the world."""
    matrix = np.array(push.matrix_world, dtype=float)
    axes = matrix[:3, :3] / np.maximum(np.linalg.norm(matrix[:3, :3], axis=0), 1e-12)
    tip, along = matrix[:3, 3], axes[:, 2] * LENGTH * push.empty_display_size
    barbs = [tip - HEAD * along + side * 0.5 * HEAD * np.linalg.norm(along) * axes[:, 0] for side in (-1.0, 1.0)]
    return np.array([[tip - along, tip], [barbs[0], tip], [barbs[1], tip], [barbs[0], barbs[1]]])


def shown():
    """The pushes that can be seen in the viewport of the context."""
    context = bpy.context
    settings, space = context.scene.trapeze, context.space_data
    if not (settings.show_overlay and settings.show_pushes and space.overlay.show_overlays):
        return []
    return [push for push in pushes(context.scene) if push.visible_in_viewport_get(space) and push.visible_get()]


def draw_arrows():
    for push in shown():
        draw_lines(arrow_lines(push), COLOUR, bpy.context.region, WIDTH)


def draw_labels():
    """One line of text for each push; those of pushes in the same place stand below each other."""
    context, taken = bpy.context, []
    size = SIZE * context.preferences.system.ui_scale
    for push in shown():
        place = location_3d_to_region_2d(context.region, context.region_data, arrow_lines(push)[0, 0])
        if place is None:
            continue
        while any((place - other).length < size for other in taken):
            place.y -= 1.3 * size
        taken.append(place)
        settings = push.trapeze.push
        blf.size(0, size)
        blf.color(0, *COLOUR)
        blf.position(0, place.x + 0.5 * size, place.y + 0.5 * size, 0)
        blf.draw(0, f"{settings.strength:.4g} N s, frame {settings.frame:g}")


def register():
    if not bpy.app.background:
        add = bpy.types.SpaceView3D.draw_handler_add
        _handles.append(add(draw_arrows, (), "WINDOW", "POST_VIEW"))
        _handles.append(add(draw_labels, (), "WINDOW", "POST_PIXEL"))


def unregister():
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
