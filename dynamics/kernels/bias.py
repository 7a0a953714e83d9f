# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint forces of a given motion: recursive Newton-Euler in one inertial frame per tree (001, 2.4 step 2)."""

import math

from ..jit import kernel
from .acting import act, lift_weight
from .rotations import cross
from .rows import pull_softly


@kernel
def joint_forces(model, data, with_free):
    """Joint forces that the present motion needs, less external wrenches, springs and what acts in the joints.

    Accelerations are data.a; with_free = 0 takes those of free joints as zero, which gives the bias b of 001 (17).
    data.twist must fit data.v.

    data.drift   (nb, 6) out: spatial accelerations, gravity as an upward acceleration of the world
    data.force   (nb, 6) out: [moment; force] about the tree origin, of the link and everything beyond it
    data.bias    (nv) out
    """
    parent, root, v_start, lead = model.parent, model.root, model.v_start, model.lead
    column, inertia, twist, a = data.column, data.inertia, data.twist, data.a
    drift, force, bias, wrench, position = data.drift, data.force, data.bias, data.wrench, data.position
    drift[0, 3], drift[0, 4], drift[0, 5] = -model.gravity[0], -model.gravity[1], -model.gravity[2]
    for i in range(1, parent.shape[0]):
        p = parent[i]
        w0, w1, w2, u0, u1, u2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        # the joint's own motion, swept along by the link: V x (S v)
        j0, j1, j2 = w0 - twist[p, 0], w1 - twist[p, 1], w2 - twist[p, 2]
        j3, j4, j5 = u0 - twist[p, 3], u1 - twist[p, 4], u2 - twist[p, 5]
        x0, x1, x2 = cross(w0, w1, w2, j0, j1, j2)
        y0, y1, y2 = cross(w0, w1, w2, j3, j4, j5)
        z0, z1, z2 = cross(u0, u1, u2, j0, j1, j2)
        d0, d1, d2 = drift[p, 0] + x0, drift[p, 1] + x1, drift[p, 2] + x2
        d3, d4, d5 = drift[p, 3] + y0 + z0, drift[p, 4] + y1 + z1, drift[p, 5] + y2 + z2
        for d in range(v_start[i], v_start[i + 1]):
            if with_free == 1 or lead[d] < 0:
                rate = a[d]
                d0 += column[d, 0] * rate
                d1 += column[d, 1] * rate
                d2 += column[d, 2] * rate
                d3 += column[d, 3] * rate
                d4 += column[d, 4] * rate
                d5 += column[d, 5] * rate
        drift[i, 0], drift[i, 1], drift[i, 2], drift[i, 3], drift[i, 4], drift[i, 5] = d0, d1, d2, d3, d4, d5
        m, h0, h1, h2 = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
        xx, xy, xz = inertia[i, 4], inertia[i, 5], inertia[i, 6]
        yy, yz, zz = inertia[i, 7], inertia[i, 8], inertia[i, 9]
        # momentum [L; P] = I V
        l0 = xx * w0 + xy * w1 + xz * w2 + h1 * u2 - h2 * u1
        l1 = xy * w0 + yy * w1 + yz * w2 + h2 * u0 - h0 * u2
        l2 = xz * w0 + yz * w1 + zz * w2 + h0 * u1 - h1 * u0
        p0 = m * u0 + w1 * h2 - w2 * h1
        p1 = m * u1 + w2 * h0 - w0 * h2
        p2 = m * u2 + w0 * h1 - w1 * h0
        f0 = xx * d0 + xy * d1 + xz * d2 + h1 * d5 - h2 * d4 + w1 * l2 - w2 * l1 + u1 * p2 - u2 * p1
        f1 = xy * d0 + yy * d1 + yz * d2 + h2 * d3 - h0 * d5 + w2 * l0 - w0 * l2 + u2 * p0 - u0 * p2
        f2 = xz * d0 + yz * d1 + zz * d2 + h0 * d4 - h1 * d3 + w0 * l1 - w1 * l0 + u0 * p1 - u1 * p0
        f3 = m * d3 + d1 * h2 - d2 * h1 + w1 * p2 - w2 * p1
        f4 = m * d4 + d2 * h0 - d0 * h2 + w2 * p0 - w0 * p2
        f5 = m * d5 + d0 * h1 - d1 * h0 + w0 * p1 - w1 * p0
        o = root[i]
        e3, e4, e5 = wrench[i, 3], wrench[i, 4], wrench[i, 5]
        rx, ry, rz = position[i, 0] - position[o, 0], position[i, 1] - position[o, 1], position[i, 2] - position[o, 2]
        force[i, 0] = f0 - wrench[i, 0] - ry * e5 + rz * e4
        force[i, 1] = f1 - wrench[i, 1] - rz * e3 + rx * e5
        force[i, 2] = f2 - wrench[i, 2] - rx * e4 + ry * e3
        force[i, 3], force[i, 4], force[i, 5] = f3 - e3, f4 - e4, f5 - e5
    if data.field.shape[0] > 0:
        _take_off_fields(model, data)
    if model.spring_link.shape[0] > 0:
        _take_off_springs(model, data)
    if model.soft_rows.shape[0] > 0:
        _take_off_soft_rows(model, data)
    acts = model.acts[0] == 1
    if acts:
        act(model, data)
        lift_weight(model, data)
    for i in range(parent.shape[0] - 1, 0, -1):
        f0, f1, f2, f3, f4, f5 = force[i, 0], force[i, 1], force[i, 2], force[i, 3], force[i, 4], force[i, 5]
        for d in range(v_start[i], v_start[i + 1]):
            bias[d] = (
                column[d, 0] * f0 + column[d, 1] * f1 + column[d, 2] * f2
                + column[d, 3] * f3 + column[d, 4] * f4 + column[d, 5] * f5
            )  # fmt: skip
            if acts:
                bias[d] -= data.torque[d]
                if with_free == 1 or lead[d] < 0:
                    bias[d] += model.virtual_inertia[d] * a[d]
        p = parent[i]
        if p > 0:
            force[p, 0] += f0
            force[p, 1] += f1
            force[p, 2] += f2
            force[p, 3] += f3
            force[p, 4] += f4
            force[p, 5] += f5


@kernel
def field_force(model, data, i):
    """Force of the fields on link i, where it acts (the centre of mass, from the tree origin), and the velocity there.
    """
    field, inertia, twist = data.field, data.inertia, data.twist
    m = inertia[i, 0] if inertia[i, 0] > 0.0 else 1.0
    x, y, z = inertia[i, 1] / m, inertia[i, 2] / m, inertia[i, 3] / m
    cx, cy, cz = cross(twist[i, 0], twist[i, 1], twist[i, 2], x, y, z)
    u, v, w = twist[i, 3] + cx, twist[i, 4] + cy, twist[i, 5] + cz
    drag = field[i, 3]
    return field[i, 0] - drag * u, field[i, 1] - drag * v, field[i, 2] - drag * w, x, y, z, u, v, w


@kernel
def _take_off_fields(model, data):
    """Subtract the forces of fields from the forces that the links need."""
    for i in range(1, data.force.shape[0]):
        fx, fy, fz, x, y, z, _, _, _ = field_force(model, data, i)
        mx, my, mz = cross(x, y, z, fx, fy, fz)
        data.force[i, 0] -= mx
        data.force[i, 1] -= my
        data.force[i, 2] -= mz
        data.force[i, 3] -= fx
        data.force[i, 4] -= fy
        data.force[i, 5] -= fz


@kernel
def spring_end(model, data, s, end):
    """World position and velocity of one end of spring s."""
    i = model.spring_link[s, end]
    o = model.root[i]
    position, matrix, twist, point = data.position, data.matrix, data.twist, model.spring_point
    k = 3 * end
    lx, ly, lz = point[s, k], point[s, k + 1], point[s, k + 2]
    x = position[i, 0] + matrix[i, 0, 0] * lx + matrix[i, 0, 1] * ly + matrix[i, 0, 2] * lz
    y = position[i, 1] + matrix[i, 1, 0] * lx + matrix[i, 1, 1] * ly + matrix[i, 1, 2] * lz
    z = position[i, 2] + matrix[i, 2, 0] * lx + matrix[i, 2, 1] * ly + matrix[i, 2, 2] * lz
    rx, ry, rz = x - position[o, 0], y - position[o, 1], z - position[o, 2]
    cx, cy, cz = cross(twist[i, 0], twist[i, 1], twist[i, 2], rx, ry, rz)
    return x, y, z, twist[i, 3] + cx, twist[i, 4] + cy, twist[i, 5] + cz


@kernel
def _take_off_springs(model, data):
    """Subtract the pull of every line spring from the forces that its two links need."""
    force, position, link, law = data.force, data.position, model.spring_link, model.spring_law
    for s in range(link.shape[0]):
        ax, ay, az, au, av, aw = spring_end(model, data, s, 0)
        bx, by, bz, bu, bv, bw = spring_end(model, data, s, 1)
        dx, dy, dz = bx - ax, by - ay, bz - az
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length == 0.0:
            continue
        dx, dy, dz = dx / length, dy / length, dz / length
        stretch = (bu - au) * dx + (bv - av) * dy + (bw - aw) * dz
        pull = law[s, 0] * (length - law[s, 1]) + law[s, 2] * stretch
        for end in range(2):
            i = link[s, end]
            if i == 0:
                continue
            o = model.root[i]
            sign = pull if end == 0 else -pull
            x, y, z = (ax, ay, az) if end == 0 else (bx, by, bz)
            fx, fy, fz = sign * dx, sign * dy, sign * dz
            mx, my, mz = cross(x - position[o, 0], y - position[o, 1], z - position[o, 2], fx, fy, fz)
            force[i, 0] -= mx
            force[i, 1] -= my
            force[i, 2] -= mz
            force[i, 3] -= fx
            force[i, 4] -= fy
            force[i, 5] -= fz


@kernel
def _take_off_soft_rows(model, data):
    """Subtract the pull of soft connections from the forces that their two links need. Rows must be laid."""
    pull_softly(model, data)
    for k in range(model.soft_rows.shape[0]):
        r = model.soft_rows[k]
        c = model.row_connection[r]
        first, second = model.first[c], model.second[c]
        for j in range(6):
            data.force[first, j] -= data.pull[r] * data.row_first[r, j]
            data.force[second, j] += data.pull[r] * data.row_second[r, j]
