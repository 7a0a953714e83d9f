# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions (w, x, y, z) as plain numbers, so that nothing is allocated."""

import math

from ..jit import kernel


@kernel
def multiply(aw, ax, ay, az, bw, bx, by, bz):
    """The rotation b, then a."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@kernel
def turn(w, x, y, z, px, py, pz):
    """The vector p, rotated."""
    cx = 2.0 * (y * pz - z * py)
    cy = 2.0 * (z * px - x * pz)
    cz = 2.0 * (x * py - y * px)
    return (
        px + w * cx + y * cz - z * cy,
        py + w * cy + z * cx - x * cz,
        pz + w * cz + x * cy - y * cx,
    )


@kernel
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def exponential(x, y, z):
    """Rodrigues' formula (000 (39)-(44)) as a quaternion: the rotation by the vector (x, y, z)."""
    square = x * x + y * y + z * z
    if square < 1e-8:
        # series to order 4: exact to rounding below an angle of 1e-4
        half = 0.5 - square / 48.0
        return 1.0 - square / 8.0 + square * square / 384.0, half * x, half * y, half * z
    angle = math.sqrt(square)
    half = math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), half * x, half * y, half * z


@kernel
def shift_of_screw(wx, wy, wz, vx, vy, vz):
    """Translation part of the exponential of the twist (w, v): how far the origin moves, in the frame at the start."""
    square = wx * wx + wy * wy + wz * wz
    if square < 1e-8:
        first = 0.5 - square / 24.0
        second = 1.0 / 6.0 - square / 120.0
    else:
        angle = math.sqrt(square)
        first = (1.0 - math.cos(angle)) / square
        second = (angle - math.sin(angle)) / (square * angle)
    cx, cy, cz = cross(wx, wy, wz, vx, vy, vz)
    dx, dy, dz = cross(wx, wy, wz, cx, cy, cz)
    return vx + first * cx + second * dx, vy + first * cy + second * dy, vz + first * cz + second * dz
