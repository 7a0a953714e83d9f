# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed loops: rows, their rank, and the mass-weighted projection onto what they allow.

Every row says that the first link does not move against the second along one wrench direction: J v = beta. With
M = L'DL let X = D^-1/2 L^-T J' and X = QR. Then in the coordinates z = D^1/2 L a, in which the mass matrix is the unit matrix,
the loops allow exactly what is orthogonal to Q, and the paper's projection (000 (29)-(38); W (W'MW)^-1 W'M) is

    z  <-  z - Q Q'z + Q R^-T (right-hand side).

Nothing is squared, no coordinates have to be chosen, and redundant rows drop out of the pivoted QR. Which rows count is
decided at poses where the loops are closed, and kept for the stages of a step, where a redundant row would look independent by
as much as the stage is open.
"""

import math

from ..jit import kernel
from .rotations import cross, multiply, turn

# A row whose part outside the others' span is below this share of it is redundant.
RANK_TOLERANCE = 1e-8
# Compliance of a row that nothing holds: its force is zero but for rounding.
LIMP = 1e30
# A row this small beside the island's largest is rounding: nothing can move along it at all.
NOTHING = 1e-11
# A row is exchanged for another when its own squared share is less than this part of the other's.
CLEARLY = 0.04


@kernel
def joint_frames(model, data, c):
    """Both joint frames of connection c in the world: first point, second point, second rotation, first rotation."""
    i, k = model.first[c], model.second[c]
    position, rotation = data.position, data.rotation
    fp, fr, sp, sr = model.first_position, model.first_rotation, model.second_position, model.second_rotation
    ax, ay, az = turn(
        rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3], fp[c, 0], fp[c, 1], fp[c, 2]
    )
    bx, by, bz = turn(
        rotation[k, 0], rotation[k, 1], rotation[k, 2], rotation[k, 3], sp[c, 0], sp[c, 1], sp[c, 2]
    )
    first = multiply(
        rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3], fr[c, 0], fr[c, 1], fr[c, 2], fr[c, 3]
    )
    second = multiply(
        rotation[k, 0], rotation[k, 1], rotation[k, 2], rotation[k, 3], sr[c, 0], sr[c, 1], sr[c, 2], sr[c, 3]
    )
    return (
        (position[i, 0] + ax, position[i, 1] + ay, position[i, 2] + az),
        (position[k, 0] + bx, position[k, 1] + by, position[k, 2] + bz),
        second,
        first,
    )


@kernel
def unit_axis(q, axis):
    """Column `axis` of the rotation matrix of the quaternion q."""
    w, x, y, z = q
    if axis == 0:
        return 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    if axis == 1:
        return 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def easing(model, data, c):
    """How much of its first opening connection c still has: (share, rate, acceleration), a smooth fall from 1 to 0."""
    if model.ease_time[c] == 0.0:
        return 0.0, 0.0, 0.0
    span = model.ease_time[c]
    x = (data.now[0] - model.ease_start[c]) / span
    if x >= 1.0:
        return 0.0, 0.0, 0.0
    x = max(x, 0.0)
    return (
        1.0 - x * x * x * (10.0 - 15.0 * x + 6.0 * x * x),
        -30.0 * x * x * (1.0 - x) * (1.0 - x) / span,
        -60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (span * span),
    )


@kernel
def open_by(model, data):
    """How far every row is open, less what easing allows; returns the largest distance or angle of the hard rows.

    data.residual   (nr) out: m along sliding rows, rad about turning rows, in the second joint frame
    """
    residual, row_axis, row_start = data.residual, model.row_axis, model.row_start
    worst = 0.0
    for c in range(model.first.shape[0]):
        a, b, second, first = joint_frames(model, data, c)
        share, _, _ = easing(model, data, c)
        dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        # relative rotation: vector part of conjugate(second) * first; for small angles half the angle vector
        w, x, y, z = multiply(
            second[0], -second[1], -second[2], -second[3], first[0], first[1], first[2], first[3]
        )
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        # turning about z is free unless all three turning rows are there: then the z axes alone are compared
        hinge = True
        for r in range(row_start[c], row_start[c + 1]):
            if row_axis[r] == 2:
                hinge = False
        for r in range(row_start[c], row_start[c + 1]):
            axis = row_axis[r]
            if axis >= 3:
                nx, ny, nz = unit_axis(second, axis - 3)
                e = nx * dx + ny * dy + nz * dz
            elif hinge:
                # first z axis seen from the second frame: (2(xz + wy), 2(yz - wx), .)
                e = 2.0 * (w * x - y * z) if axis == 0 else 2.0 * (x * z + w * y)
            else:
                e = 2.0 * (x if axis == 0 else (y if axis == 1 else z))
            e -= share * model.ease_offset[r]
            residual[r] = e
            # not max(): a NaN must come through
            if model.give[r] < 0 and not abs(e) <= worst:
                worst = abs(e)
    return worst


@kernel
def lay_rows(model, data):
    """The wrench of every row about both trees' origins (the rows of J_C, 000 (10), with the joint's own columns projected out).

    data.row_first, data.row_second   (nr, 6) out
    """
    row_first, row_second, row_axis, row_start = data.row_first, data.row_second, model.row_axis, model.row_start
    position, root = data.position, model.root
    for c in range(model.first.shape[0]):
        a, b, second, first = joint_frames(model, data, c)
        o, u = root[model.first[c]], root[model.second[c]]
        rx, ry, rz = a[0] - position[o, 0], a[1] - position[o, 1], a[2] - position[o, 2]
        sx, sy, sz = a[0] - position[u, 0], a[1] - position[u, 1], a[2] - position[u, 2]
        for r in range(row_start[c], row_start[c + 1]):
            axis = row_axis[r]
            if axis >= 3:
                nx, ny, nz = unit_axis(second, axis - 3)
                row_first[r, 0], row_first[r, 1], row_first[r, 2] = cross(rx, ry, rz, nx, ny, nz)
                row_second[r, 0], row_second[r, 1], row_second[r, 2] = cross(sx, sy, sz, nx, ny, nz)
                row_first[r, 3], row_first[r, 4], row_first[r, 5] = nx, ny, nz
                row_second[r, 3], row_second[r, 4], row_second[r, 5] = nx, ny, nz
            else:
                nx, ny, nz = unit_axis(second, axis)
                row_first[r, 0], row_first[r, 1], row_first[r, 2] = nx, ny, nz
                row_second[r, 0], row_second[r, 1], row_second[r, 2] = nx, ny, nz
                for k in range(3, 6):
                    row_first[r, k] = 0.0
                    row_second[r, k] = 0.0


@kernel
def row_rates(model, data, rate):
    """What is missing to J v = beta in every row, from the links' twists.

    rate   (nr) out
    """
    row_first, row_second, twist = data.row_first, data.row_second, data.twist
    for c in range(model.first.shape[0]):
        i, k = model.first[c], model.second[c]
        _, closing, _ = easing(model, data, c)
        for r in range(model.row_start[c], model.row_start[c + 1]):
            s = closing * model.ease_offset[r]
            for j in range(6):
                s += row_second[r, j] * twist[k, j] - row_first[r, j] * twist[i, j]
            rate[r] = s


@kernel
def row_drifts(model, data):
    """Acceleration of every row with the present data.drift: J-dot v and what is prescribed (001 (16)).

    data.gamma   (nr) out
    """
    row_first, row_second, row_axis = data.row_first, data.row_second, model.row_axis
    twist, drift, gamma, position, root = data.twist, data.drift, data.gamma, data.position, model.root
    for c in range(model.first.shape[0]):
        i, k = model.first[c], model.second[c]
        a, b, second, first = joint_frames(model, data, c)
        o, u = root[i], root[k]
        # velocity of the first joint point as carried by the first and by the second link
        ax, ay, az = cross(
            twist[i, 0], twist[i, 1], twist[i, 2], a[0] - position[o, 0], a[1] - position[o, 1], a[2] - position[o, 2]
        )
        ax, ay, az = ax + twist[i, 3], ay + twist[i, 4], az + twist[i, 5]
        bx, by, bz = cross(
            twist[k, 0], twist[k, 1], twist[k, 2], a[0] - position[u, 0], a[1] - position[u, 1], a[2] - position[u, 2]
        )
        bx, by, bz = bx + twist[k, 3], by + twist[k, 4], bz + twist[k, 5]
        wx, wy, wz = twist[i, 0] - twist[k, 0], twist[i, 1] - twist[k, 1], twist[i, 2] - twist[k, 2]
        cx, cy, cz = cross(wx, wy, wz, ax, ay, az)
        _, _, closing = easing(model, data, c)
        for r in range(model.row_start[c], model.row_start[c + 1]):
            axis = row_axis[r]
            nx, ny, nz = unit_axis(second, axis - 3 if axis >= 3 else axis)
            ux, uy, uz = cross(twist[k, 0], twist[k, 1], twist[k, 2], nx, ny, nz)
            if axis >= 3:
                s = nx * cx + ny * cy + nz * cz + ux * (ax - bx) + uy * (ay - by) + uz * (az - bz)
            else:
                s = ux * wx + uy * wy + uz * wz
            for j in range(6):
                s += row_first[r, j] * drift[i, j] - row_second[r, j] * drift[k, j]
            gamma[r] = s - closing * model.ease_offset[r]


@kernel
def compliance(model, data, r):
    """How much a soft row gives: J a + compliance * force = what it would do unheld, over the step that looks ahead.

    The spring and the damper act with where the row will be: force = -(stiffness p + damping u) J a for a step that looks
    ahead by u in velocity and p in position. For an explicit step nothing of the kind holds the row.
    """
    firm = model.soft[r, 0] * data.implicit[1] + model.soft[r, 1] * data.implicit[0]
    return 1.0 / firm if firm > 0.0 else LIMP


@kernel
def pull_softly(model, data):
    """Force of the spring and damper of every soft row, as data.pull (nr); rows and twists must be up to date."""
    row_rates(model, data, data.missing)
    open_by(model, data)
    for r in range(data.pull.shape[0]):
        data.pull[r] = model.soft[r, 1] * data.missing[r] - model.soft[r, 0] * data.residual[r]


@kernel
def soften_drifts(model, data, corrects):
    """Change data.gamma of soft rows into what constrain() needs for them.

    corrects = 1: the row's force is in the joint forces already and only answers to changes of the accelerations;
    corrects = 0: it also answers to how the row will move on at its present rate.
    """
    for k in range(model.soft_rows.shape[0]):
        r = model.soft_rows[k]
        if corrects == 1:
            data.gamma[r] = 0.0
        elif data.implicit[0] > 0.0:
            ahead = data.implicit[1] / data.implicit[0]
            # pull = damping * missing rate - stiffness * opening; the missing rate is the row's own, negative
            rate = -data.missing[r]
            data.gamma[r] += compliance(model, data, r) * model.soft[r, 0] * ahead * rate


@kernel
def spread_rows(model, data, n, chosen):
    """The rows of island n as columns of data.Q, in their order: differences of motion columns (000 (9)).

    chosen   how many rows of the order to lay out
    data.Q   (nu, nw) out for the island's velocities
    """
    parent, v_start, depth, slot, column = model.parent, model.v_start, model.depth, model.slot, data.column
    Q, order = data.Q, data.order
    base, wide = model.island_row[n], Q.shape[1]
    for k in range(model.island_dof[n], model.island_dof[n + 1]):
        for j in range(wide):
            Q[k, j] = 0.0
    for place in range(chosen):
        r = order[base + place]
        c = model.row_connection[r]
        if model.give[r] >= 0:
            Q[model.give[r], place] = math.sqrt(compliance(model, data, r))
        for side in range(2):
            i = model.first[c] if side == 0 else model.second[c]
            row = data.row_first if side == 0 else data.row_second
            sign = 1.0 if side == 0 else -1.0
            t0, t1, t2 = sign * row[r, 0], sign * row[r, 1], sign * row[r, 2]
            t3, t4, t5 = sign * row[r, 3], sign * row[r, 4], sign * row[r, 5]
            while i != model.common[c]:
                for d in range(v_start[i], v_start[i + 1]):
                    if depth[d] >= 0:
                        Q[slot[d], place] = (
                            t0 * column[d, 0] + t1 * column[d, 1] + t2 * column[d, 2]
                            + t3 * column[d, 3] + t4 * column[d, 4] + t5 * column[d, 5]
                        )  # fmt: skip
                i = parent[i]


@kernel
def stiffen_mass(model, data):
    """Add J'DJ to the mass matrix: exact, since what it acts on is prescribed by the loops, and it gives links without
    mass of their own a pivot wherever the loops hold them. Only for models compiled with fill-in.
    """
    depth, ancestor, slot, factor, Q = model.depth, model.ancestor, model.slot, data.factor, data.Q
    for n in range(model.island_row.shape[0] - 1):
        width = model.island_row[n + 1] - model.island_row[n]
        heaviest = 0.0
        for k in range(model.island_dof[n], model.island_end[n]):
            d = model.support[k]
            heaviest = max(heaviest, factor[d, depth[d]])
        if heaviest == 0.0:
            heaviest = 1.0
        spread_rows(model, data, n, width)
        data.stiffness[n] = heaviest
        for k in range(model.island_dof[n], model.island_end[n]):
            d = model.support[k]
            for j in range(depth[d] + 1):
                e = ancestor[d, j] if j < depth[d] else d
                s = 0.0
                for r in range(width):
                    if model.give[data.order[model.island_row[n] + r]] < 0:
                        s += Q[k, r] * Q[slot[e], r]
                factor[d, j] += heaviest * s


@kernel
def _subtract(Q, into, share, row, blocks):
    """Row `into` of Q minus a share of row `row`, four numbers at a time so that they stay in vector registers."""
    for b in range(blocks):
        j = 4 * b
        v0 = Q[into, j] - share * Q[row, j]
        v1 = Q[into, j + 1] - share * Q[row, j + 1]
        v2 = Q[into, j + 2] - share * Q[row, j + 2]
        v3 = Q[into, j + 3] - share * Q[row, j + 3]
        Q[into, j], Q[into, j + 1], Q[into, j + 2], Q[into, j + 3] = v0, v1, v2, v3


@kernel
def _descend_rows(model, data, low, high, blocks):
    """Q <- D^-1/2 L^-T Q for the velocities of one island, link by link from the leaves inward (mass.descend for all rows)."""
    depth, ancestor, slot, factor, Q = model.depth, model.ancestor, model.slot, data.factor, data.Q
    last = high - 1
    while last >= low:
        d = model.support[last]
        start = model.v_start[model.dof_link[d]]
        count = d - start + 1
        k = last - count + 1
        n = depth[start]
        for m in range(count - 1, 0, -1):
            for j in range(m):
                _subtract(Q, k + j, factor[start + m, n + j], k + m, blocks)
        if count == 3:
            # a ball joint's three rows at once: their ancestors are read and written once instead of three times
            for b in range(blocks):
                j = 4 * b
                a0, a1, a2, a3 = Q[k, j], Q[k, j + 1], Q[k, j + 2], Q[k, j + 3]
                b0, b1, b2, b3 = Q[k + 1, j], Q[k + 1, j + 1], Q[k + 1, j + 2], Q[k + 1, j + 3]
                c0, c1, c2, c3 = Q[k + 2, j], Q[k + 2, j + 1], Q[k + 2, j + 2], Q[k + 2, j + 3]
                for m in range(n):
                    e = slot[ancestor[start, m]]
                    x, y, z = factor[start, m], factor[start + 1, m], factor[start + 2, m]
                    v0 = Q[e, j] - (x * a0 + y * b0 + z * c0)
                    v1 = Q[e, j + 1] - (x * a1 + y * b1 + z * c1)
                    v2 = Q[e, j + 2] - (x * a2 + y * b2 + z * c2)
                    v3 = Q[e, j + 3] - (x * a3 + y * b3 + z * c3)
                    Q[e, j], Q[e, j + 1], Q[e, j + 2], Q[e, j + 3] = v0, v1, v2, v3
        else:
            for row in range(count):
                for m in range(n):
                    _subtract(Q, slot[ancestor[start, m]], factor[start + row, m], k + row, blocks)
        for row in range(count):
            scale = data.root_pivot[start + row]
            for j in range(4 * blocks):
                Q[k + row, j] *= scale
        last = k - 1


@kernel
def factor_loops(model, data, decide):
    """Q and R of every island, from the factored mass matrix and the rows: modified Gram-Schmidt, pivoted.

    decide = 1 picks the independent rows, beginning with the order of the last time and changing it only where another row is
    clearly better; decide = 0 keeps the rows picked before, in their order.

    data.order, data.rank   which rows count, by island (out if decide)
    data.Q (nu, nw), data.R (nr, nw)   out; nw is a multiple of four
    """
    Q, R, order, norm = data.Q, data.R, data.order, data.norm
    for n in range(model.island_row.shape[0] - 1):
        base, low, high = model.island_row[n], model.island_dof[n], model.island_dof[n + 1]
        width = model.island_row[n + 1] - base if decide == 1 else data.rank[n]
        blocks = (width + 3) // 4
        spread_rows(model, data, n, width)
        _descend_rows(model, data, low, model.island_end[n], blocks)
        for b in range(blocks):
            j = 4 * b
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for m in range(low, high):
                s0 += Q[m, j] * Q[m, j]
                s1 += Q[m, j + 1] * Q[m, j + 1]
                s2 += Q[m, j + 2] * Q[m, j + 2]
                s3 += Q[m, j + 3] * Q[m, j + 3]
            norm[0, j], norm[0, j + 1], norm[0, j + 2], norm[0, j + 3] = s0, s1, s2, s3
            norm[1, j], norm[1, j + 1], norm[1, j + 2], norm[1, j + 3] = s0, s1, s2, s3
        found = width
        if decide == 1:
            largest = 0.0
            for j in range(width):
                largest = max(largest, norm[0, j])
            for j in range(width):
                if norm[0, j] <= NOTHING * NOTHING * largest:
                    norm[0, j], norm[1, j] = 1.0, 0.0
                    for m in range(low, high):
                        Q[m, j] = 0.0
        for k in range(width):
            if decide == 1:
                best = k
                for j in range(k + 1, width):
                    if norm[1, j] * norm[0, best] > norm[1, best] * norm[0, j]:
                        best = j
                if not norm[1, best] > RANK_TOLERANCE * RANK_TOLERANCE * norm[0, best]:
                    found = k
                    break
                if norm[1, k] * norm[0, best] < CLEARLY * norm[1, best] * norm[0, k]:
                    for m in range(low, high):
                        Q[m, k], Q[m, best] = Q[m, best], Q[m, k]
                    for m in range(k):
                        R[base + m, k], R[base + m, best] = R[base + m, best], R[base + m, k]
                    for m in range(2):
                        norm[m, k], norm[m, best] = norm[m, best], norm[m, k]
                    order[base + k], order[base + best] = order[base + best], order[base + k]
            length = math.sqrt(norm[1, k])
            inverse = 1.0 / length
            for m in range(low, high):
                Q[m, k] *= inverse
            for b in range((k + 1) // 4, blocks):
                j = 4 * b
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                for m in range(low, high):
                    value = Q[m, k]
                    s0 += value * Q[m, j]
                    s1 += value * Q[m, j + 1]
                    s2 += value * Q[m, j + 2]
                    s3 += value * Q[m, j + 3]
                # columns up to k are done: nothing is taken from them
                s0 = 0.0 if j <= k else s0
                s1 = 0.0 if j + 1 <= k else s1
                s2 = 0.0 if j + 2 <= k else s2
                s3 = 0.0 if j + 3 <= k else s3
                n0, n1, n2, n3 = 0.0, 0.0, 0.0, 0.0
                for m in range(low, high):
                    value = Q[m, k]
                    v0, v1 = Q[m, j] - value * s0, Q[m, j + 1] - value * s1
                    v2, v3 = Q[m, j + 2] - value * s2, Q[m, j + 3] - value * s3
                    Q[m, j], Q[m, j + 1], Q[m, j + 2], Q[m, j + 3] = v0, v1, v2, v3
                    n0, n1, n2, n3 = n0 + v0 * v0, n1 + v1 * v1, n2 + v2 * v2, n3 + v3 * v3
                R[base + k, j], R[base + k, j + 1], R[base + k, j + 2], R[base + k, j + 3] = s0, s1, s2, s3
                norm[1, j], norm[1, j + 1], norm[1, j + 2], norm[1, j + 3] = n0, n1, n2, n3
            R[base + k, k] = length
        if decide == 1:
            data.rank[n] = found


@kernel
def constrain(model, data, z, right, scale, project):
    """z <- z - Q Q'z + Q R^-T (scale * right), z in the coordinates D^1/2 L a.

    right     (nr) what the rows must come to
    project   0 leaves out Q Q'z, for a z that is zero
    """
    support, Q, R, y, order = model.support, data.Q, data.R, data.y, data.order
    for n in range(model.island_row.shape[0] - 1):
        base, low, high, rank = model.island_row[n], model.island_dof[n], model.island_end[n], data.rank[n]
        for k in range(rank):
            y[k] = scale * right[order[base + k]]
        for k in range(rank):
            value = y[k] / R[base + k, k]
            y[k] = value
            for j in range(k + 1, rank):
                y[j] -= R[base + k, j] * value
        if project == 1:
            for k in range(low, high):
                value = z[support[k]]
                for j in range(rank):
                    y[j] -= Q[k, j] * value
        for k in range(low, high):
            s = 0.0
            for j in range(rank):
                s += Q[k, j] * y[j]
            z[support[k]] += s


@kernel
def loop_forces(model, data, z_free, right, scale):
    """Forces of all rows that make z_free into what constrain() gave: R multiplier = R^-T (scale * right) - Q'z_free.

    Where rows are redundant the forces are not unique; the share with the least sum of squares is taken, so that two hands
    with the same hold carry the same load.

    data.multiplier   (nr) out
    """
    support, Q, R, y, order = model.support, data.Q, data.R, data.y, data.order
    multiplier = data.multiplier
    for n in range(model.island_row.shape[0] - 1):
        base, low, high, rank = model.island_row[n], model.island_dof[n], model.island_end[n], data.rank[n]
        width = model.island_row[n + 1] - base
        for k in range(width):
            multiplier[base + k] = 0.0
        for k in range(rank):
            y[k] = scale * right[order[base + k]]
        for k in range(rank):
            y[k] = y[k] / R[base + k, k]
            for j in range(k + 1, rank):
                y[j] -= R[base + k, j] * y[k]
        for k in range(low, high):
            for j in range(rank):
                y[j] -= Q[k, j] * z_free[support[k]]
        _least_forces(R, y, order, multiplier, data.G, base, rank, width)
        if model.dense[0] == 1:
            # what stiffen_mass() put into the mass matrix is part of the loop forces
            for k in range(base, base + width):
                if model.give[k] < 0:
                    multiplier[k] -= data.stiffness[n] * scale * right[k]


@kernel
def _least_forces(R, y, order, multiplier, G, base, rank, width):
    """Least-squares shortest solution of R multiplier = y, R being (rank, width) upper trapezoidal."""
    if rank == width:
        for k in range(rank - 1, -1, -1):
            s = y[k]
            for j in range(k + 1, rank):
                s -= R[base + k, j] * multiplier[order[base + j]]
            multiplier[order[base + k]] = s / R[base + k, k]
        return
    # R R' u = y by Cholesky, multiplier = R'u
    for i in range(rank):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, width):
                s += R[base + i, k] * R[base + j, k]
            G[i, j] = s
    for i in range(rank):
        for j in range(i + 1):
            s = G[i, j]
            for k in range(j):
                s -= G[i, k] * G[j, k]
            G[i, j] = math.sqrt(s) if i == j else s / G[j, j]
    for i in range(rank):
        s = y[i]
        for k in range(i):
            s -= G[i, k] * y[k]
        y[i] = s / G[i, i]
    for i in range(rank - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, rank):
            s -= G[k, i] * y[k]
        y[i] = s / G[i, i]
    for j in range(width):
        s = 0.0
        for k in range(min(j + 1, rank)):
            s += R[base + k, j] * y[k]
        multiplier[order[base + j]] = s
