# SPDX-License-Identifier: GPL-3.0-or-later
"""The seven joint types, for tree joints and connections alike."""

from dataclasses import dataclass

import numpy as np

from .pose import Pose, check_vector, matrix_of

FIXED, REVOLUTE, PRISMATIC, CYLINDRICAL, PLANAR, SPHERICAL, FREE = range(7)
NAMES = ("fixed", "revolute", "prismatic", "cylindrical", "planar", "spherical", "free")
COORDINATES = (0, 1, 1, 2, 3, 4, 7)  # numbers in q
FREEDOMS = (0, 1, 1, 2, 3, 3, 6)  # numbers in v

# Rows that a connection of each type takes away, in a frame whose z is the joint axis: 0-2 turning, 3-5 sliding.
LOOP_ROWS = ((0, 1, 2, 3, 4, 5), (0, 1, 3, 4, 5), (0, 1, 2, 3, 4), (0, 1, 3, 4), (0, 1, 5), (3, 4, 5), ())

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Joint:
    """A joint type with its axis (unit vector in the link frame; the normal of a planar joint)."""

    kind: int
    axis: tuple = _Z

    @classmethod
    def fixed(cls):
        return cls(FIXED)

    @classmethod
    def revolute(cls, axis):
        return cls(REVOLUTE, _unit(axis, "revolute"))

    @classmethod
    def prismatic(cls, axis):
        return cls(PRISMATIC, _unit(axis, "prismatic"))

    @classmethod
    def cylindrical(cls, axis):
        return cls(CYLINDRICAL, _unit(axis, "cylindrical"))

    @classmethod
    def planar(cls, normal):
        return cls(PLANAR, _unit(normal, "planar"))

    @classmethod
    def spherical(cls):
        return cls(SPHERICAL)

    @classmethod
    def free(cls):
        return cls(FREE)

    @property
    def name(self):
        return NAMES[self.kind]

    @property
    def coordinates(self):
        """How many numbers the joint has in q."""
        return COORDINATES[self.kind]

    @property
    def freedoms(self):
        """How many numbers the joint has in v."""
        return FREEDOMS[self.kind]

    @property
    def alignment(self):
        """The shortest rotation (quaternion) that takes z to the axis."""
        x, y, z = self.axis
        if z < -1.0 + 1e-12:
            return (0.0, 1.0, 0.0, 0.0)
        w = np.sqrt(0.5 * (1.0 + z))
        return (float(w), float(-0.5 * y / w), float(0.5 * x / w), 0.0)

    @property
    def frame(self):
        """Rotation matrix whose third column is the axis; the other two are the in-plane axes of a planar joint."""
        return matrix_of(self.alignment)

    @property
    def columns(self):
        """(freedoms, 6) motion of the link per unit velocity, [angular; linear] in the link frame at its origin."""
        turn, slide = np.r_[self.axis, 0, 0, 0], np.r_[0, 0, 0, self.axis]
        if self.kind == PLANAR:
            across = self.frame[:, :2].T
            return np.vstack([turn, np.hstack([np.zeros((2, 3)), across])])
        if self.kind == SPHERICAL:
            return np.eye(6)[:3]
        if self.kind == FREE:
            return np.eye(6)
        return {REVOLUTE: turn, PRISMATIC: slide, CYLINDRICAL: np.vstack([turn, slide]), FIXED: np.zeros((0, 6))}[
            self.kind
        ].reshape(-1, 6)

    def motion(self, q):
        """Pose of the link frame in the joint frame for the coordinates q of this joint."""
        axis = np.asarray(self.axis)
        if self.kind == SPHERICAL:
            return Pose(rotation=q)
        if self.kind == FREE:
            return Pose(q[4:], q[:4])
        if self.kind == FIXED:
            return Pose()
        slide = {PRISMATIC: lambda: q[0] * axis, CYLINDRICAL: lambda: q[1] * axis, REVOLUTE: lambda: np.zeros(3)}
        shift = self.frame[:, :2] @ q[1:] if self.kind == PLANAR else slide[self.kind]()
        angle = 0.0 if self.kind == PRISMATIC else q[0]
        return Pose(shift, np.r_[np.cos(0.5 * angle), np.sin(0.5 * angle) * axis])

    def rest(self):
        """Coordinates of the reference pose."""
        q = np.zeros(self.coordinates)
        if self.kind in (SPHERICAL, FREE):
            q[0] = 1.0
        return q


def _unit(axis, kind):
    axis = check_vector(axis, 3, f"axis of a {kind} joint")
    # scaled first, so that a huge axis does not overflow
    axis = axis / max(np.abs(axis).max(), 1e-300)
    size = np.linalg.norm(axis)
    if size == 0.0:
        raise ValueError(f"the axis of a {kind} joint has zero length")
    return tuple((axis / size).tolist())
