# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures in the 3D viewport: links, joints and centres of mass, drawn over the scene.

The lines of a figure are worked out when its settings or its bones change, and move with the bones while a motion
plays.
"""

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from gpu_extras.batch import batch_for_shader

from ..rig.errors import RigError
from ..rig.links import link_poses, read_links
from ..rig.outline import Outline

COLOURS = {
    "links": (0.35, 0.65, 1.0, 0.55),
    "joints": (1.0, 0.75, 0.2, 0.9),
    "marks": (1.0, 0.4, 0.7, 0.8),
    "whole": (1.0, 0.2, 0.5, 1.0)}
WIDTH = 1.5  # pixels

_outlines = {}
_handle = None


def draw():
    """Draw the figures that can be seen in the viewport of the context."""
    context = bpy.context
    settings = context.scene.trapeze
    space = context.space_data
    if not settings.show_overlay or not space.overlay.show_overlays:
        return
    kinds = [kind for kind, shown in (
        ("links", settings.show_links), ("joints", settings.show_joints), ("marks", settings.show_centres)) if shown]
    depsgraph = context.evaluated_depsgraph_get()
    figures = [owner for owner in context.visible_objects if owner.trapeze.role == "FIGURE" and owner.mode != "EDIT"]
    for owner in figures:
        if owner.visible_in_viewport_get(space):
            _draw_figure(owner, depsgraph, kinds, context.region)


def _draw_figure(owner, depsgraph, kinds, region):
    outline = _outline(owner, depsgraph)
    if outline is None:
        return
    positions, rotations = link_poses(owner, depsgraph, outline.names)
    unit = depsgraph.scene.unit_settings.scale_length
    for kind in kinds:
        draw_lines(outline.placed(kind, positions, rotations) / unit, COLOURS[kind], region)
    if "marks" in kinds:
        draw_lines(outline.whole(positions, rotations) / unit, COLOURS["whole"], region, 2.0 * WIDTH)


def _outline(owner, depsgraph):
    """The lines of a figure; None while it cannot be simulated, which the panel and Simulate say."""
    key = owner.session_uid
    if key not in _outlines:
        try:
            _outlines[key] = Outline(read_links(owner, depsgraph))
        except RigError:
            _outlines[key] = None
    return _outlines[key]


def draw_lines(lines, colour, region, width=WIDTH):
    if not len(lines):
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": np.ascontiguousarray(lines.reshape(-1, 3), dtype=np.float32)})
    gpu.state.blend_set("ALPHA")
    shader.uniform_float("viewportSize", (region.width, region.height))
    shader.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
    shader.uniform_float("color", colour)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


@persistent
def forget(*_):
    """Work out the lines anew at the next redraw: something in the file has changed."""
    _outlines.clear()


def register():
    global _handle
    if not bpy.app.background:
        _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")
    for handlers in _handlers():
        handlers.append(forget)


def unregister():
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
    for handlers in _handlers():
        handlers.remove(forget)
    _outlines.clear()


def _handlers():
    handlers = bpy.app.handlers
    return handlers.depsgraph_update_post, handlers.load_post, handlers.undo_post, handlers.redo_post
