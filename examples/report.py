# SPDX-License-Identifier: GPL-3.0-or-later
"""What an example prints: degrees of freedom around every event, energy error, closure."""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dynamics import closed_loop


class Count(NamedTuple):
    """Degrees of freedom: all joints together, as the paper counts them, and what the loops leave of them."""

    time: float
    what: str  # what had just happened
    tree: int  # N_O
    joints: int  # N_J, tree joints and joints of the virtual links: the paper's "degrees of freedom in total"
    rank: int  # m
    mobility: int  # N_F = N_J - m


def count_freedoms(run, beginning, words):
    """Counts at the beginning of a run and right after each of its events.

    beginning   says what holds at first;  words   says what the events mean, by the name of their link
    """
    counts = [_count(run, 0, beginning)]
    for happening in run.events:
        # an instant at the very time of an event was recorded before it
        after = int(np.searchsorted(run.times, happening.time + 1e-9))
        counts.append(_count(run, after, words[happening.link.name])._replace(time=happening.time))
    return counts


def _count(run, i, what):
    state = run.state(i)
    loop = closed_loop(run.chain(i), state)
    return Count(float(run.times[i]), what, len(state.v), loop.J_C.shape[1], loop.rank, loop.mobility)


def energy_error(run):
    """Largest change of the total energy over the largest kinetic energy."""
    return float(np.abs(run.energy - run.energy[0]).max() / run.kinetic.max())


def tell(title, run, counts):
    print(title)
    print(f"  {'t (s)':>8}  {'':24}  tree N_O  in total N_J  rank m  mobility N_F")
    for time, what, *numbers in counts:
        tree, joints, rank, mobility = numbers
        print(f"  {time:8.4f}  {what:24}  {tree:8}  {joints:12}  {rank:6}  {mobility:12}")
    print(f"  energy error: {energy_error(run):.1e} of the peak kinetic energy")
    print(f"  loops closed to {run.closure.max():.1e} m or rad")


def summary(run):
    """One line for the picture."""
    error, gap = energy_error(run), run.closure.max()
    return f"A limp figure of 16 degrees of freedom; energy kept to {error:.0e} of its peak, loops to {gap:.0e} m"


def options(description, default):
    """The command line that all examples share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=default, metavar="FILE", help=f"the picture; else {default}")
    return parser.parse_args()
