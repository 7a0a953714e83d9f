# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests in Blender share: the extension as it is installed, and an empty scene for every test."""

import importlib
import os
import sys
from pathlib import Path

import bpy
import pytest

EXTENSION = "bl_ext.user_default.trapeze"
sys.path.insert(0, str(Path(__file__).resolve().parent))  # figures.py, which several tests share


@pytest.fixture(autouse=True)
def scene():
    """An empty file with one scene, Blender's own settings, and the extension still enabled."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


@pytest.fixture
def trapeze():
    """The extension's own package, from the installed zip."""
    return importlib.import_module(EXTENSION)


@pytest.fixture
def archive():
    """The zip that was installed."""
    return Path(os.environ["TRAPEZE_ZIP"])
