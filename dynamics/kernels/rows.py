# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the loops: each says that a connection's first link does not move against its second along one wrench.

A connection has six rows less the freedoms of its joint: those of J_C (000 (10)) with the joint's own columns projected
out. Rows are held exactly, or by a spring and a damper (soft rows); where a connection is eased, they may be open by a
share of what they were open at first that falls smoothly to nothing.
"""

from ..jit import kernel
from .rotations import cross, multiply, turn

# Compliance of a row that nothing holds: its force is zero but for rounding.
LIMP = 1e30


@kernel
def joint_frames(model, data, c):
    """Both joint frames of connection c in the world: first point, second point, second rotation, first rotation."""
    i, k = model.first[c], model.second[c]
    position, rotation = data.position, data.rotation
    fp, fr, sp, sr = model.first_position, model.first_rotation, model.second_position, model.second_rotation
    ax, ay, az = turn(
        rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3], fp[c, 0], fp[c, 1], fp[c, 2]
    )
    bx, by, bz = turn(
        rotation[k, 0], rotation[k, 1], rotation[k, 2], rotation[k, 3], sp[c, 0], sp[c, 1], sp[c, 2]
    )
    first = multiply(
        rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3], fr[c, 0], fr[c, 1], fr[c, 2], fr[c, 3]
    )
    second = multiply(
        rotation[k, 0], rotation[k, 1], rotation[k, 2], rotation[k, 3], sr[c, 0], sr[c, 1], sr[c, 2], sr[c, 3]
    )
    return (
        (position[i, 0] + ax, position[i, 1] + ay, position[i, 2] + az),
        (position[k, 0] + bx, position[k, 1] + by, position[k, 2] + bz),
        second,
        first,
    )


@kernel
def unit_axis(q, axis):
    """Column `axis` of the rotation matrix of the quaternion q."""
    w, x, y, z = q
    if axis == 0:
        return 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    if axis == 1:
        return 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def easing(model, data, c):
    """How much of its first opening connection c still has: (share, rate, acceleration), a smooth fall from 1 to 0."""
    if model.ease_time[c] == 0.0:
        return 0.0, 0.0, 0.0
    span = model.ease_time[c]
    x = (data.now[0] - model.ease_start[c]) / span
    if x >= 1.0:
        return 0.0, 0.0, 0.0
    x = max(x, 0.0)
    return (
        1.0 - x * x * x * (10.0 - 15.0 * x + 6.0 * x * x),
        -30.0 * x * x * (1.0 - x) * (1.0 - x) / span,
        -60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (span * span),
    )


@kernel
def open_by(model, data):
    """How far every row is open, less what easing allows; returns the largest distance or angle of the hard rows.

    data.residual   (nr) out: m along sliding rows, rad about turning rows, in the second joint frame
    """
    residual, row_axis, row_start = data.residual, model.row_axis, model.row_start
    worst = 0.0
    for c in range(model.first.shape[0]):
        a, b, second, first = joint_frames(model, data, c)
        share, _, _ = easing(model, data, c)
        dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        # relative rotation: vector part of conjugate(second) * first; for small angles half the angle vector
        w, x, y, z = multiply(
            second[0], -second[1], -second[2], -second[3], first[0], first[1], first[2], first[3]
        )
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        # turning about z is free unless all three turning rows are there: then the z axes alone are compared
        hinge = True
        for r in range(row_start[c], row_start[c + 1]):
            if row_axis[r] == 2:
                hinge = False
        for r in range(row_start[c], row_start[c + 1]):
            axis = row_axis[r]
            if axis >= 3:
                nx, ny, nz = unit_axis(second, axis - 3)
                e = nx * dx + ny * dy + nz * dz
            elif hinge:
                # first z axis seen from the second frame: (2(xz + wy), 2(yz - wx), .)
                e = 2.0 * (w * x - y * z) if axis == 0 else 2.0 * (x * z + w * y)
            else:
                e = 2.0 * (x if axis == 0 else (y if axis == 1 else z))
            e -= share * model.ease_offset[r]
            residual[r] = e
            # not max(): a NaN must come through
            if model.give[r] < 0 and not abs(e) <= worst:
                worst = abs(e)
    return worst


@kernel
def lay_rows(model, data):
    """The wrench of every row about both trees' origins (the rows of J_C, 000 (10), with the joint's own columns
    projected out).

    data.row_first, data.row_second   (nr, 6) out
    """
    row_first, row_second, row_axis, row_start = data.row_first, data.row_second, model.row_axis, model.row_start
    position, root = data.position, model.root
    for c in range(model.first.shape[0]):
        a, b, second, first = joint_frames(model, data, c)
        o, u = root[model.first[c]], root[model.second[c]]
        rx, ry, rz = a[0] - position[o, 0], a[1] - position[o, 1], a[2] - position[o, 2]
        sx, sy, sz = a[0] - position[u, 0], a[1] - position[u, 1], a[2] - position[u, 2]
        for r in range(row_start[c], row_start[c + 1]):
            axis = row_axis[r]
            if axis >= 3:
                nx, ny, nz = unit_axis(second, axis - 3)
                row_first[r, 0], row_first[r, 1], row_first[r, 2] = cross(rx, ry, rz, nx, ny, nz)
                row_second[r, 0], row_second[r, 1], row_second[r, 2] = cross(sx, sy, sz, nx, ny, nz)
                row_first[r, 3], row_first[r, 4], row_first[r, 5] = nx, ny, nz
                row_second[r, 3], row_second[r, 4], row_second[r, 5] = nx, ny, nz
            else:
                nx, ny, nz = unit_axis(second, axis)
                row_first[r, 0], row_first[r, 1], row_first[r, 2] = nx, ny, nz
                row_second[r, 0], row_second[r, 1], row_second[r, 2] = nx, ny, nz
                for k in range(3, 6):
                    row_first[r, k] = 0.0
                    row_second[r, k] = 0.0


@kernel
def row_rates(model, data, rate):
    """What is missing to J v = beta in every row, from the links' twists.

    rate   (nr) out
    """
    row_first, row_second, twist = data.row_first, data.row_second, data.twist
    for c in range(model.first.shape[0]):
        i, k = model.first[c], model.second[c]
        _, closing, _ = easing(model, data, c)
        for r in range(model.row_start[c], model.row_start[c + 1]):
            s = closing * model.ease_offset[r]
            for j in range(6):
                s += row_second[r, j] * twist[k, j] - row_first[r, j] * twist[i, j]
            rate[r] = s


@kernel
def row_drifts(model, data):
    """Acceleration of every row with the present data.drift: J-dot v and what is prescribed (001 (16)).

    data.gamma   (nr) out
    """
    row_first, row_second, row_axis = data.row_first, data.row_second, model.row_axis
    twist, drift, gamma, position, root = data.twist, data.drift, data.gamma, data.position, model.root
    for c in range(model.first.shape[0]):
        i, k = model.first[c], model.second[c]
        a, b, second, first = joint_frames(model, data, c)
        o, u = root[i], root[k]
        # velocity of the first joint point as carried by the first and by the second link
        ax, ay, az = cross(
            twist[i, 0], twist[i, 1], twist[i, 2], a[0] - position[o, 0], a[1] - position[o, 1], a[2] - position[o, 2]
        )
        ax, ay, az = ax + twist[i, 3], ay + twist[i, 4], az + twist[i, 5]
        bx, by, bz = cross(
            twist[k, 0], twist[k, 1], twist[k, 2], a[0] - position[u, 0], a[1] - position[u, 1], a[2] - position[u, 2]
        )
        bx, by, bz = bx + twist[k, 3], by + twist[k, 4], bz + twist[k, 5]
        wx, wy, wz = twist[i, 0] - twist[k, 0], twist[i, 1] - twist[k, 1], twist[i, 2] - twist[k, 2]
        cx, cy, cz = cross(wx, wy, wz, ax, ay, az)
        _, _, closing = easing(model, data, c)
        for r in range(model.row_start[c], model.row_start[c + 1]):
            axis = row_axis[r]
            nx, ny, nz = unit_axis(second, axis - 3 if axis >= 3 else axis)
            ux, uy, uz = cross(twist[k, 0], twist[k, 1], twist[k, 2], nx, ny, nz)
            if axis >= 3:
                s = nx * cx + ny * cy + nz * cz + ux * (ax - bx) + uy * (ay - by) + uz * (az - bz)
            else:
                s = ux * wx + uy * wy + uz * wz
            for j in range(6):
                s += row_first[r, j] * drift[i, j] - row_second[r, j] * drift[k, j]
            gamma[r] = s - closing * model.ease_offset[r]


@kernel
def compliance(model, data, r):
    """How much a soft row gives: J a + compliance * force = what it would do unheld, over the step that looks ahead.

    The spring and the damper act with where the row will be: force = -(stiffness p + damping u) J a for a step that
    looks ahead by u in velocity and p in position. For an explicit step nothing of the kind holds the row.
    """
    firm = model.soft[r, 0] * data.implicit[1] + model.soft[r, 1] * data.implicit[0]
    return 1.0 / firm if firm > 0.0 else LIMP


@kernel
def pull_softly(model, data):
    """Force of the spring and damper of every soft row, as data.pull (nr); rows and twists must be up to date."""
    row_rates(model, data, data.missing)
    open_by(model, data)
    for r in range(data.pull.shape[0]):
        data.pull[r] = model.soft[r, 1] * data.missing[r] - model.soft[r, 0] * data.residual[r]


@kernel
def soften_drifts(model, data, corrects):
    """Change data.gamma of soft rows into what constrain() needs for them.

    corrects = 1: the row's force is in the joint forces already and only answers to changes of the accelerations;
    corrects = 0: it also answers to how the row will move on at its present rate.
    """
    for k in range(model.soft_rows.shape[0]):
        r = model.soft_rows[k]
        if corrects == 1:
            data.gamma[r] = 0.0
        elif data.implicit[0] > 0.0:
            ahead = data.implicit[1] / data.implicit[0]
            # pull = damping * missing rate - stiffness * opening; the missing rate is the row's own, negative
            rate = -data.missing[r]
            data.gamma[r] += compliance(model, data, r) * model.soft[r, 0] * ahead * rate
