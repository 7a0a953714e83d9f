# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender that is installed on this machine: find it, install the zip into it, open it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.environments import SetupError

# Folders in which Blender's own downloads and the usual stores put it.
PLACES = {
    "darwin": ["/Applications/Blender*.app/Contents/MacOS/Blender"],
    "win32": [
        "C:/Program Files/Blender Foundation/Blender */blender.exe",
        "C:/Program Files (x86)/Steam/steamapps/common/Blender/blender.exe",
    ],
    "linux": [
        "/opt/blender*/blender",
        "/snap/bin/blender",
        "~/blender*/blender",
        "~/Downloads/blender-*/blender",
        "~/.local/share/Steam/steamapps/common/Blender/blender",
    ],
}


def find_blender():
    """Path of a Blender: the environment variable BLENDER, the one on the PATH, or the newest in the usual places."""
    named = os.environ.get("BLENDER")
    if named:
        if not shutil.which(named):
            raise SetupError(f"the environment variable BLENDER names {named}, which cannot be run")
        return shutil.which(named)
    if shutil.which("blender"):
        return shutil.which("blender")
    found = []
    for pattern in PLACES.get(sys.platform, []):
        whole = Path(pattern).expanduser()
        found += Path(whole.anchor).glob(str(whole.relative_to(whole.anchor)))
    if not found:
        raise SetupError("no Blender was found on this machine; set the environment variable BLENDER to its executable")
    return max(found, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))])


def install_and_open(archive, arguments):
    """Install the zip into the person's own Blender, then open it; its exit code."""
    executable = find_blender()
    print(f"Installing {archive.name} into {executable}", flush=True)
    install = [executable, "--command", "extension", "install-file", "--repo", "user_default", "--enable", archive]
    if subprocess.run(install).returncode:
        raise SetupError(f"{executable} could not install {archive.name}; its message is above")
    return subprocess.run([executable, *arguments]).returncode
