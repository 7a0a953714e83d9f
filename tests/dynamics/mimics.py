# SPDX-License-Identifier: GPL-3.0-or-later
"""Random chains with mimic joints, and Pinocchio's matrices folded by the multiplier matrix in numpy (003 (16), (17)).

The tests keep their own list of who follows whom; nothing of dynamics/mimic.py is used here.
"""

from dataclasses import dataclass, field

import numpy as np

from dynamics import Chain, impact
from tests.dynamics.oracles import Peer
from tests.dynamics.random_chains import Sample, close_loop, grow, random_state


def multiplier_matrix(chain, follows):
    """G (nv, n) and offsets (nv) by the guidelines of 003 3.1; follows {link: (leader, factor, offset)}."""
    place, nv = {}, 0
    for link in chain.links:
        place[link] = nv
        nv += link.joint.freedoms
    gain, shift = np.eye(nv), np.zeros(nv)
    todo = dict(follows)
    while todo:
        for link, (leader, factor, offset) in list(todo.items()):
            if leader not in todo:
                gain[place[link]] = factor * gain[place[leader]]
                shift[place[link]] = factor * shift[place[leader]] + offset
                del todo[link]
    passive = [place[link] for link in follows]
    return np.delete(gain, passive, axis=1), shift, np.setdiff1d(np.arange(nv), passive)


class FoldedPeer(Peer):
    """Pinocchio's mass, bias and loop rows in the independent velocities alone."""

    def __init__(self, chain, motions, follows):
        super().__init__(chain, motions)
        self.follows = follows

    def update(self, state):
        super().update(state)
        gain, _, active = multiplier_matrix(self.chain, self.follows)
        self.gain = gain[np.ix_(self.free, self.free[active])]
        self.tree_mass, self.tree_bias = self.mass, self.bias
        self.mass, self.bias = self.gain.T @ self.mass @ self.gain, self.gain.T @ self.bias
        self.J = self.J @ self.gain
        self.jacobians = {grip: jacobian @ self.gain for grip, jacobian in self.jacobians.items()}
        return self

    def accelerations(self, tau):
        qdd = np.empty(len(self.free))
        free = np.linalg.solve(self.mass, self.gain.T @ tau[self.free] - self.bias)
        qdd[self.free] = self.gain @ self.nearest(free, self.drift)
        qdd[~self.free] = self.driven_qdd
        return qdd


@dataclass
class MimicSample(Sample):
    follows: dict = field(default_factory=dict)

    def peer(self):
        return FoldedPeer(self.chain, self.motions, self.follows).update(self.state)


def mimic_chain(seed, links=None, loops=None, driven=None):
    """A random chain in which about every second one-axis joint follows another: in its branch, elsewhere, in another
    tree, or one that follows a third.
    """
    rng = np.random.default_rng(seed)
    count = links or int(rng.integers(*[(3, 8), (6, 14), (10, 40)][rng.integers(3)]))
    sample = MimicSample(seed, Chain(gravity=rng.uniform(-10.0, 10.0, 3)))
    chain = sample.chain
    grow(sample, rng, count, int(rng.integers(0, 2)) if driven is None else driven)
    sample.state = random_state(sample, rng)
    axes = [link for link in chain.links if link.joint.name in ("revolute", "prismatic")]
    for link in axes:
        # a parallelogram's own links are tied already
        if rng.random() < 0.5 and "crank" not in link.name and "coupler" not in link.name:
            leader = axes[rng.integers(len(axes))]
            factor, offset = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0), rng.uniform(-0.5, 0.5)
            end = leader
            while end in sample.follows:
                end = sample.follows[end][0]
            if end != link:
                chain.mimic(link, of=leader, factor=factor, offset=offset)
                sample.follows[link] = leader, factor, offset
    for _ in range(int(rng.integers(0, 4)) if loops is None else loops):
        close_loop(sample, rng)
    sample.state = impact(chain, sample.state)
    return sample
