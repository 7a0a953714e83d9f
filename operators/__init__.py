# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons: each reads through rig/, runs dynamics/, writes through rig/."""

import bpy

from . import apply, setup

CLASSES = (*setup.CLASSES, *apply.CLASSES)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
