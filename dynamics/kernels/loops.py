# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed loops: rows, their rank, and the mass-weighted projection onto what they allow.

Every row says that the first link does not move against the second along one wrench direction: J v = beta. With
M = L'DL let X = D^-1/2 L^-T J' and X = QR. Then in the coordinates z = D^1/2 L a, in which the mass matrix is the unit
matrix, the loops allow exactly what is orthogonal to Q, and the paper's projection (000 (29)-(38); W (W'MW)^-1 W'M) is

    z  <-  z - Q Q'z + Q R^-T (right-hand side).

Nothing is squared, no coordinates have to be chosen, and redundant rows drop out of the pivoted QR. Which rows count is
decided at poses where the loops are closed, and kept for the stages of a step, where a redundant row would look
independent by as much as the stage is open.
"""

import math

from ..jit import kernel
from .rows import compliance

# A row whose part outside the others' span is below this share of it is redundant. Loops closed to r say where the
# mechanism is to within r / share; at a distance `share` from a singular pose that must be far less than the share
# itself, or the loops would push it onto another branch. So the square root of steps.CLOSED, with a margin.
RANK_TOLERANCE = 1e-5
# A row this small beside the island's largest is rounding: nothing can move along it at all.
NOTHING = 1e-11
# A row is exchanged for another when its own squared share is less than this part of the other's.
CLEARLY = 0.04


@kernel
def spread_rows(model, data, n, chosen):
    """The rows of island n as columns of data.Q, in their order: differences of motion columns (000 (9)).

    chosen   how many rows of the order to lay out
    data.Q   (nu, nw) out for the island's velocities
    """
    parent, v_start, lead, slot, column = model.parent, model.v_start, model.lead, model.slot, data.column
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
                    e = lead[d]
                    if e >= 0:
                        value = (
                            t0 * column[d, 0] + t1 * column[d, 1] + t2 * column[d, 2]
                            + t3 * column[d, 3] + t4 * column[d, 4] + t5 * column[d, 5]
                        )  # fmt: skip
                        Q[slot[e], place] += value if e == d else model.ratio[d] * value
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
    """Q <- D^-1/2 L^-T Q for the velocities of one island, link by link from the leaves inward (mass.descend for all
    rows).
    """
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
def _even_out(model, data, base, width):
    """Measure every row by the longest of its kind in its connection: a row may itself be short near a singular pose.

    data.norm[0]   in: squared lengths of the rows; out: squared lengths to measure them by
    """
    norm, order = data.norm, data.order
    for j in range(width):
        c, slides = model.row_connection[order[base + j]], model.row_axis[order[base + j]] >= 3
        longest = norm[0, j]
        for k in range(width):
            r = order[base + k]
            # what has been taken off by now counts as it was: norm[1] still holds the rows' own lengths here
            if model.row_connection[r] == c and (model.row_axis[r] >= 3) == slides and model.give[r] < 0:
                longest = max(longest, norm[1, k])
        norm[0, j] = longest


@kernel
def factor_loops(model, data, decide):
    """Q and R of every island, from the factored mass matrix and the rows: modified Gram-Schmidt, pivoted.

    decide = 1 picks the independent rows, in their given order but for those where another is clearly better.
    decide = 0 is for stages, which are not quite on the loops: it keeps the rows picked before, but in a dead point
    leaves out those that stand out by less than data.doubt. There they would kick; the projection at the end of the
    step takes out what passes them.

    data.order, data.rank   which rows count, by island
    data.Q (nu, nw), data.R (nr, nw)   out; nw is a multiple of four
    """
    Q, R, order, norm = data.Q, data.R, data.order, data.norm
    for n in range(model.island_row.shape[0] - 1):
        base, low, high = model.island_row[n], model.island_dof[n], model.island_dof[n + 1]
        width = model.island_row[n + 1] - base if decide == 1 else data.rank[n]
        if decide == 1:
            # from the same beginning every time: the choice depends on the pose alone, so a restart makes it again
            for k in range(width):
                order[base + k] = base + k
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
        largest = 0.0
        # a soft row is as large as it gives way, which says nothing about the others
        for j in range(width):
            if model.give[order[base + j]] < 0:
                largest = max(largest, norm[0, j])
        for j in range(width):
            if model.give[order[base + j]] < 0 and norm[0, j] <= NOTHING * NOTHING * largest:
                norm[0, j], norm[1, j] = 1.0, 0.0
                for m in range(low, high):
                    Q[m, j] = 0.0
        _even_out(model, data, base, width)
        tolerance = RANK_TOLERANCE if decide == 1 else max(RANK_TOLERANCE, data.doubt[0])
        data.rank[n] = width
        if n == 0:
            data.least[0] = 1.0
        for k in range(width):
            best = k
            for j in range(k + 1, width):
                if norm[1, j] * norm[0, best] > norm[1, best] * norm[0, j]:
                    best = j
            if not norm[1, best] > tolerance * tolerance * norm[0, best]:
                data.rank[n] = k
                break
            if norm[1, k] * norm[0, best] < CLEARLY * norm[1, best] * norm[0, k]:
                for m in range(low, high):
                    Q[m, k], Q[m, best] = Q[m, best], Q[m, k]
                for m in range(k):
                    R[base + m, k], R[base + m, best] = R[base + m, best], R[base + m, k]
                for m in range(2):
                    norm[m, k], norm[m, best] = norm[m, best], norm[m, k]
                order[base + k], order[base + best] = order[base + best], order[base + k]
            data.least[0] = min(data.least[0], norm[1, k] / norm[0, k])
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
def loop_forces(model, data, z_free, right, scale, chosen):
    """Forces of all rows that make z_free into what constrain() gave: R multiplier = R^-T (scale * right) - Q'z_free.

    Where rows are redundant the forces are not unique; the share with the least sum of squares is taken, so that two
    hands with the same hold carry the same load. chosen = 1 lets the chosen rows carry all, for the stages of a step.

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
        _least_forces(R, y, order, multiplier, data.G, base, rank, rank if chosen == 1 else width)
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
