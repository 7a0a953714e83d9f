# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that depend on where the links are and how they move: wind, attraction, anything a function can say.

A field is a function

    field(time, positions (links, 3), velocities (links, 3)) -> forces (links, 3), or (forces, drag (links), flow)

of the centres of mass in world axes, links in the order of chain.links; the forces (N) act there. With `drag` (N s/m),
drag times (flow - velocity) acts as well; `flow` (links, 3) is how fast the air moves. It is asked once before every
step, at the middle of the step's time and where the links will be then if they go on as they do: forces that vary with
time and place are taken to second order. Forces stay as they are through the step, at the centres of mass; drag follows
the velocity within it.

Drag may be as strong as one likes. It is held below mass / step for each link. All links together then brake with
h M^-1 C <= 1, in the mass metric, since the mass matrix M is at least the sum of m J'J of the centres of mass and the
drag's C is the sum of c J'J: no step of any integrator turns a velocity round.
"""

import numpy as np

from .kernels.kinematics import move_links, place_links, spread_columns


def feel(field, form, time, step):
    """Ask the field for a step from the present state on, and lay its forces into the workspace; a step of 0 asks for
    this very moment.

    Returns the wrenches (links, 6) at the link origins, at the present velocities.
    """
    places, velocities = _centres(form)
    mass = form.arrays.mass[1:]
    answer = field(time + 0.5 * step, places + 0.5 * step * velocities, velocities.copy())
    if not isinstance(answer, tuple):
        answer = answer, np.zeros(len(mass)), np.zeros_like(places)
    if len(answer) != 3:
        raise ValueError("a field gives forces, or (forces, drag, flow)")
    forces = _numbers(answer[0], places.shape, "forces")
    drag = _numbers(answer[1], mass.shape, "drag")
    flow = _numbers(answer[2], places.shape, "flow")
    if (drag < 0.0).any():
        raise ValueError("the drag of a field must not be negative: it would drive what it should brake")
    if step > 0.0:
        drag = np.minimum(drag, mass / step)
    if len(form.here.field) != len(form.arrays.parent):
        form.replace(field=np.zeros((len(form.arrays.parent), 4)))
    # a link without mass has no centre of mass that could be pushed
    counts = (mass > 0.0)[:, None]
    form.here.field[1:, :3] = counts * (forces + drag[:, None] * flow)
    form.here.field[1:, 3] = counts[:, 0] * drag
    forces = form.here.field[1:, :3] - form.here.field[1:, 3:] * velocities
    return np.hstack([_cross(places - form.here.position[1:], forces), forces])


def _centres(form):
    """Places and velocities (links, 3) of the centres of mass."""
    place_links(form.model, form.data)
    spread_columns(form.model, form.data)
    move_links(form.model, form.data)
    here, arrays = form.here, form.arrays
    places = here.position[1:] + np.einsum("nij,nj->ni", here.matrix[1:], arrays.com[1:])
    twist = here.twist[1:]
    return places, twist[:, 3:] + _cross(twist[:, :3], places - here.position[arrays.root[1:]])


def _cross(a, b):
    """np.cross for rows of three, several times as fast."""
    x, y, z = a.T
    u, v, w = b.T
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)


def _numbers(values, shape, name):
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the {name} of a field must be numbers, not {values!r}") from error
    if array.shape != shape:
        raise ValueError(f"the {name} of a field must be an array of shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} of a field are not finite at link {int(np.argwhere(~np.isfinite(array))[0, 0])}")
    return array
