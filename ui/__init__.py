# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and overlays: they draw, they compute nothing."""

import bpy

CLASSES = []


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
