# SPDX-License-Identifier: GPL-3.0-or-later
"""The four integrators. Each step begins and ends on the loops, in position and in velocity, with factors that fit the
pose.

A step of length h uses three samples of what is given over time: at its beginning, middle and end.
"""

from ..jit import kernel, part
from .acting import lean_forward, release_or_hold
from .bias import joint_forces
from .books import record_instant
from .energy import count_power, energy_now, is_passive, is_rough
from .evaluate import accelerate, factor, impose, meet_stops, project_position, project_velocity
from .integrate import displace, to_algebra
from .kinematics import follow, move_links, place_links, spread_columns
from .loops import constrain
from .mass import ascend, descend
from .momentum import hold_momentum, restore_centre, restore_momentum
from .rows import lay_rows, open_by, row_drifts, soften_drifts

EULER, SEMI_IMPLICIT, MIDPOINT, RKMK4 = 0, 1, 2, 3

CLOSED = 1e-11  # m, rad: loops closer than this count as closed
ROUNDING = 1e-14  # m, rad: no loop of a few metres can be closed better
OPEN = 1e-9  # m, rad: loops that cannot be closed further than this make a step fail
SHORTEST = 1.0 / 128.0  # of a step
DEEP = 0.003  # rad: a joint that goes further beyond a stop in one step met it too late; the step is halved
DAMPER_RATE = 1e5  # 1/s: how fast a firm stop brings to rest what comes to it
SPRING_RATE = 600.0  # rad/s: how firmly stops hold by springs; less in explicit steps that are too long for it
ROUGH = 3e-4  # of the kinetic energy: a midpoint step whose energy is off by more is halved, but not if
BRISK = 0.03  # rad: no joint turns further in it: slow mechanisms may have dead points, which shorter steps rest in
STIFF = 0.05  # of a step: nor if muscles are looked at further beyond its middle
TURN = 0.2  # rad: how far a joint may turn in one midpoint step
FAILED_MASS, FAILED_LOOP, FAILED_NUMBER, FAILED_STEP = 1, 2, 3, 4


@part
def settle(model, data, sample, part, floats):
    """After a move: close the loops, factor at the new pose, put the velocity onto the loops. Returns 0 or a failure.

    Old factors close the loops quickly after a small move; if they do not, those of the new pose do. floats = 1 puts
    floating groups where their momentum takes them.
    """
    impose(model, data, sample, part)
    worst = project_position(model, data, CLOSED, 12)
    if floats == 1:
        restore_centre(model, data)
    failed = factor(model, data, 1)
    for _ in range(8):
        # near a singular pose the direction of motion is known only to within opening / share^2
        needed = max(min(10.0 * CLOSED, 1e-4 * data.least[0]), ROUNDING)
        if worst <= needed:
            break
        before = worst
        worst = project_position(model, data, 0.1 * needed, 2)
        if floats == 1:
            restore_centre(model, data)
        failed = factor(model, data, 1)
        if not worst < before:
            break
    data.closure[0] = worst
    if failed >= 0:
        data.failure[1] = failed
        return FAILED_MASS
    if not worst < OPEN:
        return FAILED_LOOP
    project_velocity(model, data)
    if floats == 1:
        restore_momentum(model, data)
    follow(model, data)
    total = 0.0
    for d in range(data.v.shape[0]):
        total += abs(data.v[d])
    return 0 if total < 1e12 else FAILED_NUMBER


@kernel
def begin(model, data):
    """Make a state that is on the loops ready for steps. Returns the failure of the factors, and how far loops are
    open.
    """
    impose(model, data, 0, 0.0)
    return resume(model, data)


@kernel
def resume(model, data):
    """begin() without setting what is given over time."""
    place_links(model, data)
    data.closure[0] = open_by(model, data)
    data.failure[0] = 0
    failed = factor(model, data, 1)
    if failed >= 0:
        data.failure[0], data.failure[1] = FAILED_MASS, failed
    return data.failure[0]


@kernel
def _spend(data, h):
    """Book the present power for a time h."""
    for k in range(data.spent.shape[0]):
        data.spent[k] += h * data.power[k]


@part
def step_euler(model, data, h):
    """The papers' own step: positions move with the old velocity, velocities with the old acceleration."""
    accelerate(model, data, 1)
    count_power(model, data, 0)
    _spend(data, h)
    displace(model, data.q, data.v, h, data.q)
    for d in range(data.v.shape[0]):
        data.v[d] += h * data.a[d]


@part
def step_semi_implicit(model, data, h, sample, part, span):
    """Velocities first, then positions with the new velocity.

    The loops' turning is left to the projection at the end, which only ever takes energy out. Which muscles are at
    their limit and which joints slip is looked at where the step ends.
    """
    q0, v0, q, v = data.q0, data.v0, data.q, data.v
    q0[:] = q
    v0[:] = v
    if model.limited.shape[0] > 0:
        # the last step may have ended at a stop that its factors do not know
        factor(model, data, 0)
    for tries in range(9):
        accelerate(model, data, 0)
        for d in range(v.shape[0]):
            v[d] = v0[d] + h * data.a[d]
        displace(model, q0, v, h, q)
        if model.acts[0] == 0 or tries == 8:
            break
        impose(model, data, sample, part + span)
        if release_or_hold(model, data, tries) == 0:
            break
        q[:] = q0
        v[:] = v0
        impose(model, data, sample, part)
        factor(model, data, 0)


@kernel
def step_rkmk4(model, data, h, sample, part, span):
    """The classical Runge-Kutta method on the joint groups (Munthe-Kaas), fourth order.

    Stage displacements live in the algebra at the start of the step; velocities are carried there by to_algebra().
    """
    q0, v0, stage_v, stage_a, move = data.q0, data.v0, data.stage_v, data.stage_a, data.move
    q, v, a = data.q, data.v, data.a
    q0[:] = q
    v0[:] = v
    for stage in range(4):
        if stage == 0:
            stage_v[0, :] = v
        else:
            share = 1.0 if stage == 3 else 0.5
            for d in range(v.shape[0]):
                move[d] = share * h * stage_v[stage - 1, d]
                v[d] = v0[d] + share * h * stage_a[stage - 1, d]
            displace(model, q0, move, 1.0, q)
            impose(model, data, sample, part + share * span)
            to_algebra(model, move, 1.0, v, stage_v[stage])
            place_links(model, data)
            factor(model, data, 0)
        accelerate(model, data, 1)
        stage_a[stage, :] = a
        count_power(model, data, 0)
        _spend(data, h / 6.0 if stage == 0 or stage == 3 else h / 3.0)
    for d in range(v.shape[0]):
        v[d] = v0[d] + h / 6.0 * (stage_a[0, d] + 2.0 * (stage_a[1, d] + stage_a[2, d]) + stage_a[3, d])
        move[d] = h / 6.0 * (stage_v[0, d] + 2.0 * (stage_v[1, d] + stage_v[2, d]) + stage_v[3, d])
    displace(model, q0, move, 1.0, q)


@kernel
def step_midpoint(model, data, h, sample, part, span):
    """Implicit midpoint on the joint groups, second order. Returns 0, or a failure if the iteration does not converge.

    Solves M a + bias = tau and J a + J-dot v = 0 at the pose half way, reached with the mean velocity. The factors are
    those of the first estimate of that pose; residuals taken at better estimates then correct the accelerations.
    """
    q0, v0, a, q, v, half, move = data.q0, data.v0, data.a, data.q, data.v, data.half, data.move
    lead, lean = model.lead, data.lean
    loops = model.row_axis.shape[0] > 0
    q0[:] = q
    v0[:] = v
    if model.acts[0] == 1:
        lean_forward(model, data, h)
        for d in range(v.shape[0]):
            data.leaning[0] = max(data.leaning[0], lean[d] / h)
    if model.soft_rows.shape[0] + model.limited.shape[0] > 0 or data.leaning[0] > STIFF:
        # a spring much faster than the step makes the acceleration at the beginning a bad guess
        for d in range(v.shape[0]):
            if lead[d] >= 0:
                a[d] = 0.0
    else:
        accelerate(model, data, 1)
    data.implicit[0], data.implicit[1] = 0.5 * h, 0.25 * h * h
    # far below the whole step's own error, and above rounding: near singular poses it is amplified
    tolerance = max(min(1e-6, 0.01 * data.now[1] * data.now[1]), 1e-10)
    change, slow, held, fresh = 1e300, 0, 0, True
    # stops bend the motion; without any, slow progress means a dead point of the loops, for shorter steps to pass
    patience = 4 if model.limited.shape[0] > 0 else 2
    for _ in range(100):
        for d in range(v.shape[0]):
            v[d] = v0[d] + 0.5 * h * a[d]
            move[d] = v[d] + lean[d] * a[d]
        displace(model, q0, move, 0.5 * h, q)
        impose(model, data, sample, part + 0.5 * span)
        place_links(model, data)
        if fresh:
            factor(model, data, 0)
            fresh = False
        else:
            spread_columns(model, data)
            if loops:
                lay_rows(model, data)
        move_links(model, data)
        joint_forces(model, data, 1)
        for d in range(v.shape[0]):
            half[d] = data.tau[d] - data.bias[d] if lead[d] >= 0 else 0.0
        descend(model, data, half)
        if loops:
            row_drifts(model, data)
            soften_drifts(model, data, 1)
            constrain(model, data, half, data.gamma, -1.0, 1)
        ascend(model, data, half)
        before, size = change, 0.0
        change = 0.0
        for d in range(v.shape[0]):
            a[d] += half[d]
            change = max(change, abs(half[d]))
            size = max(size, abs(a[d]))
        if change <= tolerance * (1.0 + size):
            slow = 0
            if model.acts[0] == 0 or held > 8 or release_or_hold(model, data, held) == 0:
                break
            held += 1
            fresh = True
            change = 1e300
            continue
        if not change < 0.7 * before:
            slow += 1
            if slow > patience or not change < 1e30:
                break
            # factors of a better estimate of the pose may help
            fresh = slow > 1 and patience > 2
        elif slow > 0:
            # corrections may come in pairs, a poor one and a good one
            slow -= 1
    data.implicit[:] = 0.0
    if slow > 0 or not change <= tolerance * (1.0 + size):
        lean[:] = 0.0
        return FAILED_STEP
    count_power(model, data, 1)
    _spend(data, h)
    for d in range(v.shape[0]):
        move[d] = v0[d] + (0.5 * h + lean[d]) * a[d]
        v[d] = v0[d] + h * a[d]
        lean[d] = 0.0
    displace(model, q0, move, h, q)
    return 0


@kernel
def fastest_turn(model, data):
    """The largest angular velocity of any joint about one of its axes, rad/s."""
    fastest = 0.0
    for d in range(data.v.shape[0]):
        if model.dof_angular[d] == 1:
            fastest = max(fastest, abs(data.v[d]))
    return fastest


@part
def step_once(model, data, h, integrator, sample, part, span):
    """One step of length h = span of a whole step, from `part` of it on; the result is settled. Returns 0 or a
    failure.
    """
    data.spent[:], data.leaning[0] = 0.0, 0.0
    impose(model, data, sample, part)
    failure = 0
    watched = integrator == MIDPOINT and h * fastest_turn(model, data) > BRISK
    energy = energy_now(model, data) if watched else 0.0
    if integrator == RKMK4:
        step_rkmk4(model, data, h, sample, part, span)
    elif integrator == MIDPOINT:
        hold_momentum(model, data, h)
        failure = step_midpoint(model, data, h, sample, part, span)
    elif integrator == SEMI_IMPLICIT:
        if data.implicit[0] != h and (model.soft_rows.shape[0] > 0 or model.acts[0] == 1):
            # the first step, and one of another length: springs must look ahead by this one
            data.implicit[0], data.implicit[1] = h, h * h
            factor(model, data, 0)
        step_semi_implicit(model, data, h, sample, part, span)
    else:
        step_euler(model, data, h)
    if failure == 0:
        failure = settle(model, data, sample, part + span, 1 if integrator == MIDPOINT else 0)
    if failure == 0 and integrator == SEMI_IMPLICIT and not is_passive(model, data):
        # its springs act as they are at the end of the step
        accelerate(model, data, 1)
        count_power(model, data, 0)
        _spend(data, h)
    # stiff muscles take energy on purpose
    watched = watched and data.leaning[0] < STIFF
    if failure == 0 and watched and is_rough(model, data, energy, ROUGH * span):
        return FAILED_STEP
    how, rate = (2, DAMPER_RATE) if integrator == MIDPOINT else (1, SPRING_RATE)
    if integrator == EULER or integrator == RKMK4:
        how, rate = 0, min(SPRING_RATE, 0.5 / data.now[1])
    if failure == 0 and meet_stops(model, data, DEEP if span > SHORTEST else 1e9, rate, how) == 1:
        return FAILED_STEP
    return failure


@kernel
def advance(model, data, steps, h, integrator, fresh):
    """Take up to `steps` steps from a settled state; returns how many were taken (fewer: data.failure says why).

    fresh = 1 makes the factors first. Here and not in begin(), which another compilation may round otherwise: a run
    that is restarted takes the very same steps.

    A step that is too long for the motion at hand (a joint turns too far, the energy is off by too much, the implicit
    equations or the loops do not converge) is taken in shorter ones: a whip of a light limb then costs time instead of
    the run.
    """
    q, v = data.q, data.v
    data.now[1] = h
    if fresh == 1:
        impose(model, data, 0, 0.0)
        resume(model, data)
    for n in range(steps):
        part, span = 0.0, 1.0
        while part < 1.0:
            if integrator == MIDPOINT:
                # limbs that spin so fast that the midpoint says little about the step let energy creep in
                while span >= SHORTEST and span * h * fastest_turn(model, data) > TURN:
                    span *= 0.5
            data.saved_q[:] = q
            data.saved_v[:] = v
            failure = step_once(model, data, span * h, integrator, 2 * n, part, span)
            if failure == 0:
                part += span
                data.work[:] += data.spent
                data.doubt[0] = 0.0
                # what made the step too long may be over
                if span < 1.0 and part % (2.0 * span) == 0.0:
                    span *= 2.0
                continue
            data.failure[0] = failure
            q[:] = data.saved_q
            v[:] = data.saved_v
            last = span < SHORTEST
            if last and (data.doubt[0] > 0.0 or failure != FAILED_STEP):
                data.doubt[0] = 0.0
                return n
            bad = data.failure[1]
            resume(model, data)
            data.failure[0], data.failure[1] = failure, bad
            if last:
                # a dead point of the loops: leave out the rows that do not stand out by more than the step moves them
                for d in range(v.shape[0]):
                    data.doubt[0] = max(data.doubt[0], 4.0 * span * h * abs(v[d]))
            else:
                data.halvings[0] += 1
                span *= 0.5
        data.failure[0] = 0
        data.time[0] += h
        if n < data.record_q.shape[0]:
            record_instant(model, data, n)
    return steps
