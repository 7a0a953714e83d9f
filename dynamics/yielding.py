# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed joints that grips contradict: the grips win, and the joints give way by as little as they can.

What the loops ask for and no free joint can do must be done by keyed joints. Those that take part in it no longer move
exactly as keyed: each follows its keys by a spring and a damper far stronger than anything else in the chain, and
equally strong in all of them. Under the loops such springs come to rest where the sum of the squared deviations is
least. When the contradiction is over, the joints go back to their keys smoothly, within a quarter of a second.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .compile import compiled
from .joint import FREE, SPHERICAL
from .loop import constraint_matrix
from .mimic import multipliers
from .motion import goal_tables
from .muscle import Driven, Keyed, natural

FREQUENCY = 5000.0  # Hz: so fast is a yielding joint on the heaviest of what such joints move
GENTLE = 20.0  # Hz: where a step failed, limp joints are about to snap straight, and a firmer pull would tear at them
RETURN = 0.25  # s
TAKES_PART = 1e-3  # of the largest: below this a joint cannot help
SINGULAR = 1e-6  # of the largest


@dataclass(eq=False)
class Yielding(Driven):
    """A muscle in place of a Keyed one that grips contradict."""

    keyed: Any = None


class Returning:
    """From where a joint was on its way back to its keys: their values, turned or shifted by what dies away.

    offset, rate   deviation from the keys (freedoms) at the time `start`, and how fast it changed
    """

    reach = 1e-3  # s, for central differences of fourth order, as in motion.JointFunction

    def __init__(self, goal, offset, rate, start, turns):
        self.goal, self.offset, self.rate, self.start, self.turns = goal, offset, rate, start, turns

    def _offsets(self, times):
        """The deviation at the times (n, freedoms): a polynomial that ends at rest, twice differentiable there."""
        s = np.minimum((times - self.start) / RETURN, 1.0)[:, None]
        left = (1.0 - s) ** 3
        return left * (self.offset * (1.0 + 3.0 * s) + self.rate * RETURN * s)

    def _values(self, times):
        offsets, values = self._offsets(times), list(self.goal.sample(times))
        if len(values) > 3:  # a free root: places, turns, ...
            values[0] = values[0] + Rotation.from_quat(values[1][:, [1, 2, 3, 0]]).apply(offsets[:, 3:])
        k = 1 if len(values) > 3 else 0
        if self.turns:
            turned = Rotation.from_quat(values[k][:, [1, 2, 3, 0]]) * Rotation.from_rotvec(offsets[:, :3])
            values[k] = turned.as_quat()[:, [3, 0, 1, 2]]
        else:
            values[k] = values[k] + offsets
        return values[: k + 1]

    def sample(self, times):
        times = np.asarray(times, dtype=np.float64)
        plain = [part.copy() for part in self.goal.sample(times)]
        back = times < self.start + RETURN
        if not back.any():
            return tuple(plain)
        around = self.reach * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        near = [self._values(times[back] + shift) for shift in around]
        first = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * self.reach)
        second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * self.reach**2)
        free = len(plain) > 3
        shifts = np.stack([one[-1] for one in near], axis=1)
        if self.turns:
            turned = [Rotation.from_quat(one[-1][:, [1, 2, 3, 0]]) for one in near]
            # world rates for a root, those of the link frame for a joint
            apart = [one * turned[2].inv() if free else turned[2].inv() * one for one in turned]
            shifts = np.stack([one.as_rotvec() for one in apart], axis=1)
        for k, value in enumerate(near[2]):
            plain[k][back] = value
        k = 2 if free else 1
        plain[k][back] = np.einsum("k,nkj->nj", first, shifts)
        plain[k + (2 if free else 1)][back] = np.einsum("k,nkj->nj", second, shifts)
        if free:
            places = np.stack([one[0] for one in near], axis=1)
            plain[3][back] = np.einsum("k,nkj->nj", first, places)
            plain[5][back] = np.einsum("k,nkj->nj", second, places)
        return tuple(plain)


def give_way(chain, state, stubborn=()):
    """Let keyed joints of the chain that its connections contradict give way, and those that no longer are go back.

    stubborn   names of links that have to give way whatever the loops look like at this pose
    Changes what acts in the chain; the state stays as it is.
    """
    able = [link for link in chain.links if isinstance(link.acting.muscle, Keyed | Yielding)]
    if not able:
        return
    needed = _contradicted(chain, state, able) | set(stubborn)
    fresh = [link for link in able if link.name in needed and isinstance(link.acting.muscle, Keyed)]
    strengths = [natural(chain, state, link, GENTLE if stubborn else FREQUENCY) for link in fresh]
    strengths += [
        (link.acting.muscle.stiffness, link.acting.muscle.damping) for link in able
        if link.name in needed and isinstance(link.acting.muscle, Yielding)
    ]  # fmt: skip
    for link in fresh:
        stiffness, damping = max(strengths)
        keyed = link.acting.muscle
        muscle = Yielding(stiffness, damping, goal=keyed.goal, keyed=keyed)
        chain.act(link, muscle, link.acting.impedance, link.acting.limit)
    for link in able:
        if link.name not in needed and isinstance(link.acting.muscle, Yielding):
            _go_back(chain, state, link)


def _go_back(chain, state, link):
    """Make a yielding joint keyed again, from where it is."""
    keyed = link.acting.muscle.keyed
    q, v = state.coordinates(link)
    offset = deviations(link, keyed.goal, np.array([state.time]), q[None])[0]
    _, rates, _ = goal_tables(link, keyed.goal, [state.time])
    turns = link.joint.kind in (FREE, SPHERICAL)
    rate = v - rates[0, : len(v)]
    if turns:
        turned = Rotation.from_rotvec(offset[:3]).inv()
        for k in range(0, len(v), 3):
            rate[k : k + 3] = v[k : k + 3] - turned.apply(rates[0, k : k + 3])
    goal = Returning(keyed.goal, offset, rate, state.time, turns)
    chain.act(link, replace(keyed, goal=goal), link.acting.impedance, link.acting.limit)


def _contradicted(chain, state, able):
    """Names of the links among `able` that must help to keep the loops closed: the rows that no free joint moves."""
    hard = [k for k, grip in enumerate(chain.connections) if grip.spring is None]
    if not hard:
        return set()
    J = constraint_matrix(chain, state)[0]
    J = J.reshape(len(chain.connections), 6, -1)[hard].reshape(6 * len(hard), -1)
    nv, starts = len(state.v), compiled(chain).arrays.v_start
    fold = multipliers(chain)
    J[:, fold.independent] = J[:, :nv] @ fold.matrix
    J[:, np.setdiff1d(np.arange(nv), fold.independent)] = 0.0
    columns = {link.name: np.arange(starts[link.index + 1], starts[link.index + 2]) for link in able}
    given = [
        np.arange(starts[link.index + 1], starts[link.index + 2]) for link in chain.links if link.given is not None
    ]
    free = np.setdiff1d(np.arange(J.shape[1]), np.concatenate([*columns.values(), *given]))
    basis, sizes, _ = np.linalg.svd(J[:, free])
    rank = int((sizes > SINGULAR * max(sizes.max(initial=0.0), 1e-300)).sum())
    left = basis[:, rank:].T @ J
    helps = {name: np.linalg.norm(left[:, place]) for name, place in columns.items()}
    largest = max(helps.values())
    if largest < SINGULAR * max(np.abs(J).max(), 1e-300):
        return set()
    return {name for name, size in helps.items() if size > TAKES_PART * largest}


def deviations(link, goal, times, q):
    """How far a joint with the coordinates q (n, .) is from its goal: (n, freedoms), in the goal's frame."""
    wanted = goal_tables(link, goal, times)[0][:, : q.shape[1]]
    if link.joint.kind not in (FREE, SPHERICAL):
        return q - wanted
    ahead = Rotation.from_quat(wanted[:, [1, 2, 3, 0]])
    turned = (ahead.inv() * Rotation.from_quat(q[:, [1, 2, 3, 0]])).as_rotvec()
    return np.hstack([turned, ahead.inv().apply(q[:, 4:] - wanted[:, 4:])]) if link.joint.kind == FREE else turned


def note_deviations(chain, times, q, noted):
    """Enter the largest deviation of every yielding joint into `noted`: {name: (rad or m, time)}."""
    starts = compiled(chain).arrays.q_start
    for link in chain.links:
        if isinstance(link.acting.muscle, Yielding):
            part = q[:, starts[link.index + 1] : starts[link.index + 2]]
            sizes = np.abs(deviations(link, link.acting.muscle.keyed.goal, times, part)).max(axis=1)
            worst = int(np.argmax(sizes))
            if sizes[worst] > noted.get(link.name, (0.0, 0.0))[0]:
                noted[link.name] = float(sizes[worst]), float(times[worst])


def keyed_on_loops(chain):
    """Names of the links with a Keyed muscle between the ends of any connection and the roots of their trees."""
    found = []
    for grip in chain.connections:
        for link in (grip.real, grip.parent):
            while link is not chain.world:
                moves = link if link.follows is None else link.leader()[0]
                if isinstance(moves.acting.muscle, Keyed) and moves.name not in found:
                    found.append(moves.name)
                link = link.parent
    return found
