# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass matrix by composite bodies, its factor M = L'DL, and the half solves that the loops are built on.

Row d of the matrix holds the entries of velocity d with its ancestors only, root first, and itself last. Two
velocities in different branches do not meet, so nothing else exists, and the row of an ancestor lines up with the
beginning of the row of every descendant. The factorisation eliminates from the leaves inward and so fills nothing in.
"""

import math

from ..jit import kernel


@kernel
def composite_mass(model, data):
    """Mass matrix M of the spanning tree, prescribed velocities left out.

    data.inertia     (nb, 10) link inertias about the tree origin
    data.composite   (nb, 10) out
    data.factor      (nv, depth + 1) out
    """
    parent, depth, ancestor, dof_link = model.parent, model.depth, model.ancestor, model.dof_link
    column, inertia, composite, factor = data.column, data.inertia, data.composite, data.factor
    filled = model.dense[0] == 1
    for i in range(1, parent.shape[0]):
        for k in range(10):
            composite[i, k] = inertia[i, k]
    for i in range(parent.shape[0] - 1, 0, -1):
        p = parent[i]
        if p > 0:
            for k in range(10):
                composite[p, k] += composite[i, k]
    for d in range(depth.shape[0]):
        n = depth[d]
        if n < 0:
            continue
        i = dof_link[d]
        w0, w1, w2 = column[d, 0], column[d, 1], column[d, 2]
        u0, u1, u2 = column[d, 3], column[d, 4], column[d, 5]
        m, h0, h1, h2 = composite[i, 0], composite[i, 1], composite[i, 2], composite[i, 3]
        xx, xy, xz = composite[i, 4], composite[i, 5], composite[i, 6]
        yy, yz, zz = composite[i, 7], composite[i, 8], composite[i, 9]
        f0 = xx * w0 + xy * w1 + xz * w2 + h1 * u2 - h2 * u1
        f1 = xy * w0 + yy * w1 + yz * w2 + h2 * u0 - h0 * u2
        f2 = xz * w0 + yz * w1 + zz * w2 + h0 * u1 - h1 * u0
        f3 = m * u0 + w1 * h2 - w2 * h1
        f4 = m * u1 + w2 * h0 - w0 * h2
        f5 = m * u2 + w0 * h1 - w1 * h0
        for k in range(n):
            e = ancestor[d, k]
            factor[d, k] = (
                column[e, 0] * f0 + column[e, 1] * f1 + column[e, 2] * f2
                + column[e, 3] * f3 + column[e, 4] * f4 + column[e, 5] * f5
            )  # fmt: skip
        factor[d, n] = w0 * f0 + w1 * f1 + w2 * f2 + u0 * f3 + u1 * f4 + u2 * f5
        if filled:
            for k in range(n):
                if model.related[d, k] == 0:
                    factor[d, k] = 0.0


@kernel
def factor_mass(model, data):
    """Factor M = L'DL in place; L has a unit diagonal, the pivots D stand in its place.

    Returns -1, or the velocity whose pivot vanished: a link that can move without moving any mass.

    data.factor       (nv, depth + 1) in and out
    data.root_pivot   (nv) out: 1 / sqrt(pivot)
    """
    depth, ancestor, factor, root_pivot = model.depth, model.ancestor, data.factor, data.root_pivot
    failed = -1
    for d in range(depth.shape[0] - 1, -1, -1):
        n = depth[d]
        if n < 0:
            continue
        pivot = factor[d, n]
        # what is left of a diagonal entry after elimination is rounding below 1e-14 of the largest it was made from
        if not pivot > 1e-14 * root_pivot[d]:
            failed = d
            pivot = 1.0
        inverse = 1.0 / pivot
        for k in range(n - 1, -1, -1):
            e = ancestor[d, k]
            share = factor[d, k] * inverse
            for j in range(k + 1):
                factor[e, j] -= share * factor[d, j]
            factor[d, k] = share
        root_pivot[d] = math.sqrt(inverse)
    return failed


@kernel
def keep_diagonal(model, data):
    """Remember the diagonal before factoring, in data.root_pivot: the scale against which a pivot counts as vanished.
    """
    for d in range(model.depth.shape[0]):
        n = model.depth[d]
        if n >= 0:
            data.root_pivot[d] = data.factor[d, n]


@kernel
def descend(model, data, x):
    """x <- D^-1/2 L^-T x: joint forces into the coordinates in which the mass matrix is the unit matrix."""
    depth, ancestor, factor, root_pivot = model.depth, model.ancestor, data.factor, data.root_pivot
    for d in range(depth.shape[0] - 1, -1, -1):
        n = depth[d]
        if n < 0:
            continue
        value = x[d]
        for k in range(n):
            x[ancestor[d, k]] -= factor[d, k] * value
        x[d] = value * root_pivot[d]


@kernel
def ascend(model, data, x):
    """x <- L^-1 D^-1/2 x: back to joint accelerations or velocities. Prescribed entries stay as they are."""
    depth, ancestor, factor, root_pivot = model.depth, model.ancestor, data.factor, data.root_pivot
    for d in range(depth.shape[0]):
        n = depth[d]
        if n < 0:
            continue
        value = x[d] * root_pivot[d]
        for k in range(n):
            value -= factor[d, k] * x[ancestor[d, k]]
        x[d] = value
