# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that are given over time: of props that are animated, of anchors that grips hold on to."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from .joint import FREE
from .kernels.splines import sample_turns
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


class JointMotion:
    """Coordinates of one joint over time: angles or slides (n, freedoms), or quaternions (n, 4) of a spherical joint.

    Twice continuously differentiable splines; at rest before the first and after the last time.
    """

    def __init__(self, times, values):
        self.times = np.array(times, dtype=np.float64)
        values = np.array(values, dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if self.times.ndim != 1 or len(self.times) < 2 or not (np.diff(self.times) > 0).all():
            raise ValueError("a joint motion needs at least two times, each later than the one before")
        if len(values) != len(self.times) or not np.isfinite(values).all():
            raise ValueError("a joint motion needs finite values, as many as times")
        self._turns = values.shape[1] == 4
        self._spline = (
            RotationSpline(self.times, Rotation.from_quat(values[:, [1, 2, 3, 0]]))
            if self._turns
            else CubicSpline(self.times, values)
        )
        if self._turns:
            curve = self._spline.interpolator
            bases = self._spline.rotations.as_quat()[:, [3, 0, 1, 2]]
            self._pieces = tuple(np.ascontiguousarray(part) for part in (curve.x, bases, curve.c))

    def sample(self, times):
        """Coordinates, velocities, accelerations at the times, in the link frame."""
        inside = np.clip(times, self.times[0], self.times[-1])
        moving = ((times >= self.times[0]) & (times <= self.times[-1]))[:, None]
        values = self._spline(inside)
        if self._turns:
            values = values.as_quat()[:, [3, 0, 1, 2]]
        return values, self._spline(inside, 1) * moving, self._spline(inside, 2) * moving

    def follow(self, times):
        """Coordinates and velocities alone."""
        times = np.asarray(times, dtype=np.float64)
        inside = np.clip(times, self.times[0], self.times[-1])
        moving = ((times >= self.times[0]) & (times <= self.times[-1]))[:, None]
        if not self._turns:
            return self._spline(inside), self._spline(inside, 1) * moving
        values, rates = np.empty((len(times), 4)), np.empty((len(times), 3))
        sample_turns(inside, *self._pieces, values, rates)
        return values, rates * moving


class JointFunction:
    """Coordinates of one joint as a function of time; derivatives by central differences of fourth order."""

    reach = FunctionMotion.reach

    def __init__(self, function):
        self.function = function

    def sample(self, times):
        offsets = self.reach * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        values = np.array([[np.ravel(self.function(float(t + o))) for o in offsets] for t in times])
        shifts = values
        if values.shape[2] == 4:
            turns = [Rotation.from_quat(values[:, k][:, [1, 2, 3, 0]]) for k in range(5)]
            shifts = np.stack([(turns[2].inv() * turned).as_rotvec() for turned in turns], axis=1)
        first = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * self.reach)
        second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * self.reach**2)
        return values[:, 2], np.einsum("k,nkj->nj", first, shifts), np.einsum("k,nkj->nj", second, shifts)


class Stay:
    """A goal that is where the joint was."""

    def __init__(self, values, freedoms):
        self.values, self.freedoms = np.array(values), freedoms

    def sample(self, times):
        still = np.zeros((len(times), self.freedoms))
        return np.tile(self.values, (len(times), 1)), still, still


class Followed:
    """What a mimic joint does whose leader moves as given: factor times that, plus the offset."""

    def __init__(self, goal, factor, offset):
        self.goal, self.factor, self.offset = goal, factor, offset

    def sample(self, times):
        values, rates, accelerations = self.goal.sample(times)
        return self.factor * values + self.offset, self.factor * rates, self.factor * accelerations


def as_goal(goal, link):
    """What the script gave as the goal of a muscle."""
    if hasattr(goal, "sample"):
        return goal
    if callable(goal):
        return as_motion(goal, link.name) if link.joint.kind == FREE else JointFunction(goal)
    raise ValueError(f"link {link.name}: {goal!r} is neither a motion nor a function of time")


def goal_tables(link, goal, times, only_rates=False):
    """q (n, 7), v (n, 6), a (n, 6) of a link's joint that follows a goal; unused columns are zero.

    only_rates   leaves a at zero where that is quicker
    """
    times = np.asarray(times, dtype=np.float64)
    if link.joint.kind == FREE and not isinstance(goal, Stay):
        return _free_tables(link, goal, times)
    tables = np.zeros((len(times), 7)), np.zeros((len(times), 6)), np.zeros((len(times), 6))
    values = goal.follow(times) if only_rates and hasattr(goal, "follow") else goal.sample(times)
    for table, part, size in zip(tables, values, (link.joint.coordinates, link.joint.freedoms, link.joint.freedoms)):
        if part.shape[1] != size:
            raise ValueError(f"link {link.name}: its goal has {part.shape[1]} numbers where the joint has {size}")
        table[:, :size] = part
    return tables


def joint_tables(link, times):
    """q (n, 7), v (n, 6), a (n, 6) of the joint of a link that moves as given."""
    return goal_tables(link, link.given, times)


def as_motion(motion, name):
    """What the script gave as a motion, or a ValueError that names the link."""
    if hasattr(motion, "sample"):
        return motion
    if callable(motion):
        if not isinstance(motion(0.0), Pose):
            raise ValueError(f"link {name}: the function of its motion must return a Pose")
        return FunctionMotion(motion)
    raise ValueError(f"link {name}: {motion!r} is neither a Motion nor a function of time")


def _free_tables(link, goal, times):
    """The same of a free joint that gives the link a world motion; velocities in the link frame."""
    position, quaternion, spin, velocity, spin_up, acceleration = goal.sample(times)
    base = Rotation.from_quat(link.at.rotation[[1, 2, 3, 0]]).inv()
    turned = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    back = turned.inv()
    q = np.hstack([(base * turned).as_quat()[:, [3, 0, 1, 2]], base.apply(position - link.at.position)])
    body_spin, body_velocity = back.apply(spin), back.apply(velocity)
    v = np.hstack([body_spin, body_velocity])
    # the joint's accelerations are the rates of its link-frame velocities: d/dt (R'u) = R'u-dot - w x R'u
    a = np.hstack([back.apply(spin_up), back.apply(acceleration) - np.cross(body_spin, body_velocity)])
    return q, v, a
