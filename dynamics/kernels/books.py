# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, momentum and reactions of the present state, and the recording of instants."""

import math

from ..jit import kernel
from .bias import spring_end
from .evaluate import accelerate, reactions
from .rows import joint_frames, unit_axis


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
        xx, xy, xz = inertia[i, 4], inertia[i, 5], inertia[i, 6]
        yy, yz, zz = inertia[i, 7], inertia[i, 8], inertia[i, 9]
        l0 = xx * w0 + xy * w1 + xz * w2 + h1 * u2 - h2 * u1
        l1 = xy * w0 + yy * w1 + yz * w2 + h2 * u0 - h0 * u2
        l2 = xz * w0 + yz * w1 + zz * w2 + h0 * u1 - h1 * u0
        p0 = m * u0 + w1 * h2 - w2 * h1
        p1 = m * u1 + w2 * h0 - w0 * h2
        p2 = m * u2 + w0 * h1 - w1 * h0
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
def gather_reactions(model, data, out):
    """Loop forces as wrenches on the first links: out (nc, 6) [moment; force] at the joint point, world axes."""
    out[:] = 0.0
    for c in range(model.first.shape[0]):
        a, b, second, first = joint_frames(model, data, c)
        for r in range(model.row_start[c], model.row_start[c + 1]):
            axis = model.row_axis[r]
            nx, ny, nz = unit_axis(second, axis - 3 if axis >= 3 else axis)
            k = 3 if axis >= 3 else 0
            out[c, k] += data.multiplier[r] * nx
            out[c, k + 1] += data.multiplier[r] * ny
            out[c, k + 2] += data.multiplier[r] * nz


@kernel
def record_instant(model, data, n):
    """Write the present settled state into row n of the records."""
    accelerate(model, data, 1)
    keep_books(model, data)
    data.record_q[n, :] = data.q
    data.record_v[n, :] = data.v
    data.record_position[n, :, :] = data.position
    data.record_rotation[n, :, :] = data.rotation
    data.record_books[n, 0:2] = data.energy
    data.record_books[n, 2:8] = data.momentum
    data.record_books[n, 8] = data.closure[0]
    if model.first.shape[0] > 0:
        reactions(model, data)
        gather_reactions(model, data, data.record_reaction[n])
