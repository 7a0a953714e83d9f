# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and overlays: they draw, they compute nothing."""

import bpy

from . import grips, live, muscles, overlay, properties_editor, sidebar

CLASSES = (*grips.CLASSES, *sidebar.CLASSES, *properties_editor.CLASSES, *muscles.CLASSES)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    overlay.register()
    live.register()


def unregister():
    live.unregister()
    overlay.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
