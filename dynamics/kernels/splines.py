# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation splines at many times: muscles ask for their goals twice a step."""

import math

from ..jit import kernel
from .rotations import cross, exponential, multiply


@kernel
def sample_turns(times, breaks, bases, polynomials, turns, rates):
    """Quaternions and angular velocities in the turned frame, R = base exp(c), R'R-dot = c' - ... of the polynomial c.

    times         (n) within the breaks
    breaks (m + 1), bases (m, 4), polynomials (order, m, 3)   highest power first
    turns (n, 4), rates (n, 3)   out
    """
    segment, last, order = 0, breaks.shape[0] - 2, polynomials.shape[0]
    for n in range(times.shape[0]):
        t = times[n]
        while segment > 0 and t < breaks[segment]:
            segment -= 1
        while segment < last and t >= breaks[segment + 1]:
            segment += 1
        s = t - breaks[segment]
        x, y, z, dx, dy, dz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(order):
            dx, dy, dz = dx * s + x, dy * s + y, dz * s + z
            x = x * s + polynomials[k, segment, 0]
            y = y * s + polynomials[k, segment, 1]
            z = z * s + polynomials[k, segment, 2]
        ew, ex, ey, ez = exponential(x, y, z)
        b = bases[segment]
        turns[n, 0], turns[n, 1], turns[n, 2], turns[n, 3] = multiply(b[0], b[1], b[2], b[3], ew, ex, ey, ez)
        square = x * x + y * y + z * z
        if square < 1e-6:
            first, second = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
        else:
            angle = math.sqrt(square)
            first, second = (1.0 - math.cos(angle)) / square, (angle - math.sin(angle)) / (angle * square)
        ax, ay, az = cross(x, y, z, dx, dy, dz)
        bx, by, bz = cross(x, y, z, ax, ay, az)
        rates[n, 0] = dx - first * ax + second * bx
        rates[n, 1] = dy - first * ay + second * by
        rates[n, 2] = dz - first * az + second * bz
