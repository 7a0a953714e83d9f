# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward and inverse dynamics, impact, and the mass matrix, for one state at a time."""

from dataclasses import dataclass

import numpy as np

from .compile import compiled
from .goals import set_goals
from .kernels.bias import joint_forces
from .kernels.books import gather_reactions, keep_books
from .kernels.evaluate import accelerate, project_velocity, reactions
from .kernels.kinematics import move_links, place_links, spread_columns
from .kernels.loops import loop_forces
from .kernels.mass import composite_mass
from .kernels.rows import row_rates
from .kernels.steps import FAILED_MASS, begin
from .motion import joint_tables
from .pose import check_vector
from .state import need_state


@dataclass
class Acceleration:
    """qdd (nv): rates of the joint velocities; reaction: [moment; force] of every connection on its first link."""

    qdd: np.ndarray
    reaction: dict


def load(chain, state, tau=None, wrenches=None, dense=False):
    """Bring a state into the chain's workspace, ready for evaluation; returns the compiled form."""
    need_state(state, chain)
    state.check_numbers(chain)
    form = compiled(chain, dense)
    here = form.here
    here.q[:], here.v[:], here.time[0] = state.q, state.v, state.time
    here.now[:], here.implicit[:] = (state.time, 0.0), 0.0
    here.given_tau[:] = 0.0 if tau is None else check_vector(tau, len(here.v), "tau")
    here.wrench[:], here.field[:] = 0.0, 0.0
    for link, wrench in check_wrenches(chain, wrenches).items():
        here.wrench[link.index + 1] += wrench
    for k, i in enumerate(form.arrays.prescribed):
        # the same at all samples: an evaluation looks at the first, a step brings tables of its own
        here.given_q[:, k], here.given_v[:, k], here.given_a[:, k] = joint_tables(chain.links[i - 1], [state.time])
    set_goals(chain, state, form)
    return form


def check_wrenches(chain, wrenches):
    """{link of the chain: six numbers}, or a ValueError that names the link."""
    if wrenches is None:
        return {}
    if not isinstance(wrenches, dict):
        raise ValueError(f"wrenches must be given as {{link: [moment; force]}}, not {wrenches!r}")
    checked = {}
    for target, wrench in wrenches.items():
        link = chain.find(target)
        if link.real is not None or link is chain.world:
            raise ValueError(f"a wrench cannot act on {link.name}: it is {'virtual' if link.real else 'the world'}")
        checked[link] = checked.get(link, 0.0) + check_vector(wrench, 6, f"wrench on {link.name}")
    return checked


def prepare(chain, state, tau=None, wrenches=None):
    """load() and factor; falls back to fill-in for massless links that only the loops hold, else names the link."""
    form = load(chain, state, tau, wrenches)
    failed = begin(form.model, form.data) == FAILED_MASS
    if (failed or _is_lopsided(form)) and not form.dense and chain.connections:
        form = load(chain, state, tau, wrenches, dense=True)
        begin(form.model, form.data)
    if form.here.failure[0] == FAILED_MASS:
        link = chain.links[form.arrays.dof_link[form.here.failure[1]] - 1]
        raise ValueError(
            f"link {link.name} can move without moving any mass: give it, or what hangs on it, mass and inertia, "
            "or fix its joint"
        )
    return form


def _is_lopsided(form):
    """Whether some link is so light beside others that loops on it would look redundant in the mass metric."""
    scale = form.here.root_pivot[form.arrays.depth >= 0]
    return len(scale) > 0 and scale.min() < 1e-4 * scale.max()


def forward_dynamics(chain, state, tau=None, wrenches=None):
    """Accelerations and reactions of the closed chain (001 (17)-(19), (13)).

    tau        (nv) joint forces
    wrenches   {link: [moment; force] at the link origin, world axes}
    """
    form = prepare(chain, state, tau, wrenches)
    accelerate(form.model, form.data, 1)
    return Acceleration(form.here.a.copy(), _reactions(form))


def _reactions(form):
    out = np.zeros((len(form.connections), 6))
    if len(out):
        reactions(form.model, form.data)
        gather_reactions(form.model, form.data, out)
    return dict(zip(form.connections, out, strict=True))


def impact(chain, state):
    """The state right after the chain's connections took hold (000 (29)-(38)), with the impulses in .impulse.

    Finds v+ closest to v in kinetic energy with J v+ = beta: v+ = W (W'MW)^-1 W'M v.
    A plastic collision: momentum not taken up by the world is kept, energy never grows.
    """
    form = prepare(chain, state)
    after = state.copy()
    after.chain = chain
    if chain.connections:
        project_velocity(form.model, form.data)
        after.q, after.v = form.here.q.copy(), form.here.v.copy()
        # row velocities that were made up, as impulses of the connections
        zero = np.zeros(len(form.here.v))
        loop_forces(form.model, form.data, zero, form.here.missing, 1.0, 0)
        out = np.zeros((len(form.connections), 6))
        gather_reactions(form.model, form.data, out)
        after.impulse = dict(zip(form.connections, out, strict=True))
    return after


def slip(chain, state):
    """The largest row velocity (m/s, rad/s) by which any connection is violated by the state's velocities."""
    form = load(chain, state)
    if not chain.connections:
        return 0.0
    begin(form.model, form.data)
    move_links(form.model, form.data)
    rates = np.zeros(len(form.here.residual))
    row_rates(form.model, form.data, rates)
    return float(np.abs(rates[form.arrays.give < 0]).max(initial=0.0))


def mass_matrix(chain, state):
    """Mass matrix M (nv, nv) of the spanning tree; rows of prescribed links are zero.

    Mimic joints have rows of their own; multipliers(chain) says how to fold them.
    """
    form = load(chain, state)
    begin(form.model, form.data)
    composite_mass(form.model, form.data)
    depth, ancestor, factor = form.arrays.depth, form.arrays.ancestor, form.here.factor
    mass = np.zeros((len(depth), len(depth)))
    for d, n in enumerate(depth):
        if n >= 0:
            mass[d, ancestor[d, :n]] = mass[ancestor[d, :n], d] = factor[d, :n]
            mass[d, d] = factor[d, n]
    one, other = form.arrays.pair[:, 0], form.arrays.pair[:, 1]
    mass[one, other] = mass[other, one] = form.here.pair_mass
    return mass


def kinetic_energy(chain, state):
    """Kinetic energy (J) of all links that move freely, virtual inertia included."""
    form = load(chain, state)
    _pose(form)
    keep_books(form.model, form.data)
    return float(form.here.energy[0])


def bias_forces(chain, state, wrenches=None):
    """Joint forces (nv) that the tree needs for zero accelerations of its free joints: b of 001 (17), without loops."""
    form = load(chain, state, None, wrenches)
    _pose(form)
    joint_forces(form.model, form.data, 0)
    return form.here.bias.copy()


def tree_forces(chain, state, qdd, wrenches=None):
    """Joint forces tau_O (nv) of the spanning tree for given accelerations: recursive Newton-Euler, no loop forces."""
    form = load(chain, state, None, wrenches)
    _pose(form)
    form.here.a[:] = check_vector(qdd, len(form.here.v), "qdd")
    joint_forces(form.model, form.data, 1)
    return form.here.bias.copy()


def _pose(form):
    form.here.a[:] = 0.0
    begin(form.model, form.data)
    place_links(form.model, form.data)
    spread_columns(form.model, form.data)
    move_links(form.model, form.data)
