# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of the closed chain: pose, factors, accelerations, and the projections onto the loops."""

import math

from ..jit import kernel
from .bias import joint_forces
from .integrate import displace
from .kinematics import move_links, place_links, spread_columns
from .loops import constrain, factor_loops, loop_forces, stiffen_mass
from .mass import ascend, composite_mass, descend, factor_mass, keep_diagonal
from .rows import lay_rows, open_by, row_drifts, row_rates, soften_drifts


@kernel
def impose(model, data, sample, part):
    """Set prescribed links and given joint forces to what their tables say a `part` of a step after a sample.

    Tables have two samples a step, so parts 0, 0.5 and 1 are in them; between those the parabola through the three is
    taken.
    """
    data.now[0] = data.time[0] + part * data.now[1]
    first = (1.0 - part) * (1.0 - 2.0 * part)
    middle = 4.0 * part * (1.0 - part)
    last = part * (2.0 * part - 1.0)
    for k in range(model.prescribed.shape[0]):
        i = model.prescribed[k]
        s, d = model.q_start[i], model.v_start[i]
        q, v, a = data.given_q, data.given_v, data.given_a
        # tables of quaternions may change sign from one sample to the next
        size, turned = 0.0, 1.0
        for m in range(1, 3):
            dot = 0.0
            for j in range(4):
                dot += q[sample, k, j] * q[sample + m, k, j]
            if dot < 0.0:
                turned = -1.0
        for j in range(7):
            flip = turned if j < 4 else 1.0
            value = first * q[sample, k, j] + (middle * q[sample + 1, k, j] + last * q[sample + 2, k, j]) * flip
            data.q[s + j] = value
            if j < 4:
                size += value * value
        for j in range(4):
            data.q[s + j] /= math.sqrt(size)
        for j in range(6):
            data.v[d + j] = first * v[sample, k, j] + middle * v[sample + 1, k, j] + last * v[sample + 2, k, j]
            data.a[d + j] = first * a[sample, k, j] + middle * a[sample + 1, k, j] + last * a[sample + 2, k, j]
    data.tau[:] = data.given_tau


@kernel
def factor(model, data, decide):
    """Mass matrix, its factor and the loops' factor at a pose whose links are placed.

    Returns -1, or the velocity that moves no mass.
    """
    spread_columns(model, data)
    composite_mass(model, data)
    keep_diagonal(model, data)
    loops = model.row_axis.shape[0] > 0
    if loops:
        lay_rows(model, data)
        if model.dense[0] == 1:
            stiffen_mass(model, data)
    failed = factor_mass(model, data)
    if loops:
        factor_loops(model, data, decide)
    return failed


@kernel
def accelerate(model, data, turning):
    """Accelerations of the closed chain (001 (17)-(19) and (13), in the projected form of loops.py).

    turning = 0 leaves out what keeps the velocity on the loops while they turn: for a step that projects it there
    afterwards.

    data.a      (nv) in: prescribed entries; out: all
    data.half   (nv) out: D^-1/2 L^-T (tau - bias), what the accelerations would be without loops
    """
    move_links(model, data)
    joint_forces(model, data, 0)
    half, a, depth = data.half, data.a, model.depth
    for d in range(depth.shape[0]):
        half[d] = data.tau[d] - data.bias[d] if depth[d] >= 0 else 0.0
    descend(model, data, half)
    for d in range(depth.shape[0]):
        if depth[d] >= 0:
            a[d] = half[d]
    if model.row_axis.shape[0] > 0:
        row_drifts(model, data)
        soften_drifts(model, data, 0)
        constrain(model, data, a, data.gamma, -1.0 if turning == 1 else 0.0, 1)
    ascend(model, data, a)


@kernel
def reactions(model, data):
    """Loop forces of the last accelerate(), springs and dampers of soft rows included: data.multiplier."""
    loop_forces(model, data, data.half, data.gamma, -1.0)
    for k in range(model.soft_rows.shape[0]):
        data.multiplier[model.soft_rows[k]] += data.pull[model.soft_rows[k]]


@kernel
def correct(model, data, right, out):
    """The smallest change in the mass metric that moves the rows by `right`; out (nv)."""
    for d in range(out.shape[0]):
        out[d] = 0.0
    constrain(model, data, out, right, 1.0, 0)
    ascend(model, data, out)


@kernel
def project_velocity(model, data):
    """Put data.v onto the loops: v+ = W (W'MW)^-1 W'M v (000 (29)-(38)). Factors must fit the pose.

    data.missing   (nr) out: the row velocities that were made up
    """
    if model.row_axis.shape[0] == 0:
        return
    move_links(model, data)
    row_rates(model, data, data.missing)
    for k in range(model.soft_rows.shape[0]):
        data.missing[model.soft_rows[k]] = 0.0
    correct(model, data, data.missing, data.move)
    for d in range(data.v.shape[0]):
        data.v[d] += data.move[d]


@kernel
def project_position(model, data, tolerance, most):
    """Close the loops by steps of the last factors, then place the links; returns how far they are open still."""
    place_links(model, data)
    if model.row_axis.shape[0] == 0:
        return 0.0
    worst = open_by(model, data)
    for _ in range(most):
        if worst <= tolerance:
            break
        for r in range(data.residual.shape[0]):
            data.residual[r] = -data.residual[r] if model.give[r] < 0 else 0.0
        correct(model, data, data.residual, data.move)
        displace(model, data.q, data.move, 1.0, data.q)
        place_links(model, data)
        before = worst
        worst = open_by(model, data)
        # rounding level reached, or no progress: the caller decides with better factors
        if not worst < 0.5 * before:
            break
    return worst
