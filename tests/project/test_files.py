# SPDX-License-Identifier: GPL-3.0-or-later
"""Promises about the project's files: licence lines, pins, one version everywhere, nothing of Blender at the root."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


def test_every_python_file_names_its_licence():
    others = [folder for folder in ROOT.iterdir() if folder.name.startswith(".") or folder.name == "build"]
    folders = [folder for folder in ROOT.iterdir() if folder.is_dir() and folder not in others]
    files = [*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    assert len(files) > 10
    licence = "# SPDX-License-Identifier: GPL-3.0-or-later"
    assert [file.name for file in files if not file.read_text(encoding="utf-8").startswith(licence)] == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_pinned(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9.]*", line)] == []


@pytest.mark.parametrize("path", [*(ROOT / "requirements").glob("wheels-*.txt")], ids=lambda path: path.name)
def test_zip_brings_numerics_but_never_numpy(path):
    packages = {line.partition("==")[0] for line in path.read_text().splitlines() if "==" in line}
    assert packages == {"scipy", "numba", "llvmlite"}


def test_manifest_carries_the_newest_version_of_the_changelog():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)[0] == MANIFEST["version"]


def test_root_package_imports_without_blender():
    """Scripts import dynamics from this folder; the extension's own __init__ must not get in the way."""
    done = subprocess.run([sys.executable, "__init__.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
