# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation leaves behind: every instant, and what happened."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .state import State

BOOKS = 9  # numbers of an instant before those of Work: kinetic, potential, momentum (6), closure


class SimulationDiverged(RuntimeError):
    """The motion could not be continued. `run` keeps everything up to `time`; `link` is where it broke."""

    def __init__(self, reason, link, time, run):
        super().__init__(f"{reason} at link {link.name}, t = {time:.6g} s")
        self.link, self.time, self.run = link, time, run


@dataclass(eq=False)
class Happening:
    """An event that took place: the event, its link, when, the impulses of the connections (N s, N m s), and what it
    did to the energy (J).
    """

    event: Any
    link: Any
    time: float
    impulse: dict = field(default_factory=dict)
    work: float = 0.0


class Work(NamedTuple):
    """Who has done how much work on the links that move freely, in joules since the beginning of a run.

    muscles       driven joints, and weight that is carried for them
    friction      viscous and Coulomb friction in joints
    stops         joint limits, pushing and met
    keyed         joints that move exactly as keyed, and props that move as given
    grips         soft grips, and grips that draw their ends together
    springs       dampers of line springs; the springs themselves are potential energy
    outside       wrenches, fields and joint forces from outside
    pushes        impulses from outside
    impacts       connections that take hold, and other changes of the structure
    handed_over   energy of links that begin or cease to move freely
    """

    muscles: np.ndarray
    friction: np.ndarray
    stops: np.ndarray
    keyed: np.ndarray
    grips: np.ndarray
    springs: np.ndarray
    outside: np.ndarray
    pushes: np.ndarray
    impacts: np.ndarray
    handed_over: np.ndarray

    @property
    def total(self):
        return sum(self)


class Run:
    """The recorded instants of a simulation.

    times (T)   positions (T, links, 3)   rotations (T, links, 4)   world poses of all links
    kinetic, potential, energy (T)   momentum (T, 6)   closure (T)
    work          Work, of arrays (T): who has done how much of it
    unexplained   (T) J: what the energy has changed by without work, the integrator's own error
    events        list of Happening
    gave_way      {name: (rad or m, time)}: how far keyed joints that connections contradict were from their keys
    """

    def __init__(self):
        self._parts = []  # (chain, times, q, v, positions, rotations, books, reactions) of one structure each
        self._joined = None
        self.events = []
        self.gave_way = {}

    def extend(self, chain, connections, times, q, v, positions, rotations, books, reactions):
        """Add instants of one structure."""
        self._parts.append((chain, connections, times, q, v, positions, rotations, books, reactions))
        self._joined = None

    def _all(self, k):
        if self._joined is None:
            self._joined = {n: np.concatenate([part[n] for part in self._parts]) for n in (2, 5, 6, 7)}
        return self._joined[k]

    def __len__(self):
        return sum(len(part[2]) for part in self._parts)

    times = property(lambda self: self._all(2))
    positions = property(lambda self: self._all(5))
    rotations = property(lambda self: self._all(6))
    kinetic = property(lambda self: self._all(7)[:, 0])
    potential = property(lambda self: self._all(7)[:, 1])
    energy = property(lambda self: self.kinetic + self.potential)
    momentum = property(lambda self: self._all(7)[:, 2:8])
    closure = property(lambda self: self._all(7)[:, 8])
    work = property(lambda self: Work(*self._all(7)[:, BOOKS:].T))

    @property
    def unexplained(self):
        rest = self.energy - self.work.total
        return rest - rest[0]

    def _find(self, i):
        count = len(self)
        if not -count <= i < count:
            raise ValueError(f"instant {i} is not among the {count} recorded")
        i %= count
        parts = iter(self._parts)
        part = next(parts)
        while i >= len(part[2]):
            i -= len(part[2])
            part = next(parts)
        return part, i

    def chain(self, i):
        """The chain as it was at instant i, before any event at that very time."""
        return self._find(i)[0][0]

    def state(self, i):
        """The complete state at instant i: restart from it with run.chain(i)."""
        part, k = self._find(i)
        return State(part[0], part[3][k].copy(), part[4][k].copy(), float(part[2][k]))

    def reaction(self, i):
        """[moment; force] of every connection at instant i, on its first link."""
        part, k = self._find(i)
        return dict(zip(part[1], part[8][k], strict=True))
