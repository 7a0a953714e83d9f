# SPDX-License-Identifier: GPL-3.0-or-later
"""Torques that a keyed motion takes: inverse dynamics of a whole chain that moves as its goals say.

All joints and roots move as given, so the Newton-Euler forces of the tree, 000 (7), say what every joint must bring.
What a floating root would have to bring is carried by the connections instead, in the least-squares sense: with F the
rows of J' that belong to the roots, the loop forces are the shortest ones with F f as near to the roots' wrench as can
be, and the joints bring tree forces - J'f. Without connections the wrench stays missing: nothing can carry it.
"""

from dataclasses import dataclass

import numpy as np

from .forward import check_wrenches, tree_forces
from .joint import FREE
from .loop import constraint_matrix
from .mimic import multipliers
from .motion import as_goal, goal_tables

SMALL = 1e-9  # of the largest: rounding
# Of the largest: a direction in which connections carry less is none. Two hands on one bar, half a degree askew, could
# carry a moment about it only with forces a hundred times too large against each other.
WEAK = 1e-2


@dataclass
class FeedForward:
    """torques: {link: (T, freedoms)} in the joints, link frame; missing: {root: (T, 6)} what nothing carries."""

    times: np.ndarray
    torques: dict
    missing: dict

    def of(self, link):
        """The torque of a link as a function of time, for Driven(feed_forward=)."""
        return Torque(self.times, self.torques[link])


class Torque:
    """A torque over time: straight lines between samples, as it is before the first and after the last."""

    def __init__(self, times, values):
        self.times, self.values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)

    def __call__(self, time):
        return np.array([np.interp(time, self.times, column) for column in self.values.T])


def feed_forward(chain, goals, times, wrenches=None):
    """What the joints must bring for the whole chain to move along its goals, at the given times, friction included.

    goals      {link: joint motion, Motion of a free root, or function of time}; links without one stay at rest
    wrenches   as for forward_dynamics
    The chain's muscles play no part; its connections carry what roots need; links with a motion move along it.
    """
    times = np.asarray(times, dtype=np.float64)
    bare = chain.copy()
    for link in bare.links:
        if link.acting.muscle is not None:
            bare.act(link, None, link.acting.impedance, link.acting.limit)
    wrenches = {bare.find(link): wrench for link, wrench in check_wrenches(chain, wrenches).items()}
    state, fold = bare.state(), multipliers(bare)
    places = {link: state.places(link) for link in bare.links}
    given = {link: link.given for link in bare.links if link.given is not None}
    aims = given | {bare.find(link): as_goal(goal, chain.find(link)) for link, goal in goals.items()}
    tables = {link: goal_tables(link, goal, times) for link, goal in aims.items()}
    roots = [link for link in bare.links if link.joint.kind == FREE and link not in given]
    forces, missing = np.zeros((len(times), len(state.v))), np.zeros((len(times), len(state.v)))
    for n, time in enumerate(times):
        state.time, a = float(time), np.zeros(len(state.v))
        for link, (q, v, acceleration) in tables.items():
            q_place, v_place = places[link]
            state.q[q_place], state.v[v_place] = q[n, : link.joint.coordinates], v[n, : link.joint.freedoms]
            a[v_place] = acceleration[n, : link.joint.freedoms]
        missing[n] = _carried(bare, state, tree_forces(bare, state, a, wrenches), roots, places)
        forces[n, fold.independent] = fold.matrix.T @ missing[n]
    joints = [link for link in bare.links if link.joint.freedoms and link not in roots and link not in given]
    return FeedForward(
        times, {chain.find(link): forces[:, places[link][1]] for link in joints},
        {chain.find(link): missing[:, places[link][1]] for link in roots},
    )  # fmt: skip


def _carried(chain, state, tree, roots, places):
    """Tree forces less what the connections carry of the roots' share."""
    if not chain.connections or not roots:
        return tree
    own = np.concatenate([np.arange(len(state.v))[places[root][1]] for root in roots])
    held = _held_rows(chain, state)
    carry = held[:, own].T
    force = np.linalg.lstsq(carry, tree[own], rcond=WEAK)[0]
    return tree - held.T @ force


def _held_rows(chain, state):
    """(rows, nv) of J_C, with the directions in which the connections' own joints give way projected out."""
    nv = len(state.v)
    matrix, _ = constraint_matrix(chain, state)
    rows, own = matrix[:, :nv], matrix[:, nv:]
    if own.shape[1]:
        basis, sizes, _ = np.linalg.svd(own, full_matrices=True)
        rows = basis[:, int((sizes > SMALL * sizes.max(initial=0.0)).sum()) :].T @ rows
    return rows
