# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that show a figure: capsules for links, marks for joints, crosses for centres of mass.

All lines are arrays (n, 2, 3) of end points in the link's frame or in the world, in metres. Plain numpy.
"""

import numpy as np

STEPS = 24  # of a circle
MARK = 0.6  # of a joint's mark, in parts of the link's radius
LARGE = 0.3  # of a capsule, in parts of the largest section of the link
SMALLEST = 0.02  # of a mark, in parts of the figure's size


def ring(normal, centre, radius, begin=0.0, end=2.0 * np.pi, steps=STEPS):
    """A circle, or a part of one, as lines."""
    across, beside = _across(np.asarray(normal, dtype=float))
    angles = np.linspace(begin, end, steps + 1)[:, None]
    points = centre + radius * (np.cos(angles) * across + np.sin(angles) * beside)
    return np.stack([points[:-1], points[1:]], axis=1)


def capsule_lines(capsule):
    """The outline of a capsule from tip to tip: rings at the ends of its barrel, four lines along it, and arcs."""
    span = capsule.end - capsule.start
    length = float(np.linalg.norm(span))
    axis = span / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    middle, radius = 0.5 * (capsule.start + capsule.end), capsule.radius
    half = max(0.5 * length - radius, 0.0)
    low, high = middle - half * axis, middle + half * axis
    across, beside = _across(axis)
    lines = [ring(axis, low, radius), ring(axis, high, radius)]
    for side in (across, -across, beside, -beside):
        lines.append(np.array([[low + radius * side, high + radius * side]]))
    angles = np.linspace(0.0, np.pi, STEPS // 2 + 1)[:, None]
    for end, out in ((high, axis), (low, -axis)):
        for side in (across, beside):
            points = end + radius * (np.cos(angles) * side + np.sin(angles) * out)
            lines.append(np.stack([points[:-1], points[1:]], axis=1))
    return np.concatenate(lines)


def joint_lines(link, size):
    """The mark of a joint in the link's frame: three rings for a ball, a bar for a hinge, a cross for a fixed one."""
    origin = np.zeros(3)
    if link.joint == "BALL":
        return np.concatenate([ring(axis, origin, 0.5 * size) for axis in np.eye(3)])
    if link.joint == "HINGE":
        end = size * link.axis
        ends = [ring(link.axis, point, 0.3 * size) for point in (-end, end)]
        return np.concatenate([np.array([[-end, end]]), *ends])
    return cross(origin, size) if link.joint == "FIXED" else np.empty((0, 2, 3))


def cross(centre, size):
    """Three short lines through a point."""
    reach = np.eye(3) * 0.5 * size
    return np.stack([centre - reach, centre + reach], axis=1)


def large(capsules):
    """The capsules worth drawing: a link with a hand's fingers or a face merged into it would be a thicket."""
    most = max(capsule.radius * np.linalg.norm(capsule.end - capsule.start) for capsule in capsules)
    return [one for one in capsules if one.radius * np.linalg.norm(one.end - one.start) >= LARGE * most]


class Outline:
    """The lines of a figure, link by link; they move with the links until the settings change."""

    def __init__(self, links):
        self.names = [link.name for link in links]
        self.masses = np.array([link.mass for link in links])
        self.centres = np.array([link.com for link in links])
        points = np.array([link.position for link in links])
        thickest = max(link.capsules[0].radius for link in links)
        self.size = max(float(np.linalg.norm(np.ptp(points, axis=0))), thickest)
        marks = [max(MARK * link.capsules[0].radius, SMALLEST * self.size) for link in links]
        self.links = [np.concatenate([capsule_lines(one) for one in large(link.capsules)]) for link in links]
        self.joints = [joint_lines(link, mark) for link, mark in zip(links, marks)]
        self.marks = [cross(link.com, 0.5 * mark) for link, mark in zip(links, marks)]

    def placed(self, which, positions, rotations):
        """Lines of one kind ("links", "joints", "marks") in the world, for poses (n, 3) and (n, 3, 3) of the links."""
        lines = getattr(self, which)
        moved = [line @ turn.T + place for line, place, turn in zip(lines, positions, rotations)]
        return np.concatenate(moved) if moved else np.empty((0, 2, 3))

    def whole(self, positions, rotations):
        """A cross at the centre of mass of the whole figure."""
        centres = positions + np.einsum("nij,nj->ni", rotations, self.centres)
        total = max(self.masses.sum(), 1e-12)
        return cross(self.masses @ centres / total, 4.0 * SMALLEST * self.size)


def _across(axis):
    """Two unit vectors that complete the axis to a right-handed frame."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    across = np.cross(axis, helper)
    across = across / np.linalg.norm(across)
    return across, np.cross(axis, across) / np.linalg.norm(axis)
