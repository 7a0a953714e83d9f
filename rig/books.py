# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy books of the last simulation, kept with the scene: who did how much work, and what nobody did."""

import json
from dataclasses import dataclass

import numpy as np

BOOKS = "books"  # custom property in the settings of the scene
MUCH = 0.01  # of the peak kinetic energy: more than this unexplained is worth a warning
SMALL = 1e-3  # of the largest: work below this is not listed

NAMES = {
    "muscles": "Muscles", "keyed": "Keyed joints and props", "friction": "Friction", "stops": "Stops",
    "grips": "Soft and closing grips", "springs": "Springs", "outside": "Force fields", "pushes": "Pushes",
    "impacts": "Catches", "handed_over": "Taken over from keys"}


@dataclass
class Books:
    peak: float  # J: largest kinetic energy
    change: float  # J: of the energy, from the first instant to the last
    unexplained: float  # J: largest change without work
    work: dict  # {account: J at the end}

    @property
    def share(self):
        """What is unexplained, of the peak kinetic energy."""
        return self.unexplained / self.peak if self.peak > 0.0 else 0.0


def keep_books(scene, run):
    """Store the books of a run with the scene; returns what to tell about them."""
    energy = run.energy
    kept = Books(
        float(run.kinetic.max()), float(energy[-1] - energy[0]), float(np.abs(run.unexplained).max()),
        {name: float(work[-1]) for name, work in run.work._asdict().items()})
    scene.trapeze[BOOKS] = json.dumps(vars(kept))
    return [f"{sentence(kept)}; use more substeps"] if kept.share > MUCH else []


def stored_books(scene):
    """The books of the last simulation, or None."""
    text = scene.trapeze.get(BOOKS)
    return Books(**json.loads(text)) if text else None


def sentence(books):
    return f"Energy: {100.0 * books.share:.2g} % unexplained"


def rows(books):
    """Names and joules of all that did notable work, then of the change that it adds up to."""
    least = SMALL * max(1e-9, *(abs(work) for work in books.work.values()))
    listed = [(name, books.work[account]) for account, name in NAMES.items() if abs(books.work[account]) > least]
    return [*listed, ("Change of energy", books.change)]


def books_text(books):
    return "\n".join([sentence(books), *(f"  {name}: {joules:.4g} J" for name, joules in rows(books))])
