# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons: each reads through rig/, runs dynamics/, writes through rig/."""

import bpy

from . import add, apply, grips, headless, muscles, pushes, setup, simulate

CLASSES = (
    *setup.CLASSES, *muscles.CLASSES, *grips.CLASSES, *pushes.CLASSES, *simulate.CLASSES, *apply.CLASSES, *add.CLASSES)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    simulate.register()
    headless.register()
    add.register()


def unregister():
    add.unregister()
    headless.unregister()
    simulate.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
