# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves on the joint groups: rotations by Rodrigues' formula (000 (39)-(44)), free and planar joints as screws."""

import math

from ..jit import kernel
from ..joint import FREE, PLANAR, SPHERICAL
from .rotations import cross, exponential, multiply, shift_of_screw, turn


@kernel
def displace(model, start, move, scale, q):
    """q <- start * exp(scale * move), joint by joint. Velocities are in the link frame, so moves multiply from the
    right.

    start, q (nq) may be the same array; move (nv)
    """
    kind, q_start, v_start = model.kind, model.q_start, model.v_start
    for i in range(1, kind.shape[0]):
        joint = kind[i]
        s, d = q_start[i], v_start[i]
        if joint == SPHERICAL or joint == FREE:
            w0, w1, w2 = scale * move[d], scale * move[d + 1], scale * move[d + 2]
            rw, rx, ry, rz = start[s], start[s + 1], start[s + 2], start[s + 3]
            if joint == FREE:
                tx, ty, tz = shift_of_screw(w0, w1, w2, scale * move[d + 3], scale * move[d + 4], scale * move[d + 5])
                tx, ty, tz = turn(rw, rx, ry, rz, tx, ty, tz)
                q[s + 4], q[s + 5], q[s + 6] = start[s + 4] + tx, start[s + 5] + ty, start[s + 6] + tz
            ew, ex, ey, ez = exponential(w0, w1, w2)
            w, x, y, z = multiply(rw, rx, ry, rz, ew, ex, ey, ez)
            size = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            q[s], q[s + 1], q[s + 2], q[s + 3] = w * size, x * size, y * size, z * size
        elif joint == PLANAR:
            angle, turned = start[s], scale * move[d]
            tx, ty, tz = shift_of_screw(0.0, 0.0, turned, scale * move[d + 1], scale * move[d + 2], 0.0)
            c, h = math.cos(angle), math.sin(angle)
            q[s + 1], q[s + 2] = start[s + 1] + c * tx - h * ty, start[s + 2] + h * tx + c * ty
            q[s] = angle + turned
        else:
            for k in range(v_start[i + 1] - d):
                q[s + k] = start[s + k] + scale * move[d + k]


@kernel
def to_algebra(model, move, scale, velocity, out):
    """The velocity as a rate of the displacement `scale * move` from the start of the step.

    out = velocity + [move, velocity] / 2 + [move, [move, velocity]] / 12, joint by joint: the inverse of the
    exponential's derivative. Without the brackets the order of a Runge-Kutta method on a group drops to two.
    """
    kind, v_start = model.kind, model.v_start
    for i in range(1, kind.shape[0]):
        joint, d = kind[i], v_start[i]
        if joint == SPHERICAL or joint == FREE:
            m0, m1, m2 = scale * move[d], scale * move[d + 1], scale * move[d + 2]
            w0, w1, w2 = velocity[d], velocity[d + 1], velocity[d + 2]
            a0, a1, a2 = cross(m0, m1, m2, w0, w1, w2)
            b0, b1, b2 = cross(m0, m1, m2, a0, a1, a2)
            out[d], out[d + 1], out[d + 2] = w0 + a0 / 2 + b0 / 12, w1 + a1 / 2 + b1 / 12, w2 + a2 / 2 + b2 / 12
            if joint == FREE:
                m3, m4, m5 = scale * move[d + 3], scale * move[d + 4], scale * move[d + 5]
                # [m, v] of screws: angular m x w; linear m x u + n x w
                c0, c1, c2 = cross(m0, m1, m2, velocity[d + 3], velocity[d + 4], velocity[d + 5])
                e0, e1, e2 = cross(m3, m4, m5, w0, w1, w2)
                c0, c1, c2 = c0 + e0, c1 + e1, c2 + e2
                f0, f1, f2 = cross(m0, m1, m2, c0, c1, c2)
                g0, g1, g2 = cross(m3, m4, m5, a0, a1, a2)
                out[d + 3] = velocity[d + 3] + c0 / 2 + (f0 + g0) / 12
                out[d + 4] = velocity[d + 4] + c1 / 2 + (f1 + g1) / 12
                out[d + 5] = velocity[d + 5] + c2 / 2 + (f2 + g2) / 12
        elif joint == PLANAR:
            m0, m1, m2 = scale * move[d], scale * move[d + 1], scale * move[d + 2]
            w, u, t = velocity[d], velocity[d + 1], velocity[d + 2]
            # the same brackets, all turning about one axis
            c1, c2 = -m0 * t + m2 * w, m0 * u - m1 * w
            f1, f2 = -m0 * c2, m0 * c1
            out[d], out[d + 1], out[d + 2] = w, u + c1 / 2 + f1 / 12, t + c2 / 2 + f2 / 12
        else:
            for k in range(d, v_start[i + 1]):
                out[k] = velocity[k]
