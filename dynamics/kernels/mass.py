# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass matrix by composite bodies, its factor M = L'DL, and the half solves that the loops are built on.

Row d of the matrix holds the entries of velocity d with its ancestors only, root first, and itself last. Two
velocities in different branches do not meet, so nothing else exists, and the row of an ancestor lines up with the
beginning of the row of every descendant. The factorisation eliminates from the leaves inward and so fills nothing in.

With mimic joints (003) the velocities are v = G times the independent ones, and the matrix is G'MG, in rows by the
ancestors of its own elimination tree (topology.merge_followers). Joint forces come in by G' in descend(), accelerations
go out by G in ascend(); all between is as without mimic joints.
"""

import math

from ..jit import kernel


@kernel
def _momentum(composite, i, column, d):
    """Momentum [angular; linear] of link i and everything beyond it, moving with velocity d."""
    w0, w1, w2 = column[d, 0], column[d, 1], column[d, 2]
    u0, u1, u2 = column[d, 3], column[d, 4], column[d, 5]
    m, h0, h1, h2 = composite[i, 0], composite[i, 1], composite[i, 2], composite[i, 3]
    xx, xy, xz = composite[i, 4], composite[i, 5], composite[i, 6]
    yy, yz, zz = composite[i, 7], composite[i, 8], composite[i, 9]
    return (
        xx * w0 + xy * w1 + xz * w2 + h1 * u2 - h2 * u1,
        xy * w0 + yy * w1 + yz * w2 + h2 * u0 - h0 * u2,
        xz * w0 + yz * w1 + zz * w2 + h0 * u1 - h1 * u0,
        m * u0 + w1 * h2 - w2 * h1,
        m * u1 + w2 * h0 - w0 * h2,
        m * u2 + w0 * h1 - w1 * h0,
    )


@kernel
def composite_mass(model, data):
    """Mass matrix M of the spanning tree, velocities that are prescribed or follow others left out.

    data.inertia     (nb, 10) link inertias about the tree origin
    data.composite   (nb, 10) out
    data.factor      (nv, depth + 1) out
    """
    parent, depth, ancestor, dof_link = model.parent, model.depth, model.ancestor, model.dof_link
    column, inertia, composite, factor = data.column, data.inertia, data.composite, data.factor
    filled = model.related.shape[0] > 0
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
        f0, f1, f2, f3, f4, f5 = _momentum(composite, dof_link[d], column, d)
        for k in range(n):
            e = ancestor[d, k]
            factor[d, k] = (
                column[e, 0] * f0 + column[e, 1] * f1 + column[e, 2] * f2
                + column[e, 3] * f3 + column[e, 4] * f4 + column[e, 5] * f5
            )  # fmt: skip
        factor[d, n] = (
            column[d, 0] * f0 + column[d, 1] * f1 + column[d, 2] * f2
            + column[d, 3] * f3 + column[d, 4] * f4 + column[d, 5] * f5
        )  # fmt: skip
        if filled:
            for k in range(n):
                if model.related[d, k] == 0:
                    factor[d, k] = 0.0


@kernel
def merge_mass(model, data):
    """Add the followers' columns and rows to those of their leaders: M becomes G'MG (003 (17)).

    data.pair_mass   (np) out: the entries of M themselves
    """
    depth, pair, column = model.depth, model.pair, data.column
    for p in range(pair.shape[0]):
        d, e = pair[p, 0], pair[p, 1]
        f0, f1, f2, f3, f4, f5 = _momentum(data.composite, model.dof_link[d], column, d)
        data.pair_mass[p] = (
            column[e, 0] * f0 + column[e, 1] * f1 + column[e, 2] * f2
            + column[e, 3] * f3 + column[e, 4] * f4 + column[e, 5] * f5
        )  # fmt: skip
        data.factor[pair[p, 2], depth[pair[p, 3]]] += model.pair_weight[p] * data.pair_mass[p]


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
    """x <- D^-1/2 L^-T G'x: joint forces into the coordinates in which the mass matrix is the unit matrix."""
    depth, ancestor, factor, root_pivot = model.depth, model.ancestor, data.factor, data.root_pivot
    for m in range(model.follower.shape[0]):
        d = model.follower[m, 0]
        x[model.lead[d]] += model.ratio[d] * x[d]
        x[d] = 0.0
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
    """x <- G L^-1 D^-1/2 x: back to joint accelerations or velocities. Prescribed entries stay as they are."""
    depth, ancestor, factor, root_pivot = model.depth, model.ancestor, data.factor, data.root_pivot
    for d in range(depth.shape[0]):
        n = depth[d]
        if n < 0:
            continue
        value = x[d] * root_pivot[d]
        for k in range(n):
            value -= factor[d, k] * x[ancestor[d, k]]
        x[d] = value
    for m in range(model.follower.shape[0]):
        d = model.follower[m, 0]
        x[d] = model.ratio[d] * x[model.lead[d]]
