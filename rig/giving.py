# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed joints that gave way to grips in the last simulation: which, by how much and when; kept with the scene."""

import json
from math import degrees

GAVE_WAY = "gave_way"  # custom property in the settings of the scene
FELT = 0.1  # degrees or millimetres: less is not worth a word
TOLD = 5  # how many bones a message names


def keep_giving(scene, read, run):
    """Store what gave way with the scene; returns what to tell about it."""
    bones = {link.name: place for place, link in read.links.items()}
    kept = []
    for name, (size, time) in run.gave_way.items():
        place = bones[name]
        slides = run.chain(0)[name].joint.name in ("free", "prismatic")
        amount = 1000.0 * size if slides else degrees(size)
        if amount > FELT:
            kept.append([place.bone or place.owner.name, amount, "mm" if slides else "°", time / read.seconds])
    kept.sort(key=lambda one: -one[1])
    scene.trapeze[GAVE_WAY] = json.dumps(kept)
    if not kept:
        return []
    more = f" and {len(kept) - TOLD} more" if len(kept) > TOLD else ""
    return [f"Gave way to grips: {', '.join(sentences(kept[:TOLD]))}{more}"]


def stored_giving(scene):
    """Sentences about the keyed joints that gave way in the last simulation."""
    return sentences(json.loads(scene.trapeze.get(GAVE_WAY, "[]")))


def sentences(kept):
    return [f"{bone} by {amount:.3g}{unit if unit == '°' else ' ' + unit} (frame {frame:.0f})"
            for bone, amount, unit, frame in kept]
