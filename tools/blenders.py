# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blenders that the extension is tested in: bpy, Blender as a Python module, each in an environment of its own."""

import os
import subprocess
import sys

from tools.environments import ROOT, SetupError, clean_environ, environment

# Blender series and the Python it is built with; the exact release is in requirements/blender-SERIES.txt.
SERIES = {"4.2": "3.11", "4.5": "3.11", "5.0": "3.11", "5.2": "3.13"}
# The one that `dev.py test` takes for each Python: the newest long-term release.
DEFAULT = {"3.11": "4.5", "3.13": "5.2"}
DEBIAN_PACKAGES = (
    "libx11-6 libxrender1 libxfixes3 libxi6 libxkbcommon0 libxxf86vm1 libsm6 libgl1 libegl1 libgl1-mesa-dri libgomp1"
)


def blender_python(series):
    """The Python with this Blender in it. It is imported once, since the system libraries it needs may be missing."""
    python = environment(f"blender-{series}", SERIES[series], [f"blender-{series}.txt"])
    checked = python.parent.parent / "trapeze-imports"
    if not checked.exists():
        # os._exit: some releases crash when the interpreter winds down.
        probe = "import bpy, sys, os; print(bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
        answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, env=clean_environ())
        if answer.returncode:
            raise SetupError(_import_failed(series, answer.stderr))
        checked.write_text(answer.stdout)
    return python


def in_blender(series, module, *arguments, quiet=False, **environ):
    """Run a module of this repository in the Python of a Blender whose user folder is kept, and the process's end."""
    folder = ROOT / "build" / f"blender-{series}"
    folder.mkdir(parents=True, exist_ok=True)  # Blender ignores the variable unless the folder exists
    command = [blender_python(series), "-m", module, *map(str, arguments)]
    environ = clean_environ(BLENDER_USER_RESOURCES=str(folder), **environ)
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=quiet, text=True, errors="replace")


def packager(series):
    """Command of Blender's own tool that builds and validates extensions."""
    python = blender_python(series)
    library = "Lib" if os.name == "nt" else f"lib/python{SERIES[series]}"
    scripts = python.parent.parent / library / "site-packages" / "bpy" / series / "scripts"
    return [python, scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"]


def _import_failed(series, message):
    text = f"Blender {series} (the bpy module) does not start here:\n{message.strip()}"
    if sys.platform == "linux":
        text += f"\nIts system libraries on Debian and Ubuntu: sudo apt-get install {DEBIAN_PACKAGES}"
    return text
