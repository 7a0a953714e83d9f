# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that are given over time: of props that are animated, of anchors that grips hold on to."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from .pose import Pose


class Motion:
    """A smooth motion through poses at given times (s): twice continuously differentiable splines.

    Before the first and after the last time the link rests there.
    """

    def __init__(self, times, positions, rotations):
        times = np.array(times, dtype=np.float64)
        positions, rotations = np.array(positions, dtype=np.float64), np.array(rotations, dtype=np.float64)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise ValueError("a motion needs at least two times, each later than the one before")
        if positions.shape != (len(times), 3) or rotations.shape != (len(times), 4):
            raise ValueError(f"a motion of {len(times)} times needs as many positions (3) and rotations (4)")
        if not (np.isfinite(positions).all() and np.isfinite(rotations).all()):
            raise ValueError("a motion has poses that are not finite")
        self.times = times
        self._position = CubicSpline(times, positions)
        self._rotation = RotationSpline(times, Rotation.from_quat(rotations[:, [1, 2, 3, 0]]))

    def sample(self, times):
        """Positions (n, 3), rotations (n, 4), and in world axes: angular velocity, velocity, their time derivatives
        (n, 3).
        """
        inside = np.clip(times, self.times[0], self.times[-1])
        moving = ((times >= self.times[0]) & (times <= self.times[-1]))[:, None]
        turned = self._rotation(inside)
        quaternions = turned.as_quat()[:, [3, 0, 1, 2]]
        spin = turned.apply(self._rotation(inside, 1)) * moving
        # the body-frame rate turns with the body, but w x w = 0: its world derivative is the body derivative, turned
        spin_up = turned.apply(self._rotation(inside, 2)) * moving
        return (
            self._position(inside), quaternions,
            spin, self._position(inside, 1) * moving, spin_up, self._position(inside, 2) * moving,
        )  # fmt: skip


class FunctionMotion:
    """A motion given by a function of time that returns a Pose; derivatives by central differences of fourth order."""

    reach = 1e-3  # s: truncation (reach^4) and rounding (1e-16 / reach^2) of second derivatives are both near 1e-10

    def __init__(self, function):
        self.function = function

    def sample(self, times):
        offsets = self.reach * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        poses = [[self.function(float(t + o)) for o in offsets] for t in times]
        positions = np.array([[pose.position for pose in row] for row in poses])
        turns = np.array([[pose.rotation for pose in row] for row in poses])[:, :, [1, 2, 3, 0]]
        middle = Rotation.from_quat(turns[:, 2])
        vectors = np.stack([(Rotation.from_quat(turns[:, k]) * middle.inv()).as_rotvec() for k in range(5)], axis=1)
        first = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * self.reach)
        second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * self.reach**2)
        # near zero the angle vector's first and second derivatives are the angular velocity and acceleration
        return (
            positions[:, 2], turns[:, 2][:, [3, 0, 1, 2]],
            np.einsum("k,nkj->nj", first, vectors), np.einsum("k,nkj->nj", first, positions),
            np.einsum("k,nkj->nj", second, vectors), np.einsum("k,nkj->nj", second, positions),
        )  # fmt: skip


def as_motion(motion, name):
    """What the script gave as a motion, or a ValueError that names the link."""
    if hasattr(motion, "sample"):
        return motion
    if callable(motion):
        if not isinstance(motion(0.0), Pose):
            raise ValueError(f"link {name}: the function of its motion must return a Pose")
        return FunctionMotion(motion)
    raise ValueError(f"link {name}: {motion!r} is neither a Motion nor a function of time")


def joint_tables(link, times):
    """q (n, 7), v (n, 6), a (n, 6) of a free joint that makes the link move as given; velocities in the link frame."""
    times = np.asarray(times, dtype=np.float64)
    position, quaternion, spin, velocity, spin_up, acceleration = link.motion.sample(times)
    base = Rotation.from_quat(link.at.rotation[[1, 2, 3, 0]]).inv()
    turned = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    back = turned.inv()
    q = np.hstack([(base * turned).as_quat()[:, [3, 0, 1, 2]], base.apply(position - link.at.position)])
    body_spin, body_velocity = back.apply(spin), back.apply(velocity)
    v = np.hstack([body_spin, body_velocity])
    # the joint's accelerations are the rates of its link-frame velocities: d/dt (R'u) = R'u-dot - w x R'u
    a = np.hstack([back.apply(spin_up), back.apply(acceleration) - np.cross(body_spin, body_velocity)])
    return q, v, a
