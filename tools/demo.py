# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: install the zip into Blender, simulate one of the demo scenes, film it, and say where everything is."""

import sys

from tools.blenders import DEBIAN_PACKAGES, in_blender
from tools.environments import ROOT

SCENES = ("giant", "high_bar", "swing", "artists", "shove")
FOLDER = ROOT / "build" / "demo"
FILES = {".blend": "scene", ".mp4": "film", ".apng": "moving picture", ".png": "contact sheet"}


def show(scene, series, archive):
    """Make the scene's files in build/demo; 0, or 1 if the act did not work out."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = {suffix: (FOLDER / scene).with_suffix(suffix) for suffix in FILES}
    for file in made.values():
        file.unlink(missing_ok=True)
    if in_blender(series, "tools.inside_blender.act", archive, scene.upper(), made[".blend"]).returncode:
        return 1
    print("Filming ...", flush=True)
    filmed = in_blender(series, "tools.inside_blender.film", made[".blend"], quiet=True)
    if filmed.returncode:
        print(cannot_film(filmed))
        made[".mp4"].unlink(missing_ok=True)  # of which nothing but the head was written
        in_blender(series, "tools.inside_blender.film", made[".blend"], "--drawn", quiet=True)
    for suffix, what in FILES.items():
        if made[suffix].exists():
            print(f"  {what + ':':16}{made[suffix].relative_to(ROOT)}")
    return 0 if made[".png"].exists() else 1


def cannot_film(filmed):
    last = (filmed.stderr.strip() or filmed.stdout.strip()).splitlines()[-3:]
    text = "\n".join([
        f"Blender cannot render here (exit code {filmed.returncode}); the contact sheet is drawn with lines instead.",
        *(f"  {line}" for line in last)])
    if sys.platform == "linux":
        text += f"\nIts system libraries on Debian and Ubuntu: sudo apt-get install {DEBIAN_PACKAGES}"
    return text
