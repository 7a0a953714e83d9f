# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and overlays: they draw, they compute nothing."""

import bpy

from . import arrows, grips, live, muscles, overlay, properties_editor, pushes, sidebar

CLASSES = (*grips.CLASSES, *pushes.CLASSES, *sidebar.CLASSES, *properties_editor.CLASSES, *muscles.CLASSES)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    overlay.register()
    live.register()
    arrows.register()


def unregister():
    arrows.unregister()
    live.unregister()
    overlay.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
