# SPDX-License-Identifier: GPL-3.0-or-later
"""Reactions of the present state, and the recording of instants."""

from ..jit import kernel
from .energy import keep_books
from .evaluate import accelerate, reactions
from .rows import joint_frames, unit_axis


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
    data.record_books[n, 9:] = data.work
    if model.first.shape[0] > 0:
        reactions(model, data)
        gather_reactions(model, data, data.record_reaction[n])
