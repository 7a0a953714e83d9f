# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation while it runs: its links in the 3D viewport, as far as they are computed. The file is not touched."""

import bpy
import numpy as np

from ..operators import job
from ..rig.channels import matrix_from_quaternion
from ..rig.outline import Outline
from .overlay import draw_lines

COLOUR = (1.0, 0.85, 0.3, 0.9)
WIDTH = 2.0

_handle = None
_outlines = (None, [])  # of the run that is drawn: computed once


def draw():
    lines = live_lines()
    if len(lines):
        draw_lines(lines, COLOUR, bpy.context.region, WIDTH)


def live_lines():
    """Lines (n, 2, 3) of the links where the running simulation has them now, in Blender units."""
    global _outlines
    run = getattr(job.running, "run", None)
    if run is None or not len(run):
        return np.empty((0, 2, 3))
    read = job.running.read
    if _outlines[0] is not run:
        _outlines = run, [(Outline(figure.links), [link.index for link in figure.members]) for figure in read.figures]
    positions, rotations = run.positions[-1], matrix_from_quaternion(run.rotations[-1])
    lines = [outline.placed("links", positions[which], rotations[which]) for outline, which in _outlines[1]]
    return np.concatenate([np.empty((0, 2, 3)), *lines]) / read.metre


def register():
    global _handle
    if not bpy.app.background:
        _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister():
    global _handle, _outlines
    _outlines = None, []
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
