# SPDX-License-Identifier: GPL-3.0-or-later
"""What muscles aim at: the source motion of a figure, looked at frame by frame, as motions of its joints.

Splines go through the poses at the frames. They begin some frames before the start, so that a simulation that starts
later goes after the same motion. A jump to another pose in front of the start, such as the rest pose in front of
captured motion, is no part of the motion.
"""

from itertools import pairwise

import numpy as np

from ..dynamics import JointMotion, Motion
from .channels import matrix_from_quaternion, quaternion_from_matrix
from .links import link_poses
from .velocity import FAR, JUMP

LEAD = 8  # frames beyond the range: how a spline ends is not felt that far away


class Watched:
    """World poses of the links of one figure over frames: positions (F, n, 3) in metres, rotations (F, n, 3, 3)."""

    def __init__(self, figure):
        self.figure, self.names = figure, [link.name for link in figure.links]
        self.frames, self.positions, self.rotations = [], [], []

    def look(self, depsgraph, frame):
        position, rotation = link_poses(self.figure.owner, depsgraph, self.names)
        self.frames.append(frame)
        self.positions.append(position)
        self.rotations.append(rotation)

    def finish(self, start):
        """Make arrays of what was seen, without what lies beyond a jump in front of the start frame."""
        self.start = start
        frames, rotations = np.array(self.frames, dtype=float), np.array(self.rotations)
        steps = [_apart(*pair) for pair in pairwise(rotations)]
        before = range(self.frames.index(start))
        jumps = [number + 1 for number in before if steps[number] > max(FAR, JUMP * steps[number + 1])]
        first = max(jumps, default=0)
        self.frames, self.rotations = frames[first:], rotations[first:]
        self.positions = np.array(self.positions[first:])

    def turns(self, number, link):
        """Coordinates over the frames of the joint of a link: angles (F, 1) of a hinge, quaternions (F, 4) of a ball.

        number   of the link in the figure;  link   of the chain
        """
        one = self.figure.links[number]
        relative = np.swapaxes(self.rotations[:, one.parent], -1, -2) @ self.rotations[:, number]
        quaternions = quaternion_from_matrix(matrix_from_quaternion(np.array(link.at.rotation)).T @ relative)
        if one.joint == "BALL":
            return quaternions
        angles = np.unwrap(2.0 * np.arctan2(quaternions[:, 1:] @ one.axis, quaternions[:, 0]))
        whole = 2.0 * np.pi * np.round((one.turn - np.interp(self.start, self.frames, angles)) / (2.0 * np.pi))
        return (angles + whole)[:, None]

    def goal(self, number, link, seconds):
        """The motion of a link's joint, or of the link itself if it is free."""
        times = self.frames * seconds
        if self.figure.links[number].parent < 0:
            return Motion(times, self.positions[:, number], quaternion_from_matrix(self.rotations[:, number]))
        return JointMotion(times, self.turns(number, link))


def goal_frames(frames):
    """The frames at which the source is looked at for a simulation of the given ones."""
    return list(range(frames[0] - LEAD, frames[-1] + LEAD + 1))


def _apart(first, second):
    """The largest angle between two sets of rotations (n, 3, 3)."""
    trace = np.einsum("nij,nij->n", first, second)
    return np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)).max()
