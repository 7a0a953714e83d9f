# SPDX-License-Identifier: GPL-3.0-or-later
"""The human figure of paper 000, Fig. 19: nine links, sixteen degrees of freedom, four in every arm and leg.

It is described as bodies and the joints between them, so that it can be hung up by any of its bodies: a free figure
begins with the torso, one that hangs on something by the hand may begin with the forearm.
"""

from typing import NamedTuple

import numpy as np

from dynamics import Inertia, Joint, Pose

# Metres in the reference pose: upright, arms down, X forward, Y left, Z up, the origin between the hips.
SHOULDER = np.array((0.0, 0.19, 0.50))
HIP = np.array((0.0, 0.09, 0.0))
UPPER_ARM, FOREARM, THIGH, SHANK = 0.29, 0.33, 0.43, 0.44  # the forearm reaches to the middle of the fist
HEAD = np.array((0.0, 0.0, 0.72))
DOWN = np.array((0.0, 0.0, -1.0))


class Body(NamedTuple):
    mass: float  # kg
    centre: np.ndarray  # of the uniform box that stands for it, reference pose
    box: tuple


class Tie(NamedTuple):
    """A joint between two bodies; angles and rotations are those of the outer one against the inner one."""

    inner: str
    outer: str
    joint: Joint
    place: np.ndarray


def _describe():
    bodies = {"torso": Body(41.0, np.array((0.0, 0.0, 0.30)), (0.20, 0.32, 0.78))}
    ties = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mirror = np.array((1.0, sign, 1.0))
        shoulder, hip = SHOULDER * mirror, HIP * mirror
        elbow, knee = shoulder + UPPER_ARM * DOWN, hip + THIGH * DOWN
        bodies[f"{side} upper arm"] = Body(2.1, shoulder + 0.5 * UPPER_ARM * DOWN, (0.08, 0.08, UPPER_ARM))
        bodies[f"{side} forearm"] = Body(1.7, elbow + 0.5 * FOREARM * DOWN, (0.07, 0.07, FOREARM))
        bodies[f"{side} thigh"] = Body(8.0, hip + 0.45 * THIGH * DOWN, (0.14, 0.14, THIGH))
        bodies[f"{side} shank"] = Body(4.2, knee + 0.5 * SHANK * DOWN, (0.10, 0.10, SHANK))
        hinge = Joint.revolute((0.0, 1.0, 0.0))
        ties += [
            Tie("torso", f"{side} upper arm", Joint.spherical(), shoulder),
            Tie(f"{side} upper arm", f"{side} forearm", hinge, elbow),
            Tie("torso", f"{side} thigh", Joint.spherical(), hip),
            Tie(f"{side} thigh", f"{side} shank", hinge, knee),
        ]
    return bodies, ties


BODIES, TIES = _describe()
ELBOW = {tie.outer.split()[0]: tie.place for tie in TIES if tie.outer.endswith("forearm")}
FIST = {side: place + FOREARM * DOWN for side, place in ELBOW.items()}


class Figure:
    """A figure in a chain.

    links    by the names of BODIES
    origin   where each link's frame is in the reference pose; all frames are parallel there
    """

    def __init__(self, chain, root="torso", origin=(0.0, 0.0, 0.0), parent=None, joint=None, at=None):
        """Hang the figure on `parent` (the world if none) by the body `root`, with that link's frame at `origin`."""
        joint = Joint.free() if joint is None else joint
        self.chain, self.links, self.origin = chain, {}, {}
        self._outward = {}
        self._add(root, np.asarray(origin, dtype=float), parent, joint, Pose() if at is None else at)

    def _add(self, name, origin, parent, joint, at):
        body = BODIES[name]
        inertia = Inertia.box(body.mass, body.box, body.centre - origin)
        link = self.links[name] = self.chain.add(name, parent, joint, at, inertia)
        self.origin[name] = origin
        for tie in TIES:
            if name in (tie.inner, tie.outer):
                other = tie.outer if name == tie.inner else tie.inner
                if other not in self.links:
                    self._outward[tie.outer] = other == tie.outer
                    self._add(other, tie.place, link, tie.joint, Pose(tie.place - origin))

    def inside(self, name, place):
        """A place of the reference pose in the frame of one of the links."""
        return np.asarray(place) - self.origin[name]

    def bend(self, state, outer, rotation=None, angle=None):
        """Set the joint between `outer` and its inner neighbour, whichever of the two is the parent in the tree."""
        inner = next(tie.inner for tie in TIES if tie.outer == outer)
        link, sign = (self.links[outer], 1.0) if self._outward[outer] else (self.links[inner], -1.0)
        if angle is not None:
            state.set(link, angle=sign * angle)
        if rotation is not None:
            state.set(link, rotation=np.array(rotation) * (1.0, sign, sign, sign))

    def reach(self, state, side, target, elbow_towards):
        """Bring a fist to a target, the elbow bulging towards a direction; both as seen from the torso."""
        shoulder = next(tie.place for tie in TIES if tie.outer == f"{side} upper arm")
        way = np.asarray(target, dtype=float) - shoulder
        far = np.linalg.norm(way)
        if not abs(UPPER_ARM - FOREARM) < far < UPPER_ARM + FOREARM:
            raise ValueError(f"the {side} fist cannot reach {target}: it is {far:.3f} m from the shoulder")
        bent = np.arccos((far**2 - UPPER_ARM**2 - FOREARM**2) / (2.0 * UPPER_ARM * FOREARM))
        # the arm as it is before the shoulder turns: bent forward, the elbow behind the line to the fist
        fist = np.array((FOREARM * np.sin(bent), 0.0, -UPPER_ARM - FOREARM * np.cos(bent)))
        turned = _frame(way, elbow_towards) @ _frame(fist, (-1.0, 0.0, 0.0)).T
        self.bend(state, f"{side} upper arm", rotation=quaternion(turned))
        self.bend(state, f"{side} forearm", angle=-bent)


def _frame(along, towards):
    """Rotation matrix: first axis along a vector, second as near to another as it can be."""
    first = np.asarray(along, dtype=float) / np.linalg.norm(along)
    second = np.asarray(towards, dtype=float) - first * (first @ towards)
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def quaternion(matrix):
    """(w, x, y, z) of a rotation matrix, by its largest component."""
    m = matrix
    squares = 1.0 + np.array([m.trace(), *(2.0 * np.diag(m) - m.trace())])
    k = int(np.argmax(squares))
    table = np.array([
        [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
        [m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
        [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]],
        [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]],
    ])  # fmt: skip
    return table[k] / np.linalg.norm(table[k])


def about_y(angle):
    """Quaternion of a turn about Y: positive turns what points forward down."""
    return np.array((np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0))
