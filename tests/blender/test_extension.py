# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip in Blender: valid, installed from itself, with its own wheels, switched off and on at will."""

import importlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import addon_utils
import bpy
import numpy
import pytest

EXTENSION = "bl_ext.user_default.trapeze"


def user_folder():
    return Path(os.environ["BLENDER_USER_RESOURCES"]).resolve()


def registered():
    """Names of all of the extension's classes and properties that Blender knows."""
    names = {name for name in dir(bpy.types) if name.lower().startswith("trapeze_")}
    for owner in (bpy.types.Scene, bpy.types.Object, bpy.types.PoseBone):
        names |= {f"{owner.__name__}.{name}" for name in dir(owner) if name.startswith("trapeze")}
    if hasattr(bpy.ops, "trapeze"):
        names |= {f"bpy.ops.trapeze.{name}" for name in dir(bpy.ops.trapeze)}
    return names


def test_zip_is_valid_for_this_blender(archive):
    """Blender's own `extension validate` has nothing to say."""
    tool = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    done = subprocess.run([sys.executable, tool, "validate", archive], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in done.stdout.lower()


def test_zip_holds_the_extension_and_nothing_else(archive):
    """Code, licence and wheels for this platform: no tests, no caches, no numpy."""
    with zipfile.ZipFile(archive) as content:
        names = [name for name in content.namelist() if not name.endswith("/")]
    wheels = [name.removeprefix("wheels/") for name in names if name.startswith("wheels/")]
    assert sorted({name.partition("-")[0] for name in wheels}) == ["llvmlite", "numba", "scipy"]
    assert f"cp{sys.version_info.major}{sys.version_info.minor}" in {name.split("-")[2] for name in wheels}
    rest = {name.partition("/")[0] for name in names if not name.startswith("wheels/")}
    code = {"__init__.py", "properties.py", "dynamics", "rig", "operators", "ui"}
    assert rest == code | {"LICENSE", "blender_manifest.toml"}
    assert not [name for name in names if "__pycache__" in name]


def test_code_under_test_is_the_installed_zip(trapeze):
    assert Path(trapeze.__file__).resolve().is_relative_to(user_folder())


def test_repository_is_not_importable():
    """Otherwise a test could pass on files that the zip does not have."""
    for name in ("dynamics", "rig", "operators", "properties"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


@pytest.mark.parametrize("package", ["scipy", "numba", "llvmlite"])
def test_wheels_come_with_the_extension(package):
    assert Path(importlib.import_module(package).__file__).resolve().is_relative_to(user_folder())


def test_numpy_is_the_one_of_blender():
    """A second numpy would break every other extension's compiled code."""
    assert not Path(numpy.__file__).resolve().is_relative_to(user_folder())


def test_numba_compiles_and_keeps_its_cache_in_the_extension_folder(trapeze):
    import numba

    assert Path(numba.config.CACHE_DIR).resolve().is_relative_to(user_folder())
    assert Path(numba.config.CACHE_DIR).is_dir()

    @numba.njit
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    assert total(numpy.arange(101.0)) == 5050.0


def test_disable_and_enable_again():
    """Disabling leaves nothing behind in Blender, enabling brings everything back, any number of times."""
    before = registered()
    assert {name.partition(".")[0] for name in before} >= {"Scene", "Object", "PoseBone"}
    for _ in range(3):
        addon_utils.disable(EXTENSION)
        assert registered() == set()
        assert addon_utils.enable(EXTENSION) is not None
        assert registered() == before
