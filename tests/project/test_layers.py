# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the code, ui -> operators -> rig -> properties -> dynamics, read off the imports of every file.

Inside Blender the folders are parts of bl_ext.user_default.trapeze, so they find each other by relative imports only.
"""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ["dynamics", "properties", "rig", "operators", "ui"]  # each may use those before it
NUMERICS = {"numpy", "scipy", "numba", "llvmlite"}
BLENDER = {"bpy", "bpy_extras", "mathutils", "gpu", "gpu_extras", "blf", "bmesh", "addon_utils"}


def layer_files():
    for layer in LAYERS:
        folder = ROOT / layer
        yield from sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imports(path, tree):
    """Every imported module as (line, name): of the extension as ".rig.read", of others as "numpy.linalg"."""
    package = path.relative_to(ROOT).parent.parts
    for node in tree:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            # `from . import operators` names the module only after the word import.
            ends = [base] if base else [[alias.name] for alias in node.names]
            yield from ((node.lineno, "." + ".".join(end)) for end in ends)


def violations(path, text):
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    below = LAYERS[: LAYERS.index(layer) + 1]
    outside = set(sys.stdlib_module_names) | NUMERICS | (BLENDER if layer != "dynamics" else set())
    tree = ast.parse(text)
    # Update callbacks of properties call into rig/ when they run; what counts there is the import of the module.
    nodes = tree.body if layer == "properties" else ast.walk(tree)
    for line, name in imports(path, nodes):
        if name.startswith("."):
            if name.split(".")[1] not in below:
                yield f"line {line}: {layer} must not use {name[1:]}"
        elif name.partition(".")[0] not in outside:
            yield f"line {line}: {name} is neither standard, nor numerics, nor a relative import"


@pytest.mark.parametrize("path", [*layer_files()], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    assert list(violations(path, path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "file, text",
    [
        ("dynamics/chain.py", "import bpy"),
        ("dynamics/chain.py", "def late():\n    from mathutils import Vector"),
        ("dynamics/kernels/mass.py", "from ...rig import read"),
        ("dynamics/chain.py", "from .. import properties"),
        ("rig/read.py", "from ..operators.simulate import job"),
        ("rig/read.py", "from dynamics import Chain"),
        ("rig/read.py", "import mujoco"),
        ("operators/simulate.py", "from .. import ui"),
        ("properties.py", "from .rig import figure"),
    ],
)
def test_wrong_imports_are_seen(file, text):
    assert len(list(violations(ROOT / file, text))) == 1


@pytest.mark.parametrize(
    "file, text",
    [
        ("dynamics/kernels/mass.py", "import numpy as np\nfrom ..jit import njit\nfrom . import spatial"),
        ("rig/read.py", "import bpy\nfrom ..dynamics import Chain\nfrom . import bones"),
        ("ui/panels.py", "from .. import operators"),
        ("properties.py", "def update(figure, context):\n    from .rig.figure import spread_mass"),
    ],
)
def test_right_imports_are_accepted(file, text):
    assert list(violations(ROOT / file, text)) == []
