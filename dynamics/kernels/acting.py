# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts in the joints: muscles that follow a goal, friction, lifted weight; stops are in stops.py.

Each gives a torque at the present pose and velocity, and how it answers to changes of them (stiffness and damping per
velocity), which implicit steps put into the mass matrix. A muscle at its limit, and a joint that slips, act with a
torque that is held while a step is solved; release_or_hold() then looks whether that was right.
"""

import math

from ..jit import kernel
from ..joint import FREE, SPHERICAL
from .rotations import multiply, turn
from .stops import push_stops, switch_stops

CREEP = 1e-5  # rad/s or m/s: a joint held by Coulomb friction creeps slower than this
FAST = 2.0  # rad: a muscle that comes this far in a step is looked at half way between the middle and the end
DAMPED = 10.0  # a damper that takes so many times the speed in a step is looked at this little beyond the middle:
LITTLE = 0.03  # of the step
STEADY = 1e-6  # of its limit: a strained muscle whose torque turns less than this has found its direction


@kernel
def logarithm(w, x, y, z):
    """Rotation vector of a quaternion, the short way round."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    size = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 if size < 1e-9 else 2.0 * math.atan2(size, w) / size
    return scale * x, scale * y, scale * z


@kernel
def pull_muscles(model, data, low, high):
    """Torques of the muscles from number `low` up to `high`: towards the goal, with the given extra, held at the limit
    if strained. One loop over arrays that are taken out of their records once, since that costs more than the torques.

    data.muscle_torque   (nm, 6) out
    """
    driven, v_start, q_start, kind, law = model.driven, model.v_start, model.q_start, model.kind, model.muscle
    q, v, lean, gain, goal, rate = data.q, data.rate, data.lean, data.gain, data.goal, data.goal_rate
    turning, force, error, away = data.goal_turning, data.goal_force, data.error, data.error_rate
    pull, strained = data.muscle_torque, data.strained
    implicit = data.implicit[0] > 0.0
    for m in range(low, high):
        if strained[m] == 1 and implicit:
            continue
        i = driven[m]
        s, d, joint = q_start[i], v_start[i], kind[i]
        count = v_start[i + 1] - d
        # how far the joint is from its goal, and how fast it goes away
        if joint == SPHERICAL or joint == FREE:
            ew, ex, ey, ez = multiply(
                goal[m, 0], -goal[m, 1], -goal[m, 2], -goal[m, 3], q[s], q[s + 1], q[s + 2], q[s + 3]
            )
            error[0], error[1], error[2] = logarithm(ew, ex, ey, ez)
            # the goal's rate is in the goal's frame
            rx, ry, rz = turn(ew, -ex, -ey, -ez, rate[m, 0], rate[m, 1], rate[m, 2])
            away[0], away[1], away[2] = v[d] - rx, v[d + 1] - ry, v[d + 2] - rz
            if joint == FREE:
                dx, dy, dz = q[s + 4] - goal[m, 4], q[s + 5] - goal[m, 5], q[s + 6] - goal[m, 6]
                error[3], error[4], error[5] = turn(q[s], -q[s + 1], -q[s + 2], -q[s + 3], dx, dy, dz)
                rx, ry, rz = turn(ew, -ex, -ey, -ez, rate[m, 3], rate[m, 4], rate[m, 5])
                away[3], away[4], away[5] = v[d + 3] - rx, v[d + 4] - ry, v[d + 5] - rz
        else:
            for k in range(count):
                error[k] = q[s + k] - goal[m, k]
                away[k] = v[d + k] - rate[m, k]
        square = 0.0
        for k in range(count):
            early = lean[d + k]
            if implicit and early > 0.0:
                error[k] += early * (away[k] - 0.5 * early * turning[m, k])
                away[k] -= early * turning[m, k]
            pull[m, k] = gain[m] * (force[m, k] - law[m, 0] * error[k] - law[m, 1] * away[k])
            square += pull[m, k] ** 2
        if not implicit and law[m, 2] > 0.0 and square > law[m, 2] ** 2:
            for k in range(count):
                pull[m, k] *= law[m, 2] / math.sqrt(square)


@kernel
def act(model, data):
    """Torques of everything that acts in the joints, and how they answer.

    data.torque       (nv) out
    data.answer       (nv, 2) out: stiffness and damping
    """
    v, rate, torque, answer, a, lean = data.v, data.rate, data.torque, data.answer, data.a, data.lean
    viscous, coulomb = model.viscous, model.coulomb
    implicit = data.implicit[0] > 0.0
    data.power[:] = 0.0
    spent = 0.0
    for d in range(v.shape[0]):
        rate[d] = v[d] + lean[d] * a[d] if implicit and lean[d] > 0.0 else v[d]
        drag = -viscous[d] * rate[d]
        answer[d, 0], answer[d, 1] = 0.0, viscous[d]
        if coulomb[d] > 0.0:
            slip = -coulomb[d] / CREEP * rate[d]
            if data.slips[d] == 1:
                drag += data.slip_torque[d]
            elif implicit:
                drag += slip
                answer[d, 1] += coulomb[d] / CREEP
            else:
                drag += min(max(slip, -coulomb[d]), coulomb[d])
        torque[d] = drag
        spent += drag * v[d]
    data.power[1] = spent
    driven, v_start, lead, law = model.driven, model.v_start, model.lead, model.muscle
    gain, pull, strained = data.gain, data.muscle_torque, data.strained
    pull_muscles(model, data, 0, driven.shape[0])
    spent = 0.0
    for m in range(driven.shape[0]):
        i = driven[m]
        first = v_start[i]
        if lead[first] < 0 or gain[m] <= 0.0:
            continue
        for k in range(v_start[i + 1] - first):
            torque[first + k] += pull[m, k]
            spent += pull[m, k] * v[first + k]
            if strained[m] == 0:
                answer[first + k, 0] += gain[m] * law[m, 0]
                answer[first + k, 1] += gain[m] * law[m, 1]
    data.power[0] = spent
    push_stops(model, data)


@kernel
def lean_forward(model, data, h):
    """How far beyond the middle of a midpoint step of length h every joint's muscle and friction are looked at.

    From the middle, a spring or damper much faster than the step throws the velocity to the other side in every step;
    from the end it brings it to rest, but comes early by half a step. So a muscle that reaches its goal within a step
    is looked at near the end, one that takes its time only a little beyond the middle, and all of it goes with the
    cube of the speed, which leaves the step's second order alone. The pivots must be those of the mass matrix without
    muscles.

    data.lean   (nv) out, s
    """
    lean, lead = data.lean, model.lead
    lean[:] = 0.0
    for d in range(lean.shape[0]):
        if lead[d] >= 0 and model.viscous[d] > 0.0:
            ease = (model.ratio[d] * data.root_pivot[lead[d]]) ** 2
            lean[lead[d]] = max(lean[lead[d]], _lean_by(h, ease, 0.0, model.viscous[d]))
    for m in range(model.driven.shape[0]):
        i = model.driven[m]
        for d in range(model.v_start[i], model.v_start[i + 1]):
            if lead[d] >= 0:
                ease = data.gain[m] * (model.ratio[d] * data.root_pivot[lead[d]]) ** 2
                lean[lead[d]] = max(lean[lead[d]], _lean_by(h, ease, model.muscle[m, 0], model.muscle[m, 1]))
    for d in range(lean.shape[0]):
        if lead[d] >= 0:
            lean[d] = lean[lead[d]]


@kernel
def _lean_by(h, ease, stiffness, damping):
    """The same for one spring and damper on something that 1 / ease is the inertia of."""
    fast = h * math.sqrt(ease * stiffness)
    if fast * damping > 2.0 * h * stiffness:
        fast = 2.0 * h * stiffness / damping
    damped = h * ease * damping
    return h * max(LITTLE * damped**3 / (damped**3 + DAMPED**3), 0.5 * fast**3 / (fast**3 + FAST**3))


@kernel
def release_or_hold(model, data, tries):
    """After an implicit step is solved: which muscles are at their limit, which joints slip, which
    stops push. Returns how many changed.
    """
    changed = switch_stops(model, data, tries)
    for d in range(model.coulomb.shape[0]):
        if model.coulomb[d] <= 0.0 or model.lead[d] < 0:
            continue
        hold = -model.coulomb[d] / CREEP * data.rate[d]
        if data.slips[d] == 0 and abs(hold) > model.coulomb[d]:
            data.slips[d] = 1
            data.slip_torque[d] = math.copysign(model.coulomb[d], hold)
            changed += 1
        elif data.slips[d] == 1 and hold * data.slip_torque[d] < model.coulomb[d] ** 2:
            data.slips[d] = 0
            changed += 1
    for m in range(model.driven.shape[0]):
        limit = model.muscle[m, 2]
        if limit <= 0.0 or data.gain[m] <= 0.0:
            continue
        i = model.driven[m]
        count = model.v_start[i + 1] - model.v_start[i]
        was = data.strained[m]
        along = 0.0
        for k in range(count):
            data.held[k] = data.muscle_torque[m, k]
        data.strained[m] = 0
        pull_muscles(model, data, m, m + 1)
        square = 0.0
        for k in range(count):
            square += data.muscle_torque[m, k] ** 2
            along += data.muscle_torque[m, k] * data.held[k]
        if square > limit * limit and (was == 0 or along > 0.0):
            data.strained[m] = 1
            turned = 0.0
            for k in range(count):
                data.muscle_torque[m, k] *= limit / math.sqrt(square)
                turned = max(turned, abs(data.muscle_torque[m, k] - data.held[k]))
            if was == 1 and turned > STEADY * limit:
                changed += 1
        if data.strained[m] != was:
            changed += 1
    return changed


@kernel
def stiffen_joints(model, data):
    """Add virtual inertia to the mass matrix, and for implicit steps how the joints' torques will answer."""
    lead, depth, factor, ahead_v, ahead_q = model.lead, model.depth, data.factor, data.implicit[0], data.implicit[1]
    for d in range(depth.shape[0]):
        e = lead[d]
        if e >= 0:
            firm = model.virtual_inertia[d]
            if ahead_v > 0.0:
                far = ahead_v + data.lean[d]
                firm += (far / ahead_v) ** 2 * ahead_q * data.answer[d, 0] + far * data.answer[d, 1]
            factor[e, depth[e]] += model.ratio[d] ** 2 * firm
    if ahead_v == 0.0:
        return
    for l in range(model.limited.shape[0]):
        weight = ahead_q * data.stop_answer[l, 0] + ahead_v * data.stop_answer[l, 1]
        if weight == 0.0:
            continue
        i = model.limited[l]
        first = lead[model.v_start[i]]
        weight *= model.ratio[model.v_start[i]] ** 2
        for k in range(model.v_start[i + 1] - model.v_start[i]):
            for j in range(k + 1):
                factor[first + k, depth[first] + j] += weight * data.stop_normal[l, k] * data.stop_normal[l, j]


@kernel
def lift_weight(model, data):
    """Torques that carry the given share of the weight beyond each joint, added to data.torque (004, gravity term)."""
    parent, inertia, g = model.parent, data.inertia, model.gravity
    beyond = data.beyond
    for i in range(1, parent.shape[0]):
        for k in range(4):
            beyond[i, k] = inertia[i, k]
    for i in range(parent.shape[0] - 1, 0, -1):
        m, hx, hy, hz = beyond[i, 0], beyond[i, 1], beyond[i, 2], beyond[i, 3]
        if parent[i] > 0:
            for k in range(4):
                beyond[parent[i], k] += beyond[i, k]
        for d in range(model.v_start[i], model.v_start[i + 1]):
            share = model.lift[d]
            if share > 0.0 and model.lead[d] >= 0:
                c = data.column
                turning = (
                    c[d, 0] * (hy * g[2] - hz * g[1])
                    + c[d, 1] * (hz * g[0] - hx * g[2])
                    + c[d, 2] * (hx * g[1] - hy * g[0])
                )
                lifted = -share * (turning + m * (c[d, 3] * g[0] + c[d, 4] * g[1] + c[d, 5] * g[2]))
                data.torque[d] += lifted
                data.power[0] += lifted * data.v[d]
