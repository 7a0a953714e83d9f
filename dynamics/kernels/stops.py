# SPDX-License-Identifier: GPL-3.0-or-later
"""Stops at the limits of joints: how deep a joint is in one, and what a stop that was met does.

A joint that comes to a stop loses its velocity outward by an impulse (evaluate.meet_stops). From then on it is held
where it was met, until it goes back inside. In midpoint steps a firm stop is a damper that acts outward only and lets
nothing but a creep pass, so it never does work on the joint. Soft stops, and all stops of the other integrators, are a
spring and a damper. Stops only push; which of them do is kept while an implicit step is solved, and looked at
afterwards, like muscles at their limit.
"""

import math

from ..jit import kernel
from .rotations import turn

HINGE, TWIST, SWING = 0, 1, 2


@kernel
def stop_depth(model, data, l):
    """How far a joint is beyond stop l (rad, negative inside); data.outward (3) is its gradient: depth' = outward . v.
    """
    i = model.limited[l]
    s, limit, outward = model.q_start[i], model.limit, data.outward
    if model.limit_kind[l] == HINGE:
        beyond, before = data.q[s] - limit[l, 1], limit[l, 0] - data.q[s]
        outward[0], outward[1], outward[2] = 1.0 if beyond > before else -1.0, 0.0, 0.0
        return max(beyond, before)
    if model.limit_kind[l] == TWIST:
        return _twist_depth(limit[l], data.q[s : s + 4], outward)
    return _swing_depth(limit[l], data.q[s : s + 4], outward)


@kernel
def _twist_depth(limit, q, outward):
    """The turn is swing * twist, the twist about the bone's axis a: tan(twist / 2) = a . (x, y, z) / w."""
    ax, ay, az = limit[6], limit[7], limit[8]
    w, x, y, z = q[0], q[1], q[2], q[3]
    along = ax * x + ay * y + az * z
    square = w * w + along * along
    if square < 1e-12:
        # turned back by half a turn: no twist is better than another
        outward[:] = 0.0
        return -math.pi
    twist = 2.0 * math.atan2(along, w)
    if twist > math.pi:
        twist -= 2.0 * math.pi
    if twist < -math.pi:
        twist += 2.0 * math.pi
    beyond, before = twist - limit[1], limit[0] - twist
    scale = (1.0 if beyond > before else -1.0) / square
    outward[0] = scale * (w * w * ax + w * (ay * z - az * y) + along * x)
    outward[1] = scale * (w * w * ay + w * (az * x - ax * z) + along * y)
    outward[2] = scale * (w * w * az + w * (ax * y - ay * x) + along * z)
    return max(beyond, before)


@kernel
def _swing_depth(limit, q, outward):
    """The swing takes the bone's axis a to d by the angle t about n = a x d / sin t. Its vector t n must be in an
    ellipse; the depth is measured along the line from the ellipse's middle.
    """
    ax, ay, az, bx, by, bz = limit[6], limit[7], limit[8], limit[9], limit[10], limit[11]
    ex, ey, ez = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    dx, dy, dz = turn(q[0], q[1], q[2], q[3], ax, ay, az)
    sine_1, sine_2 = dx * -ex + dy * -ey + dz * -ez, dx * bx + dy * by + dz * bz
    # a x d in the axes b and e: d . (b x a) = -d . e along b, d . (e x a) = d . b along e
    sine = math.sqrt(sine_1 * sine_1 + sine_2 * sine_2)
    angle = math.atan2(sine, ax * dx + ay * dy + az * dz)
    n1, n2 = (sine_1 / sine, sine_2 / sine) if sine > 1e-9 else (1.0, 0.0)
    middle_1, half_1 = 0.5 * (limit[2] + limit[3]), max(0.5 * (limit[3] - limit[2]), 1e-3)
    middle_2, half_2 = 0.5 * (limit[4] + limit[5]), max(0.5 * (limit[5] - limit[4]), 1e-3)
    p1, p2 = angle * n1 - middle_1, angle * n2 - middle_2
    reach, radius = math.sqrt((p1 / half_1) ** 2 + (p2 / half_2) ** 2), math.sqrt(p1 * p1 + p2 * p2)
    if reach < 1e-3:
        outward[:] = 0.0
        return -min(half_1, half_2)
    # gradient in the plane of the swing vector
    along, across = (1.0 - 1.0 / reach) / radius, radius / reach**3
    g1, g2 = p1 * (along + across / half_1**2), p2 * (along + across / half_2**2)
    # with m = a x n: (t n)' = (W . n) n + (t cot t W . m + t W . a) m for the angular velocity W in the joint's frame
    g_n, g_m = g1 * n1 + g2 * n2, g2 * n1 - g1 * n2
    bent = angle * math.cos(angle) / max(sine, 1e-3) if angle > 1e-6 else 1.0
    w1, w2, wa = g_n * n1 - g_m * bent * n2, g_n * n2 + g_m * bent * n1, g_m * angle
    outward[0], outward[1], outward[2] = turn(
        q[0], -q[1], -q[2], -q[3],
        w1 * bx + w2 * ex + wa * ax, w1 * by + w2 * ey + wa * ay, w1 * bz + w2 * ez + wa * az,
    )  # fmt: skip
    return radius * (1.0 - 1.0 / reach)


@kernel
def stop_push(model, data, l):
    """Push of a stop that was met, against data.outward; negative would pull."""
    i = model.limited[l]
    first = model.v_start[i]
    deep = stop_depth(model, data, l) - data.stop_rest[l]
    rate = 0.0
    for k in range(model.v_start[i + 1] - first):
        rate += data.outward[k] * data.rate[first + k]
    return data.stop_law[l, 0] * deep + data.stop_law[l, 1] * rate


@kernel
def push_stops(model, data):
    """Add the pushes of the stops to data.torque.

    data.stop_answer  (nl, 2) out: their stiffness and damping, along data.stop_normal (nl, 3)
    """
    for l in range(model.limited.shape[0]):
        i = model.limited[l]
        first, count = model.v_start[i], model.v_start[i + 1] - model.v_start[i]
        data.stop_answer[l, 0], data.stop_answer[l, 1] = 0.0, 0.0
        if model.lead[first] < 0 or data.stop_rest[l] < 0.0:
            continue
        push = stop_push(model, data, l)
        if data.implicit[0] == 0.0 and data.stop_law[l, 0] == 0.0:
            # between steps a firm stop pushes as in the last one: its creep is too slow to tell
            push = data.stop_held[l]
        if (data.implicit[0] > 0.0 and data.stop_on[l] == 0) or (data.implicit[0] == 0.0 and push <= 0.0):
            data.stop_held[l] = 0.0
            continue
        data.stop_held[l] = push
        data.stop_answer[l, 0], data.stop_answer[l, 1] = data.stop_law[l, 0], data.stop_law[l, 1]
        for k in range(count):
            data.stop_normal[l, k] = data.outward[k]
            data.torque[first + k] -= push * data.outward[k]
            data.power[2] -= push * data.outward[k] * data.v[first + k]


@kernel
def switch_stops(model, data, tries):
    """After an implicit step is solved: let go of stops that would pull, take those that would push. Returns how many
    changed. After a few tries none is let go any more: stops that depend on each other could go on and off for ever.
    """
    changed = 0
    for l in range(model.limited.shape[0]):
        if model.lead[model.v_start[model.limited[l]]] < 0 or data.stop_rest[l] < 0.0:
            continue
        pushes = 1 if stop_push(model, data, l) > 0.0 else 0
        if pushes > data.stop_on[l] or (pushes < data.stop_on[l] and tries < 3):
            data.stop_on[l] = pushes
            changed += 1
    return changed


@kernel
def set_stop(model, data, l, deep, stiffness, damping):
    """A joint has come to stop l and is held here: as the limit says, or with the given stiffness and damping."""
    data.stop_rest[l], data.stop_on[l], data.stop_held[l] = deep, 1, 0.0
    given = model.stop[l, 0] > 0.0 or model.stop[l, 1] > 0.0
    data.stop_law[l, 0] = model.stop[l, 0] if given else stiffness
    data.stop_law[l, 1] = model.stop[l, 1] if given else damping


@kernel
def inertia_about(model, data, i):
    """Moment of all masses of link i's tree about its joint, as if they hung on it."""
    o = model.root[i]
    c = data.composite[o]
    rx = data.position[i, 0] - data.position[o, 0]
    ry = data.position[i, 1] - data.position[o, 1]
    rz = data.position[i, 2] - data.position[o, 2]
    turning = 0.5 * (c[4] + c[7] + c[9]) - 2.0 * (c[1] * rx + c[2] * ry + c[3] * rz)
    return turning + c[0] * (rx * rx + ry * ry + rz * rz)
