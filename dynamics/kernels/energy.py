# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy and momentum of the present state, and the power of everything that changes the energy.

The books hold for the links that some free velocity moves. What moves them as given (keyed joints, animated props) does
work on them like a muscle. With E the kinetic energy and the potential of weight and line springs, the powers add up to
dE/dt at every state whose accelerations solve the equations of motion. A step takes them where it takes its
accelerations, with the same weights: what its energy is off by then is its own error and nothing else.
"""

import math

from ..jit import kernel
from .bias import field_force, joint_forces, spring_end
from .kinematics import move_links
from .loops import loop_forces
from .mass import descend
from .rows import easing

# accounts of data.power and data.work; act() fills the first three
MUSCLES, FRICTION, STOPS, KEYED, GRIPS, SPRINGS, OUTSIDE = range(7)


@kernel
def _momentum(inertia, twist, i):
    """[angular; linear] momentum of link i about the tree origin."""
    w0, w1, w2, u0, u1, u2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
    m, h0, h1, h2 = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
    xx, xy, xz, yy, yz, zz = inertia[i, 4], inertia[i, 5], inertia[i, 6], inertia[i, 7], inertia[i, 8], inertia[i, 9]
    return (
        xx * w0 + xy * w1 + xz * w2 + h1 * u2 - h2 * u1,
        xy * w0 + yy * w1 + yz * w2 + h2 * u0 - h0 * u2,
        xz * w0 + yz * w1 + zz * w2 + h0 * u1 - h1 * u0,
        m * u0 + w1 * h2 - w2 * h1,
        m * u1 + w2 * h0 - w0 * h2,
        m * u2 + w0 * h1 - w1 * h0,
    )


@kernel
def keep_books(model, data):
    """Energies and momentum of all links that move freely.

    data.energy     (2) out: kinetic, potential (zero at the world origin; springs included), J
    data.momentum   (6) out: [angular about the world origin; linear]
    data.twist and data.inertia must be up to date.
    """
    energy, momentum = data.energy, data.momentum
    inertia, twist, position, root, free = data.inertia, data.twist, data.position, model.root, model.moves
    g = model.gravity
    energy[:] = 0.0
    momentum[:] = 0.0
    for i in range(1, root.shape[0]):
        if free[i] == 0:
            continue
        w0, w1, w2, u0, u1, u2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        m, h0, h1, h2 = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
        l0, l1, l2, p0, p1, p2 = _momentum(inertia, twist, i)
        o = root[i]
        ox, oy, oz = position[o, 0], position[o, 1], position[o, 2]
        energy[0] += 0.5 * (w0 * l0 + w1 * l1 + w2 * l2 + u0 * p0 + u1 * p1 + u2 * p2)
        energy[1] -= g[0] * (h0 + m * ox) + g[1] * (h1 + m * oy) + g[2] * (h2 + m * oz)
        momentum[0] += l0 + oy * p2 - oz * p1
        momentum[1] += l1 + oz * p0 - ox * p2
        momentum[2] += l2 + ox * p1 - oy * p0
        momentum[3] += p0
        momentum[4] += p1
        momentum[5] += p2
    if model.acts[0] == 1:
        for d in range(data.v.shape[0]):
            energy[0] += 0.5 * model.virtual_inertia[d] * data.v[d] ** 2
    for s in range(model.spring_link.shape[0]):
        ax, ay, az, _, _, _ = spring_end(model, data, s, 0)
        bx, by, bz, _, _, _ = spring_end(model, data, s, 1)
        length = math.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2)
        energy[1] += 0.5 * model.spring_law[s, 0] * (length - model.spring_law[s, 1]) ** 2


@kernel
def energy_now(model, data):
    """Kinetic and potential energy of a settled state."""
    move_links(model, data)
    keep_books(model, data)
    return data.energy[0] + data.energy[1]


@kernel
def is_rough(model, data, before, share):
    """Whether the energy has changed, besides the work spent, by more than a share of the kinetic energy.

    Near rest, of that of falling freely for ten whole steps: a figure that hangs still needs no care.
    """
    off = energy_now(model, data) - before
    for k in range(data.spent.shape[0]):
        off -= data.spent[k]
    g, mass = model.gravity, 0.0
    for i in range(1, model.mass.shape[0]):
        mass += model.mass[i]
    fall = 50.0 * mass * (g[0] ** 2 + g[1] ** 2 + g[2] ** 2) * data.now[1] ** 2
    return abs(off) > share * (data.energy[0] + fall)


@kernel
def _is_drawn(model, data):
    """Whether any connection is drawing its links together now."""
    drawn = False
    for c in range(model.first.shape[0]):
        drawn = drawn or easing(model, data, c)[1] != 0.0
    return drawn


@kernel
def is_passive(model, data):
    """Whether nothing but the weight does any work now."""
    if model.acts[0] == 1 or model.prescribed.shape[0] + model.soft_rows.shape[0] + model.spring_link.shape[0] > 0:
        return False
    loads = float(data.field.shape[0])
    for i in range(data.wrench.shape[0]):
        for k in range(6):
            loads += abs(data.wrench[i, k])
    for d in range(data.tau.shape[0]):
        loads += abs(data.tau[d])
    return loads == 0.0 and not _is_drawn(model, data)


@kernel
def count_power(model, data, solved):
    """Power (W) of everything that acts, after accelerate(), or with solved = 1 after the last corrector of an implicit
    step, whose joint forces were made with all accelerations.

    data.power   (7) in: what acts in the joints; out: all accounts
    """
    power, v, lead = data.power, data.v, model.lead
    given = model.prescribed.shape[0] > 0
    if given and solved == 0:
        joint_forces(model, data, 1)
    for k in range(KEYED, OUTSIDE + 1):
        power[k] = 0.0
    if is_passive(model, data):
        return
    _count_loads(model, data)
    if given:
        for d in range(v.shape[0]):
            if lead[d] < 0:
                power[KEYED] += data.bias[d] * v[d]
        _leave_out(model, data)
    if model.soft_rows.shape[0] > 0:
        _count_soft_rows(model, data)
    if model.row_axis.shape[0] > 0 and (given or _is_drawn(model, data)):
        if solved == 1:
            free = data.move
            for d in range(v.shape[0]):
                free[d] = data.tau[d] - data.bias[d] if lead[d] >= 0 else 0.0
            descend(model, data, free)
            loop_forces(model, data, free, data.gamma, -1.0, 1)
        else:
            loop_forces(model, data, data.half, data.gamma, -1.0, 1)
        _count_hard_rows(model, data)


@kernel
def _count_loads(model, data):
    """Wrenches, fields and joint forces from outside, and the dampers of line springs; the springs store energy."""
    power, twist, wrench, position = data.power, data.twist, data.wrench, data.position
    for i in range(1, wrench.shape[0]):
        m0, m1, m2, f0, f1, f2 = wrench[i, 0], wrench[i, 1], wrench[i, 2], wrench[i, 3], wrench[i, 4], wrench[i, 5]
        if m0 == 0.0 and m1 == 0.0 and m2 == 0.0 and f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        o = model.root[i]
        rx, ry, rz = position[i, 0] - position[o, 0], position[i, 1] - position[o, 1], position[i, 2] - position[o, 2]
        m0, m1, m2 = m0 + ry * f2 - rz * f1, m1 + rz * f0 - rx * f2, m2 + rx * f1 - ry * f0
        power[OUTSIDE] += (
            m0 * twist[i, 0] + m1 * twist[i, 1] + m2 * twist[i, 2]
            + f0 * twist[i, 3] + f1 * twist[i, 4] + f2 * twist[i, 5]
        )  # fmt: skip
    for i in range(1, data.field.shape[0]):
        f0, f1, f2, _, _, _, u0, u1, u2 = field_force(model, data, i)
        power[OUTSIDE] += f0 * u0 + f1 * u1 + f2 * u2
    for d in range(data.v.shape[0]):
        if model.lead[d] >= 0:
            power[OUTSIDE] += data.tau[d] * data.v[d]
    for s in range(model.spring_link.shape[0]):
        ax, ay, az, au, av, aw = spring_end(model, data, s, 0)
        bx, by, bz, bu, bv, bw = spring_end(model, data, s, 1)
        dx, dy, dz = bx - ax, by - ay, bz - az
        square = dx * dx + dy * dy + dz * dz
        if square > 0.0:
            stretch = (bu - au) * dx + (bv - av) * dy + (bw - aw) * dz
            power[SPRINGS] -= model.spring_law[s, 2] * stretch * stretch / square


@kernel
def _leave_out(model, data):
    """Take off what keyed joints spend on links that only they move: those are not in the books."""
    inertia, twist, drift = data.inertia, data.twist, data.drift
    for i in range(1, twist.shape[0]):
        if model.moves[i] == 1:
            continue
        l0, l1, l2, p0, p1, p2 = _momentum(inertia, twist, i)
        # the gyroscopic part of the force does no work
        data.power[KEYED] -= l0 * drift[i, 0] + l1 * drift[i, 1] + l2 * drift[i, 2]
        data.power[KEYED] -= p0 * drift[i, 3] + p1 * drift[i, 4] + p2 * drift[i, 5]


@kernel
def _count_soft_rows(model, data):
    """Springs and dampers of soft connections: their pull times the rate at which their links part."""
    for k in range(model.soft_rows.shape[0]):
        r = model.soft_rows[k]
        i, j = model.first[model.row_connection[r]], model.second[model.row_connection[r]]
        rate = 0.0
        for x in range(6):
            rate += data.row_first[r, x] * data.twist[i, x] - data.row_second[r, x] * data.twist[j, x]
        data.power[GRIPS] += data.pull[r] * rate


@kernel
def _count_hard_rows(model, data):
    """Easing pulls links together and so does work; and joints that move as given carry the loops' forces too."""
    power, column, v, multiplier = data.power, data.column, data.v, data.multiplier
    for r in range(multiplier.shape[0]):
        if model.give[r] >= 0 or multiplier[r] == 0.0:
            continue
        c = model.row_connection[r]
        power[GRIPS] += multiplier[r] * easing(model, data, c)[1] * model.ease_offset[r]
        for side in range(2):
            i = model.first[c] if side == 0 else model.second[c]
            row = data.row_first if side == 0 else data.row_second
            force = multiplier[r] if side == 0 else -multiplier[r]
            while i != model.common[c]:
                for d in range(model.v_start[i], model.v_start[i + 1]):
                    if model.lead[d] < 0:
                        for x in range(6):
                            power[KEYED] -= force * row[r, x] * column[d, x] * v[d]
                i = model.parent[i]
