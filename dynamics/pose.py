# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses: a position and a rotation, in plain numpy, for description and results. Kernels have their own numbers."""

from dataclasses import dataclass

import numpy as np


def check_vector(value, size, what):
    """`value` as an array of `size` finite numbers, or a ValueError that says what it is."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be {size} numbers, not {value!r}") from error
    if array.shape != (size,):
        raise ValueError(f"{what} must be {size} numbers, not an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} is not finite: {array.tolist()}")
    return array


def check_quaternion(value, what):
    """A unit quaternion (w, x, y, z); lengths other than one are made one."""
    array = check_vector(value, 4, what)
    size = np.linalg.norm(array)
    if size < 1e-9:
        raise ValueError(f"{what} is a quaternion of zero length")
    return array / size


def quaternion_product(a, b):
    """The rotation b, then a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return np.array([
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ])  # fmt: skip


def conjugate(q):
    return np.array([q[0], -q[1], -q[2], -q[3]])


def matrix_of(q):
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pose:
    """A position (3, metres) and a rotation (unit quaternion w, x, y, z)."""

    position: np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self):
        object.__setattr__(self, "position", check_vector(self.position, 3, "position of a pose"))
        object.__setattr__(self, "rotation", check_quaternion(self.rotation, "rotation of a pose"))
        self.position.flags.writeable = False
        self.rotation.flags.writeable = False

    @property
    def matrix(self):
        return matrix_of(self.rotation)

    def __matmul__(self, other):
        return Pose(self.apply(other.position), quaternion_product(self.rotation, other.rotation))

    def apply(self, point):
        return self.position + self.matrix @ np.asarray(point, dtype=np.float64)

    def inverse(self):
        back = conjugate(self.rotation)
        return Pose(-(matrix_of(back) @ self.position), back)
