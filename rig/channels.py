# SPDX-License-Identifier: GPL-3.0-or-later
"""From rotations over time to the rotation channels of a bone or an object, and back.

Blender stores a rotation as a quaternion, an axis with an angle, or three angles in one of six orders. Each of
these names one rotation in several ways, so the channels of a motion are chosen to run on from frame to frame
without jumps: a sign, a full turn or the second solution of the angles is taken where it lies closer.

Arrays have the frames first: rotations (F, ..., 3, 3), channels (F, ..., 4 or 3). Plain numpy, no Blender data.
"""

import numpy as np

CHANNEL = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
TURN = 2.0 * np.pi


def rotation_channel(mode):
    """Name and size of the property that holds a rotation in the given rotation mode."""
    name = CHANNEL.get(mode, "rotation_euler")
    return name, 3 if name == "rotation_euler" else 4


def matrix_from_quaternion(quaternion):
    """(..., 4) quaternions w, x, y, z of any length except zero to (..., 3, 3) rotation matrices."""
    w, x, y, z = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    matrix = np.empty(quaternion.shape[:-1] + (3, 3))
    matrix[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrix[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrix[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    matrix[..., 0, 1], matrix[..., 1, 0] = 2.0 * (x * y - w * z), 2.0 * (x * y + w * z)
    matrix[..., 0, 2], matrix[..., 2, 0] = 2.0 * (x * z + w * y), 2.0 * (x * z - w * y)
    matrix[..., 1, 2], matrix[..., 2, 1] = 2.0 * (y * z - w * x), 2.0 * (y * z + w * x)
    return matrix


def quaternion_from_matrix(matrix):
    """(..., 3, 3) rotation matrices to (..., 4) unit quaternions.

    The four products of a component with all others are at hand; the row with the largest component is exact.
    """
    m = matrix
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    rows = np.stack([
        np.stack([1.0 + xx + yy + zz, wx, wy, wz], -1),
        np.stack([wx, 1.0 + xx - yy - zz, xy, xz], -1),
        np.stack([wy, xy, 1.0 - xx + yy - zz, yz], -1),
        np.stack([wz, xz, yz, 1.0 - xx - yy + zz], -1)], -2)
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), -1)
    quaternion = np.take_along_axis(rows, best[..., None, None], -2)[..., 0, :]
    return quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)


def matrix_about(axis, angle):
    """Rotation about coordinate axis 0, 1 or 2 by angles (...)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros(np.shape(angle) + (3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = np.cos(angle)
    matrix[..., j, i] = np.sin(angle)
    matrix[..., i, j] = -matrix[..., j, i]
    return matrix


def to_matrix(mode, channels):
    """Rotation matrices of channels (..., 3 or 4) as Blender understands them."""
    channels = np.asarray(channels, dtype=float)
    if mode == "QUATERNION":
        return matrix_from_quaternion(channels)
    if mode == "AXIS_ANGLE":
        half, axis = channels[..., :1] / 2.0, channels[..., 1:]
        length = np.linalg.norm(axis, axis=-1, keepdims=True)
        axis = np.divide(axis, length, out=np.zeros_like(axis), where=length > 0.0)
        return matrix_from_quaternion(np.concatenate([np.cos(half), np.sin(half) * axis], -1))
    first, second, third = (matrix_about("XYZ".index(letter), channels[..., "XYZ".index(letter)]) for letter in mode)
    return third @ second @ first


def to_channels(mode, matrices, near):
    """Channels (F, ..., 3 or 4) of rotations (F, ..., 3, 3) that run on from the channels `near` (..., 3 or 4)."""
    if mode == "QUATERNION":
        return continuous_quaternions(quaternion_from_matrix(matrices), near)
    if mode == "AXIS_ANGLE":
        return continuous_axis_angles(quaternion_from_matrix(matrices), near)
    return continuous_angles(mode, matrices, near)


def continuous_quaternions(quaternions, near):
    """Each quaternion with the sign that brings it closest to the one before."""
    before = np.concatenate([np.broadcast_to(near, quaternions[:1].shape), quaternions[:-1]])
    sign = np.where(np.sum(before * quaternions, -1, keepdims=True) < 0.0, -1.0, 1.0)
    return quaternions * np.cumprod(sign, axis=0)


def continuous_axis_angles(quaternions, near):
    """Angle and axis, the axis never turning over and the angle counting on through full turns.

    Where there is no rotation the axis is free and stays as it was.
    """
    sine = np.linalg.norm(quaternions[..., 1:], axis=-1)
    angles = 2.0 * np.arctan2(sine, quaternions[..., 0])
    axes = np.divide(quaternions[..., 1:], sine[..., None], out=np.zeros(quaternions.shape[:-1] + (3,)),
                     where=sine[..., None] > 1e-9)
    channels = np.empty_like(quaternions)
    angle, axis = np.asarray(near, dtype=float)[..., 0], np.asarray(near, dtype=float)[..., 1:]
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    axis = np.where(length > 0.0, axis / np.maximum(length, 1e-30), (0.0, 1.0, 0.0))
    for frame in range(len(channels)):
        side = np.sum(axes[frame] * axis, -1)
        turned = side < 0.0
        axis = np.where((side == 0.0)[..., None] & ~axes[frame].any(-1)[..., None], axis,
                        np.where(turned[..., None], -axes[frame], axes[frame]))
        target = np.where(turned, -angles[frame], angles[frame])
        angle = target + TURN * np.round((angle - target) / TURN)
        channels[frame, ..., 0], channels[frame, ..., 1:] = angle, axis
    return channels


def angle_about(axes, matrices, near):
    """The angle about given axes (F, 3) that comes closest to rotations (F, 3, 3), running on from `near`."""
    quaternions = quaternion_from_matrix(matrices)
    along = np.sum(quaternions[:, 1:] * axes, -1) / np.maximum(np.linalg.norm(axes, axis=-1), 1e-12)
    return near + np.unwrap(np.concatenate([[0.0], 2.0 * np.arctan2(along, quaternions[:, 0]) - near]))[1:]


def continuous_angles(order, matrices, near):
    """Angles about x, y, z of R = R_third R_second R_first, closest to those before.

    Two triples give every rotation; where the second angle is a right angle there are infinitely many, and the
    first angle stays as it was.
    """
    i, j, k = ("XYZ".index(letter) for letter in order)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    cosine = np.hypot(matrices[..., i, i], matrices[..., j, i])
    locked = cosine < 1e-7
    candidates = np.empty((len(matrices), 2) + matrices.shape[1:-1])
    first, second = candidates[:, 0], candidates[:, 1]
    first[..., i] = parity * np.arctan2(matrices[..., k, j], matrices[..., k, k])
    first[..., j] = parity * np.arctan2(-matrices[..., k, i], cosine)
    first[..., k] = parity * np.arctan2(matrices[..., j, i], matrices[..., i, i])
    second[...] = first + np.pi
    second[..., j] = np.pi - first[..., j]
    channels = np.empty(matrices.shape[:-1])
    angles = np.broadcast_to(np.asarray(near, dtype=float), channels.shape[1:])
    trouble = set(np.flatnonzero(locked.reshape(len(locked), -1).any(-1)))
    for frame in range(len(channels)):
        step = candidates[frame] - angles
        step -= TURN * np.rint(step / TURN)
        way = np.abs(step).sum(-1, keepdims=True)
        step = np.where(way[1] < way[0], step[1], step[0])
        if frame in trouble:
            rest = matrices[frame] @ np.swapaxes(matrix_about(i, angles[..., i]), -1, -2)
            turn = parity * np.arctan2(-rest[..., i, j], rest[..., j, j]) - angles[..., k]
            step[..., k] = np.where(locked[frame], turn - TURN * np.rint(turn / TURN), step[..., k])
            step[..., i] = np.where(locked[frame], 0.0, step[..., i])
        channels[frame] = angles = angles + step
    return channels


def within_locks(order, matrices, locked, angles):
    """The angles (F, 3) nearest to rotations (F, 3, 3) when the locked ones must stay as given in `angles`.

    Turning about one axis at a time has a closed form: of R = A R(angle) B, the angle that brings R closest to the
    wanted rotation. The free axes take turns until nothing moves; one free axis needs one turn.
    """
    axes = ["XYZ".index(letter) for letter in order]
    free = [axis for axis in axes if not locked[axis]]
    angles = np.array(np.broadcast_to(angles, matrices.shape[:-2] + (3,)), dtype=float)
    for _ in range(200 if len(free) > 1 else len(free)):
        before = angles.copy()
        for axis in free:
            turns = [matrix_about(one, angles[..., one]) for one in axes]
            place = axes.index(axis)
            left, right = np.eye(3), np.eye(3)
            for one in turns[place + 1:]:
                left = one @ left
            for one in turns[:place]:
                right = one @ right
            wanted = np.swapaxes(left, -1, -2) @ matrices @ np.swapaxes(right, -1, -2)
            i, j = (axis + 1) % 3, (axis + 2) % 3
            angle = np.arctan2(wanted[..., j, i] - wanted[..., i, j], wanted[..., i, i] + wanted[..., j, j])
            angles[..., axis] = angle + TURN * np.round((angles[..., axis] - angle) / TURN)
        if np.abs(angles - before).max(initial=0.0) < 1e-12:
            break
    return angles
