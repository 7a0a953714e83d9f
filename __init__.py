# SPDX-License-Identifier: GPL-3.0-or-later
"""Trapeze: physics-consistent character animation with grips that close and open kinematic loops.

Blender is imported inside the functions only, so that the folder dynamics/ next to this file works without it.
"""


def register():
    import os

    import bpy

    # numba reads this when it is imported, and the folder of an extension may be read-only.
    cache = bpy.utils.extension_path_user(__package__, path="numba", create=True)
    os.environ.setdefault("NUMBA_CACHE_DIR", cache)
    for part in _parts():
        part.register()


def unregister():
    for part in reversed(_parts()):
        part.unregister()


def _parts():
    """The modules that register classes with Blender, in the order in which they need each other."""
    from . import operators, properties, ui

    return properties, operators, ui
