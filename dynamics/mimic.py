# SPDX-License-Identifier: GPL-3.0-or-later
"""Mimic joints (003): a one-axis joint that follows another, q = factor * q of its leader + offset.

They are eliminated before anything else is done: the chain moves in the velocities that follow no other, v = G v_free
with the constant multiplier matrix G (003 (16)), its mass matrix is G'MG and its joint forces are G'tau (003 (17)).
"""

from dataclasses import dataclass

import numpy as np

from .joint import PRISMATIC, REVOLUTE

ONE_AXIS = (REVOLUTE, PRISMATIC)


@dataclass
class Multipliers:
    """How all tree velocities follow from the independent ones: v = matrix @ v[independent] (003 (16)).

    matrix (nv, n)    G, 003 (20), (21); accelerations follow in the same way
    offset (nv)       what is added to the coordinates of mimic joints, zero elsewhere
    independent (n)   the velocities that follow no other, in the order of v
    """

    matrix: np.ndarray
    offset: np.ndarray
    independent: np.ndarray


def multipliers(chain):
    """The multiplier matrix of a chain and what belongs to it. Without mimic joints it is the unit matrix."""
    starts = _starts(chain)
    lead, ratio, offset = np.arange(starts[-1]), np.ones(starts[-1]), np.zeros(starts[-1])
    for link in chain.links:
        if link.follows is not None:
            leader, factor, shift = link.leader()
            d = starts[link.index]
            lead[d], ratio[d], offset[d] = starts[leader.index], factor, shift
    independent = np.flatnonzero(lead == np.arange(len(lead)))
    matrix = np.zeros((len(lead), len(independent)))
    matrix[np.arange(len(lead)), np.searchsorted(independent, lead)] = ratio
    return Multipliers(matrix, offset, independent)


def followers(chain, given, q_start, v_start):
    """The arrays of kernels/layout.py for mimic joints; those that follow a prescribed joint are prescribed too."""
    nv = int(v_start[-1])
    lead, ratio = np.arange(nv), np.ones(nv)
    for i in np.flatnonzero(given):
        lead[v_start[i] : v_start[i + 1]] = -1
    rows, offsets = [], []
    for link in chain.links:
        if link.follows is not None and not given[link.index + 1]:
            leader, factor, offset = link.leader()
            i, k = link.index + 1, leader.index + 1
            lead[v_start[i]], ratio[v_start[i]] = v_start[k], factor
            rows.append((v_start[i], q_start[i], q_start[k]))
            offsets.append(offset)
    follower = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return dict(lead=lead, ratio=ratio, follower=follower, offset=np.array(offsets, dtype=np.float64))


def check_mimic(link, leader, factor, offset):
    """Raise a sentence that names the links if `link` cannot follow `leader`."""
    for one in (link, leader):
        if one.joint.kind not in ONE_AXIS:
            raise ValueError(
                f"link {link.name} cannot follow {leader.name}: only revolute and prismatic joints can, and "
                f"{one.name} has a {one.joint.name} one"
            )
    if link == leader:
        raise ValueError(f"link {link.name} cannot follow itself")
    if link.given is not None and link.follows is None:
        raise ValueError(f"link {link.name} is keyed, so it cannot follow {leader.name}: make it limp or driven first")
    for value, what in ((factor, "factor"), (offset, "offset")):
        if not isinstance(value, int | float | np.number) or not np.isfinite(value):
            raise ValueError(f"link {link.name} follows {leader.name}: {what} must be a finite number, not {value!r}")
    if factor == 0.0:
        raise ValueError(
            f"link {link.name} follows {leader.name} with the factor 0, which is no motion: fix its joint instead"
        )
    names, one = [leader.name], leader
    while one.follows is not None:
        one = one.follows[0]
        names.append(one.name)
        if one == link:
            raise ValueError(f"link {link.name} cannot follow {leader.name}: {' follows '.join(names)} already")


def _starts(chain):
    """First velocity of every link in the order of chain.links, and how many there are in all."""
    return np.concatenate([[0], np.cumsum([link.joint.freedoms for link in chain.links], dtype=np.int64)])
