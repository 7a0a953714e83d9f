# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact momentum in free flight.

Nothing but gravity changes the momentum of a group of links that floats: its centre of mass flies a parabola, and its
angular momentum about the centre of mass is constant. A step of second order misses both by a little; the rigid motion
of the whole group that makes up for it disturbs no joint and no connection within the group, and no order. The forces
of fields count like weight for the centre of mass, and the spin is then left to the step; so is all, if there is drag.
"""

from ..jit import kernel
from .kinematics import move_links, place_links
from .rotations import cross, turn


@kernel
def _sum_up(model, data, n):
    """Mass, centre, momentum and inertia of group n: (mass, centre 3, angular about the centre 3, linear 3, tensor 6).
    """
    floating, root, inertia, twist, position = model.floating, model.root, data.inertia, data.twist, data.position
    m = 0.0
    sx, sy, sz = 0.0, 0.0, 0.0
    for i in range(1, root.shape[0]):
        if floating[i] == n:
            o = root[i]
            m += inertia[i, 0]
            sx += inertia[i, 1] + inertia[i, 0] * position[o, 0]
            sy += inertia[i, 2] + inertia[i, 0] * position[o, 1]
            sz += inertia[i, 3] + inertia[i, 0] * position[o, 2]
    if m == 0.0:
        return (0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    gx, gy, gz = sx / m, sy / m, sz / m
    l0, l1, l2, p0, p1, p2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(1, root.shape[0]):
        if floating[i] != n:
            continue
        o = root[i]
        w0, w1, w2, u0, u1, u2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        k, h0, h1, h2 = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
        a0, a1, a2 = k * u0 + w1 * h2 - w2 * h1, k * u1 + w2 * h0 - w0 * h2, k * u2 + w0 * h1 - w1 * h0
        dx, dy, dz = position[o, 0] - gx, position[o, 1] - gy, position[o, 2] - gz
        c0, c1, c2 = cross(dx, dy, dz, a0, a1, a2)
        l0 += c0 + inertia[i, 4] * w0 + inertia[i, 5] * w1 + inertia[i, 6] * w2 + h1 * u2 - h2 * u1
        l1 += c1 + inertia[i, 5] * w0 + inertia[i, 7] * w1 + inertia[i, 8] * w2 + h2 * u0 - h0 * u2
        l2 += c2 + inertia[i, 6] * w0 + inertia[i, 8] * w1 + inertia[i, 9] * w2 + h0 * u1 - h1 * u0
        p0, p1, p2 = p0 + a0, p1 + a1, p2 + a2
        # tensor about the centre: from the tree origin by the parallel axes, first moments included
        xx += inertia[i, 4] + 2.0 * (h1 * dy + h2 * dz) + k * (dy * dy + dz * dz)
        yy += inertia[i, 7] + 2.0 * (h0 * dx + h2 * dz) + k * (dx * dx + dz * dz)
        zz += inertia[i, 9] + 2.0 * (h0 * dx + h1 * dy) + k * (dx * dx + dy * dy)
        xy += inertia[i, 5] - (h0 * dy + h1 * dx) - k * dx * dy
        xz += inertia[i, 6] - (h0 * dz + h2 * dx) - k * dx * dz
        yz += inertia[i, 8] - (h1 * dz + h2 * dy) - k * dy * dz
    return m, (gx, gy, gz), (l0, l1, l2), (p0, p1, p2), (xx, xy, xz, yy, yz, zz)


@kernel
def _is_pushed(model, data, n):
    """Whether anything but gravity acts on group n from outside: its momentum is then for the step to find."""
    for i in range(1, model.root.shape[0]):
        if model.floating[i] == n:
            for k in range(6):
                if data.wrench[i, k] != 0.0:
                    return True
            if data.field.shape[0] > 0 and data.field[i, 3] != 0.0:
                return True
    for k in range(model.floating_root[n, 0], model.floating_root[n, 1]):
        i = model.floating_roots[k]
        for d in range(model.v_start[i], model.v_start[i + 1]):
            if data.tau[d] != 0.0:
                return True
    return False


@kernel
def hold_momentum(model, data, h):
    """Remember where the momentum and the centre of mass of every floating group must be after a step of length h.

    data.group_momentum (nf, 6), data.group_centre (nf, 5)   out; a mass of 0 leaves the group alone
    """
    if model.floating_root.shape[0] == 0:
        return
    move_links(model, data)
    for n in range(model.floating_root.shape[0]):
        m, centre, angular, linear, tensor = _sum_up(model, data, n)
        if _is_pushed(model, data, n):
            m = 0.0
        data.group_centre[n, 4] = 1.0
        for k in range(3):
            force = m * model.gravity[k]
            for i in range(1, data.field.shape[0]):
                if model.floating[i] == n and data.field[i, k] != 0.0:
                    force += data.field[i, k]
                    data.group_centre[n, 4] = 0.0
            data.group_momentum[n, k] = angular[k]
            data.group_momentum[n, 3 + k] = linear[k] + force * h
            if m > 0.0:
                data.group_centre[n, k] = centre[k] + h * linear[k] / m + 0.5 * h * h * force / m
        data.group_centre[n, 3] = m


@kernel
def restore_centre(model, data):
    """Move every floating group as a whole, so that its centre of mass is as held. Links must be placed, and are again.
    """
    position, matrix, com, at = data.position, data.matrix, model.com, model.at_rotation
    moved = False
    for n in range(model.floating_root.shape[0]):
        m = data.group_centre[n, 3]
        if m == 0.0:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for i in range(1, model.root.shape[0]):
            if model.floating[i] == n:
                k, cx, cy, cz = model.mass[i], com[i, 0], com[i, 1], com[i, 2]
                x += k * (position[i, 0] + matrix[i, 0, 0] * cx + matrix[i, 0, 1] * cy + matrix[i, 0, 2] * cz)
                y += k * (position[i, 1] + matrix[i, 1, 0] * cx + matrix[i, 1, 1] * cy + matrix[i, 1, 2] * cz)
                z += k * (position[i, 2] + matrix[i, 2, 0] * cx + matrix[i, 2, 1] * cy + matrix[i, 2, 2] * cz)
        x, y, z = data.group_centre[n, 0] - x / m, data.group_centre[n, 1] - y / m, data.group_centre[n, 2] - z / m
        for k in range(model.floating_root[n, 0], model.floating_root[n, 1]):
            i = model.floating_roots[k]
            s = model.q_start[i]
            # q holds the position in the joint frame, which may be turned against the world
            dx, dy, dz = turn(at[i, 0], -at[i, 1], -at[i, 2], -at[i, 3], x, y, z)
            data.q[s + 4] += dx
            data.q[s + 5] += dy
            data.q[s + 6] += dz
        moved = True
    if moved:
        place_links(model, data)


@kernel
def restore_momentum(model, data):
    """Set every floating group in motion as a whole, so that its momentum is as held."""
    if model.floating_root.shape[0] == 0:
        return
    move_links(model, data)
    position, matrix = data.position, data.matrix
    for n in range(model.floating_root.shape[0]):
        m, centre, angular, linear, tensor = _sum_up(model, data, n)
        xx, xy, xz, yy, yz, zz = tensor
        # minors of the tensor; a group that is one line or one point has no inverse and keeps its spin
        a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        determinant = xx * a + xy * b + xz * c
        if data.group_centre[n, 3] == 0.0 or not determinant > 1e-9 * xx * yy * zz:
            continue
        d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
        held = data.group_centre[n, 4] / determinant
        l0, l1, l2 = (
            (data.group_momentum[n, 0] - angular[0]) * held,
            (data.group_momentum[n, 1] - angular[1]) * held,
            (data.group_momentum[n, 2] - angular[2]) * held,
        )
        w0, w1, w2 = a * l0 + b * l1 + c * l2, b * l0 + d * l1 + e * l2, c * l0 + e * l1 + f * l2
        u0 = (data.group_momentum[n, 3] - linear[0]) / m
        u1 = (data.group_momentum[n, 4] - linear[1]) / m
        u2 = (data.group_momentum[n, 5] - linear[2]) / m
        for k in range(model.floating_root[n, 0], model.floating_root[n, 1]):
            i = model.floating_roots[k]
            v = model.v_start[i]
            c0, c1, c2 = cross(
                w0, w1, w2, position[i, 0] - centre[0], position[i, 1] - centre[1], position[i, 2] - centre[2]
            )
            for j in range(3):
                data.v[v + j] += matrix[i, 0, j] * w0 + matrix[i, 1, j] * w1 + matrix[i, 2, j] * w2
                data.v[v + 3 + j] += (
                    matrix[i, 0, j] * (u0 + c0) + matrix[i, 1, j] * (u1 + c1) + matrix[i, 2, j] * (u2 + c2)
                )
