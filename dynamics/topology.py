# SPDX-License-Identifier: GPL-3.0-or-later
"""How links hang together, as arrays: ancestors, islands of loops and what they touch, groups that float.

Kernels, since a structure changes in mid-run and the run should not notice.
"""

import numpy as np

from .jit import kernel


@kernel
def plan_tree(parent, v_start, given):
    """Tree roots, and for every velocity its link and its line of free ancestors."""
    nb, nv = parent.shape[0], v_start[-1]
    root, moves = np.zeros(nb, dtype=np.int64), np.zeros(nb, dtype=np.int64)
    reach = np.zeros(nb, dtype=np.int64)  # free velocities from the world to a link, itself included
    dof_link, depth = np.zeros(nv, dtype=np.int64), np.full(nv, -1, dtype=np.int64)
    deepest = 0
    for i in range(1, nb):
        p = parent[i]
        root[i] = i if p == 0 else root[p]
        reach[i] = reach[p]
        for d in range(v_start[i], v_start[i + 1]):
            dof_link[d] = i
            if not given[i]:
                depth[d] = reach[i]
                reach[i] += 1
        moves[i] = 1 if reach[i] > 0 else 0
        deepest = max(deepest, reach[i])
    ancestor = np.zeros((nv, deepest), dtype=np.int64)
    for d in range(nv):
        n = depth[d]
        if n <= 0:
            continue
        i = dof_link[d]
        # the free velocity just before d on the way to the root, and all of its ancestors
        before = d - 1
        if d == v_start[i]:
            i = parent[i]
            while v_start[i] == v_start[i + 1] or given[i]:
                i = parent[i]
            before = v_start[i + 1] - 1
        ancestor[d, : n - 1] = ancestor[before, : n - 1]
        ancestor[d, n - 1] = before
    return root, moves, dof_link, depth, ancestor


@kernel
def merge_followers(parent, v_start, dof_link, lead, ratio):
    """The elimination tree of the mass matrix G'MG of chains with mimic joints (003 (17)), and what goes into it.

    A follower's column is added to its leader's, which then meets everything that either of them meets. Elimination
    runs from the last velocity to the first; what it fills in lies on the way from a velocity to the root of this
    tree, so rows by ancestors hold it as they hold the matrix of a tree without mimic joints.

    lead (nv)    the velocity that stands for each: itself, its leader, or -1 if prescribed;  ratio (nv)
    Returns depth and ancestor as plan_tree() does; every pair of velocities with a follower in it, as (one, other,
    row, column) in G'MG; and with which weight the pair goes there.
    """
    nv = lead.shape[0]
    meets = np.zeros((nv, nv), dtype=np.int64)
    count = 0
    for d in range(nv):
        i = dof_link[d]
        while i != 0:
            for e in range(v_start[i], min(v_start[i + 1], d + 1)):
                if lead[d] >= 0 and lead[e] >= 0:
                    meets[max(lead[d], lead[e]), min(lead[d], lead[e])] = 1
                    count += lead[d] != d or lead[e] != e
            i = parent[i]
    pairs, weights = np.zeros((count, 4), dtype=np.int64), np.ones(count)
    count = 0
    for d in range(nv):
        i = dof_link[d]
        while i != 0:
            for e in range(v_start[i], min(v_start[i + 1], d + 1)):
                if lead[d] >= 0 and lead[e] >= 0 and (lead[d] != d or lead[e] != e):
                    pairs[count, 0], pairs[count, 1] = d, e
                    pairs[count, 2], pairs[count, 3] = max(lead[d], lead[e]), min(lead[d], lead[e])
                    # two that become one meet twice, above and below the diagonal
                    twice = d != e and lead[d] == lead[e]
                    weights[count] = ratio[d] * ratio[e] * (2.0 if twice else 1.0)
                    count += 1
            i = parent[i]
    above, depth = np.full(nv, -1, dtype=np.int64), np.full(nv, -1, dtype=np.int64)
    for d in range(nv - 1, -1, -1):
        for e in range(d - 1, -1, -1):
            if meets[d, e] == 1:
                if above[d] < 0:
                    above[d] = e
                else:
                    meets[above[d], e] = 1
    deepest = 0
    for d in range(nv):
        if lead[d] == d:
            depth[d] = 0 if above[d] < 0 else depth[above[d]] + 1
            deepest = max(deepest, depth[d] + 1)
    ancestor = np.zeros((nv, deepest), dtype=np.int64)
    for d in range(nv):
        n = depth[d]
        if n > 0:
            ancestor[d, : n - 1] = ancestor[above[d], : n - 1]
            ancestor[d, n - 1] = above[d]
    return depth, ancestor, pairs, weights


@kernel
def find_related(parent, v_start, depth, dof_link, deepest):
    """Which ancestors in the elimination tree are ancestors in the kinematic tree too: (nv, deepest)."""
    related = np.zeros((depth.shape[0], deepest), dtype=np.int64)
    for d in range(depth.shape[0]):
        i = dof_link[d]
        while depth[d] >= 0 and i != 0:
            for e in range(v_start[i], min(v_start[i + 1], d)):
                if depth[e] >= 0:
                    related[d, depth[e]] = 1
            i = parent[i]
    return related


@kernel
def fill_in(depth):
    """An elimination tree without branches: depth and ancestor, as plan_tree() gives them."""
    nv = depth.shape[0]
    line = np.full(nv, -1, dtype=np.int64)
    n = 0
    for d in range(nv):
        if depth[d] >= 0:
            line[d] = n
            n += 1
    ancestor = np.zeros((nv, n), dtype=np.int64)
    for d in range(nv):
        for e in range(d):
            if line[d] >= 0 and line[e] >= 0:
                ancestor[d, line[e]] = e
    return line, ancestor


@kernel
def _top(leader, a):
    """Who leads the group of `a` in the end."""
    while leader[a] != a:
        a = leader[a]
    return a


@kernel
def find_islands(parent, root, moves, first, second, ties):
    """Common ancestor and island of every connection, and the order that sorts them by island.

    Trees that no free velocity moves (the world, anchors) do not join islands. ties (n, 2) are links whose trees are
    tied to each other by other things than connections.
    """
    nb, nc = parent.shape[0], first.shape[0]
    leader = np.arange(nb)
    for t in range(ties.shape[0]):
        a, b = _top(leader, root[ties[t, 0]]), _top(leader, root[ties[t, 1]])
        leader[max(a, b)] = min(a, b)
    common = np.zeros(nc, dtype=np.int64)
    for c in range(nc):
        i, k = first[c], second[c]
        if root[i] == root[k]:
            # parents have smaller numbers than their children
            while i != k:
                if i > k:
                    i = parent[i]
                else:
                    k = parent[k]
            common[c] = i
        a, b = _top(leader, root[first[c]]), _top(leader, root[second[c]])
        if a != b and moves[first[c]] == 1 and moves[second[c]] == 1:
            leader[max(a, b)] = min(a, b)
    island = np.zeros(nc, dtype=np.int64)
    for c in range(nc):
        island[c] = _top(leader, root[first[c]] if moves[first[c]] == 1 else root[second[c]])
    order = np.arange(nc)
    # few and nearly sorted: insertion, which keeps the order within an island and compiles quickly
    for c in range(1, nc):
        k = c
        while k > 0 and island[order[k - 1]] > island[order[k]]:
            order[k - 1], order[k] = order[k], order[k - 1]
            k -= 1
    return common, island, order


@kernel
def find_supports(parent, v_start, lead, depth, ancestor, first, second, common, island, row_start, soft):
    """Rows and touched velocities of every island."""
    nc, nv = first.shape[0], depth.shape[0]
    count = 0
    for c in range(nc):
        if c == 0 or island[c] != island[c - 1]:
            count += 1
    island_row, island_dof = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    slot = np.full(nv, -1, dtype=np.int64)
    nr = soft.shape[0]
    support, give = np.full(nv + nr, -1, dtype=np.int64), np.full(nr, -1, dtype=np.int64)
    island_end = np.zeros(count, dtype=np.int64)
    touched = np.full(nv, -1, dtype=np.int64)
    n = -1
    for c in range(nc):
        if c == 0 or island[c] != island[c - 1]:
            n += 1
        island_row[n + 1] = row_start[c + 1]
        for side in range(2):
            # down to the world: the factor of a row reaches all ancestors, also those that cancel in the row itself
            i = first[c] if side == 0 else second[c]
            while i != 0:
                for d in range(v_start[i + 1] - 1, v_start[i] - 1, -1):
                    e = lead[d]
                    if e >= 0 and touched[e] != n:
                        touched[e] = n
                        for k in range(depth[e]):
                            touched[ancestor[e, k]] = n
                i = parent[i]
    used = 0
    for m in range(count):
        for d in range(nv):
            if touched[d] == m:
                slot[d] = used
                support[used] = d
                used += 1
        island_end[m] = used
        for r in range(island_row[m], island_row[m + 1]):
            if soft[r, 0] > 0.0 or soft[r, 1] > 0.0:
                give[r] = used
                used += 1
        island_dof[m + 1] = used
    return island_row, island_dof, island_end, support[:used].copy(), slot, give


@kernel
def find_floating(parent, root, free, ties):
    """Group of every link (-1 if held), and the roots of every group: (first, one past the last) in a list."""
    nb = parent.shape[0]
    leader, held = np.arange(nb), np.zeros(nb, dtype=np.int64)
    for i in range(1, nb):
        if parent[i] == 0 and not free[i]:
            held[i] = 1
    for t in range(ties.shape[0]):
        a, b = _top(leader, root[ties[t, 0]]), _top(leader, root[ties[t, 1]])
        if a == 0 or b == 0:
            held[max(a, b)] = 1
        elif a != b:
            leader[a] = b
            held[b] = max(held[a], held[b])
    number, count = np.full(nb, -1, dtype=np.int64), 0
    for i in range(1, nb):
        if parent[i] == 0 and leader[i] == i and held[i] == 0:
            number[i] = count
            count += 1
    floating = np.full(nb, -1, dtype=np.int64)
    for i in range(1, nb):
        floating[i] = number[_top(leader, root[i])]
    ends, roots, used = np.zeros((count, 2), dtype=np.int64), np.zeros(nb, dtype=np.int64), 0
    for n in range(count):
        ends[n, 0] = used
        for i in range(1, nb):
            if parent[i] == 0 and floating[i] == n:
                roots[used] = i
                used += 1
        ends[n, 1] = used
    return floating, ends, roots[:used].copy()
