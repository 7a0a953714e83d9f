# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of the closed chain: pose, factors, accelerations, and the projections onto the loops."""

import math

from ..jit import kernel
from ..joint import FREE, SPHERICAL
from .acting import act, stiffen_joints
from .bias import joint_forces
from .energy import STOPS, keep_books
from .integrate import displace
from .kinematics import move_links, place_links, spread_columns
from .loops import constrain, factor_loops, loop_forces, stiffen_mass
from .mass import ascend, composite_mass, descend, factor_mass, keep_diagonal, merge_mass
from .rows import lay_rows, open_by, row_drifts, row_rates, soften_drifts
from .stops import inertia_about, set_stop, stop_depth

SWEEPS = 40
CREEPS = 1e-7  # rad/s: slower than this nothing goes into a stop


@kernel
def impose(model, data, sample, part):
    """Set prescribed links, muscles' goals and given joint forces to what their tables say, a `part` of a step after a
    sample.

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
        v, a = data.given_v, data.given_a
        turned = model.kind[i] == SPHERICAL or model.kind[i] == FREE
        _blend_pose(data.given_q, sample, k, first, middle, last, turned, data.q[s : model.q_start[i + 1]])
        for j in range(model.v_start[i + 1] - d):
            data.v[d + j] = first * v[sample, k, j] + middle * v[sample + 1, k, j] + last * v[sample + 2, k, j]
            data.a[d + j] = first * a[sample, k, j] + middle * a[sample + 1, k, j] + last * a[sample + 2, k, j]
    if model.driven.shape[0] > 0:
        _aim(model, data, sample, first, middle, last)
    data.tau[:] = data.given_tau


@kernel
def _aim(model, data, sample, first, middle, last):
    """The muscles' goals as their tables say between three samples."""
    driven, kind, q_start, v_start = model.driven, model.kind, model.q_start, model.v_start
    table, v, f, g = data.goals_q, data.goals_v, data.goals_tau, data.goals_gain
    goal, rate, turning, force, gain = data.goal, data.goal_rate, data.goal_turning, data.goal_force, data.gain
    per_step = 1.0 / max(data.now[1], 1e-300)
    for m in range(driven.shape[0]):
        i = driven[m]
        turned = kind[i] == SPHERICAL or kind[i] == FREE
        _blend_pose(table, sample, m, first, middle, last, turned, goal[m, : q_start[i + 1] - q_start[i]])
        for j in range(v_start[i + 1] - v_start[i]):
            rate[m, j] = first * v[sample, m, j] + middle * v[sample + 1, m, j] + last * v[sample + 2, m, j]
            turning[m, j] = (v[sample + 2, m, j] - v[sample, m, j]) * per_step
            force[m, j] = first * f[sample, m, j] + middle * f[sample + 1, m, j] + last * f[sample + 2, m, j]
        gain[m] = max(0.0, first * g[sample, m] + middle * g[sample + 1, m] + last * g[sample + 2, m])


@kernel
def _blend_pose(table, sample, k, first, middle, last, turned, out):
    """Joint coordinates between three samples of a table; the first four are a quaternion if `turned`."""
    flip_middle, flip_last = 1.0, 1.0
    if turned:
        # tables of quaternions may change sign from one sample to the next
        dot_middle, dot_last = 0.0, 0.0
        for j in range(4):
            dot_middle += table[sample, k, j] * table[sample + 1, k, j]
            dot_last += table[sample, k, j] * table[sample + 2, k, j]
        flip_middle = -1.0 if dot_middle < 0.0 else 1.0
        flip_last = -1.0 if dot_last < 0.0 else 1.0
    size = 0.0
    for j in range(out.shape[0]):
        x, y = (flip_middle, flip_last) if j < 4 else (1.0, 1.0)
        out[j] = first * table[sample, k, j] + middle * x * table[sample + 1, k, j] + last * y * table[sample + 2, k, j]
        if j < 4:
            size += out[j] * out[j]
    if turned:
        for j in range(4):
            out[j] /= math.sqrt(size)


@kernel
def factor(model, data, decide):
    """Mass matrix, its factor and the loops' factor at a pose whose links are placed.

    Returns -1, or the velocity that moves no mass.
    """
    spread_columns(model, data)
    composite_mass(model, data)
    merge_mass(model, data)
    keep_diagonal(model, data)
    if model.acts[0] == 1:
        if data.implicit[0] > 0.0:
            act(model, data)
        stiffen_joints(model, data)
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
    half, a, lead = data.half, data.a, model.lead
    for d in range(lead.shape[0]):
        half[d] = data.tau[d] - data.bias[d] if lead[d] >= 0 else 0.0
    if model.acts[0] == 1 and data.implicit[0] > 0.0:
        _look_ahead(model, data)
    descend(model, data, half)
    for d in range(lead.shape[0]):
        if lead[d] >= 0:
            a[d] = half[d]
    if model.row_axis.shape[0] > 0:
        row_drifts(model, data)
        if turning == 0:
            data.gamma[:] = 0.0
        soften_drifts(model, data, 0)
        constrain(model, data, a, data.gamma, -1.0, 1)
    ascend(model, data, a)


@kernel
def _look_ahead(model, data):
    """Let the joints' springs act with where they will be if the present velocity goes on."""
    ahead = data.implicit[1] / data.implicit[0]
    for d in range(model.lead.shape[0]):
        data.half[d] -= ahead * data.answer[d, 0] * data.v[d] if model.lead[d] >= 0 else 0.0
    for m in range(model.driven.shape[0]):
        if data.strained[m] == 0 and data.gain[m] > 0.0:
            i = model.driven[m]
            for k in range(model.v_start[i + 1] - model.v_start[i]):
                d = model.v_start[i] + k
                if model.lead[d] >= 0:
                    # the goal moves on too
                    data.half[d] += ahead * data.gain[m] * model.muscle[m, 0] * data.goal_rate[m, k]
    for l in range(model.limited.shape[0]):
        if data.stop_answer[l, 0] > 0.0:
            i = model.limited[l]
            rate = 0.0
            for k in range(model.v_start[i + 1] - model.v_start[i]):
                rate += data.stop_normal[l, k] * data.v[model.v_start[i] + k]
            for k in range(model.v_start[i + 1] - model.v_start[i]):
                data.half[model.v_start[i] + k] -= ahead * data.stop_answer[l, 0] * rate * data.stop_normal[l, k]


@kernel
def meet_stops(model, data, tolerance, rate, how):
    """Joints that have gone beyond a stop: take the velocity outward from them, by the smallest impulse (000
    (29)-(38)), and from then on hold them there.

    Returns 1 if one is deeper than the tolerance, before anything is done: the step was too long to meet it there.

    rate   1/s: how firmly to hold
    how    0 by springs of the inertia felt there, for explicit steps; 1 by springs as if the whole tree hung on the
           joint, 2 by dampers of that kind, which do no work
    """
    for l in range(model.limited.shape[0]):
        free = model.lead[model.v_start[model.limited[l]]] >= 0
        if free and data.stop_rest[l] < 0.0 and stop_depth(model, data, l) > tolerance:
            return 1
    energy = -1.0
    # one stop's impulse can drive a joint into another: in turn, until all of them are met
    for _ in range(SWEEPS if model.limited.shape[0] > 0 else 0):
        met = 0
        for l in range(model.limited.shape[0]):
            i = model.limited[l]
            first, count = model.v_start[i], model.v_start[i + 1] - model.v_start[i]
            if model.lead[first] < 0:
                continue
            deep = stop_depth(model, data, l)
            if deep < 0.0:
                data.stop_rest[l], data.stop_on[l] = -1.0, 0
                continue
            outward = 0.0
            move = data.move
            move[:] = 0.0
            for k in range(count):
                outward += data.outward[k] * data.v[first + k]
                move[first + k] = data.outward[k]
            if outward <= CREEPS and data.stop_rest[l] >= 0.0:
                continue
            descend(model, data, move)
            if model.row_axis.shape[0] > 0:
                data.missing[:] = 0.0
                constrain(model, data, move, data.missing, 0.0, 1)
            weight = 0.0
            for d in range(move.shape[0]):
                weight += move[d] * move[d]
            if weight < 1e-20:
                continue
            if data.stop_rest[l] < 0.0:
                inertia = 1.0 / weight if how == 0 else inertia_about(model, data, i)
                if how == 2:
                    set_stop(model, data, l, deep, 0.0, inertia * rate)
                else:
                    set_stop(model, data, l, deep, inertia * rate * rate, 2.0 * inertia * rate)
            if outward <= CREEPS:
                continue
            if energy < 0.0:
                move_links(model, data)
                keep_books(model, data)
                energy = data.energy[0]
            ascend(model, data, move)
            for d in range(move.shape[0]):
                data.v[d] -= outward / weight * move[d]
            met = 1
        if met == 0:
            break
    if energy >= 0.0:
        move_links(model, data)
        keep_books(model, data)
        data.spent[STOPS] += data.energy[0] - energy
    return 0


@kernel
def reactions(model, data):
    """Loop forces of the last accelerate(), springs and dampers of soft rows included: data.multiplier."""
    loop_forces(model, data, data.half, data.gamma, -1.0, 0)
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
