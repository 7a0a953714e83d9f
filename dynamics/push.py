# SPDX-License-Identifier: GPL-3.0-or-later
"""A push: an impulse from outside that acts in an instant."""

import numpy as np

from .forward import forward_dynamics, kinetic_energy
from .pose import check_vector, matrix_of


def push(chain, state, link, impulse, at=(0.0, 0.0, 0.0), moment=(0.0, 0.0, 0.0)):
    """The state right after an impulse on a link, with the impulses of the connections in .impulse, and the work done.

    Solves M (v+ - v) = J'p + the generalized impulse, with J (v+ - v) = 0: the loops hold through it as they do through
    a Connect (000 (25)-(38)), and joints that move as keyed or given go on as they did. These are the equations of
    forward dynamics with an impulse in the place of a force, and accelerations depend on forces linearly.

    impulse, moment   N s, N m s, world axes
    at                where the impulse acts, in the link's frame
    Returns the state and the change of kinetic energy, in joules.
    """
    link = chain.find(link)
    pose = state.pose(link)
    impulse = check_vector(impulse, 3, f"the push on {link.name}")
    lever = matrix_of(pose.rotation) @ check_vector(at, 3, f"the point of the push on {link.name}")
    moment = check_vector(moment, 3, f"the moment of the push on {link.name}") + np.cross(lever, impulse)
    without = forward_dynamics(chain, state)
    pushed = forward_dynamics(chain, state, wrenches={link: np.r_[moment, impulse]})
    after = state.copy()
    after.v += pushed.qdd - without.qdd
    after.impulse = {grip: pushed.reaction[grip] - without.reaction[grip] for grip in chain.connections}
    return after, kinetic_energy(chain, after) - kinetic_energy(chain, state)
