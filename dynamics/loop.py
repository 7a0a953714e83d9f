# SPDX-License-Identifier: GPL-3.0-or-later
"""Generalized coordinates of the closed chain, as in paper 000 §II-B, and inverse dynamics with chosen actuators.

The kernels project instead of choosing coordinates (kernels/loops.py); here is the paper's own form, for those who
want to see or to force the choice, and for actuator forces.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq, qr

from .compile import compiled
from .forward import mass_matrix, tree_forces
from .mimic import multipliers
from .pose import check_vector, matrix_of
from .state import need_state

RANK_TOLERANCE = 1e-9


@dataclass
class ClosedLoop:
    """J_C (6 per virtual link, N_J) with rows [angular; linear] at the joint point, world axes, and what follows from
    it.

    Columns are the tree velocities (N_O), then the velocities of the virtual joints, in the order of chain.connections.
    Those of mimic joints are added to their leaders' and zero.
    """

    J_C: np.ndarray  # (6 N_L, N_J), 000 (11)
    beta: np.ndarray  # (6 N_L) J_C theta-dot of the free columns: not zero if anchors move
    rank: int  # m
    mobility: int  # N_F = N_J - m, 000 (13)
    independent: np.ndarray  # columns theta_G
    dependent: np.ndarray  # columns theta_S
    rows: np.ndarray  # the m independent rows
    H: np.ndarray  # (m, N_F) d theta_S / d theta_G, 000 (17)
    W: np.ndarray  # (N_O, N_F) d theta_O / d theta_G, 000 (4)
    S: np.ndarray  # (N_A, N_F) d theta_A / d theta_G, 000 (6)
    actuated: np.ndarray  # columns theta_A


def closed_loop(chain, state, independent=None, actuated=None):
    """Rank, mobility and generalized coordinates of the chain at a state (000 (9)-(17)).

    independent   columns to take as theta_G; left out, they are chosen so that J_S is well conditioned in the mass
                  metric
    actuated      columns of theta_A; left out: all but those of free joints
    """
    need_state(state, chain)
    J_C, beta = constraint_matrix(chain, state)
    columns = J_C.shape[1]
    nv = len(state.v)
    form = compiled(chain)
    # mimic joints are eliminated before the loops: their columns are their leaders'
    fold = multipliers(chain)
    mimics = np.setdiff1d(np.arange(nv), fold.independent)
    J_C[:, fold.independent], J_C[:, mimics] = J_C[:, :nv] @ fold.matrix, 0.0
    free = np.setdiff1d(np.arange(columns), np.concatenate([_given(form), mimics]))
    # a heavy joint is better independent; the massless virtual joints are dependent if they can be
    weight = np.full(columns, 1e-3)
    heaviness = np.zeros(nv)
    heaviness[fold.independent] = np.sqrt(np.abs(np.diag(fold.matrix.T @ mass_matrix(chain, state) @ fold.matrix)))
    weight[:nv] = np.maximum(heaviness / max(heaviness.max(initial=0.0), 1e-30), 1e-3)
    _, triangle, order = qr(J_C[:, free] / weight[free], mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int((pivots > RANK_TOLERANCE * max(pivots.max(initial=0.0), 1e-300)).sum()) if len(pivots) else 0
    if independent is None:
        dependent = np.sort(free[order[:rank]])
        chosen = np.setdiff1d(free, dependent)
    else:
        chosen = np.asarray(independent, dtype=np.int64)
        dependent = np.setdiff1d(free, chosen)
        if len(dependent) != rank or len(chosen) + rank != len(free):
            raise ValueError(f"{len(free) - rank} of {len(free)} columns must be independent, not {len(chosen)}")
    _, triangle, picked = qr(J_C[:, dependent].T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    if rank and pivots[rank - 1] < RANK_TOLERANCE * pivots[0]:
        raise ValueError("the columns given as independent are not: the loops tie them to each other")
    rows = np.sort(picked[:rank])
    J_S, J_G = J_C[np.ix_(rows, dependent)], J_C[np.ix_(rows, chosen)]
    H = -np.linalg.solve(J_S, J_G) if rank else np.zeros((0, len(chosen)))
    full = np.zeros((columns, len(chosen)))  # d theta_J / d theta_G
    full[dependent] = H
    full[chosen] = np.eye(len(chosen))
    full[:nv] = fold.matrix @ full[fold.independent]
    if actuated is None:
        passive = [d for link in chain.links if link.joint.name == "free" for d in range(*_span(form, link))]
        actuated = np.setdiff1d(free, passive)
    actuated = np.asarray(actuated, dtype=np.int64)
    if not np.isin(actuated, free).all():
        raise ValueError(f"columns {np.setdiff1d(actuated, free).tolist()} cannot be actuated; there are {columns}")
    return ClosedLoop(
        J_C, beta, rank, len(free) - rank, chosen, dependent, rows, H, full[:nv], full[actuated], actuated
    )


def constraint_matrix(chain, state):
    """J_C (000 (10), (11)) and the right-hand side that moving anchors give it."""
    form = compiled(chain)
    nv = len(state.v)
    grips = chain.connections
    extra = [grip.joint.freedoms for grip in grips]
    J_C = np.zeros((6 * len(grips), nv + sum(extra)))
    place = nv
    for k, grip in enumerate(grips):
        rows = slice(6 * k, 6 * k + 6)
        joint = state.pose(grip.real) @ grip.anchor
        J_C[rows, :nv] = link_jacobian(chain, state, grip.real, joint.position)
        J_C[rows, :nv] -= link_jacobian(chain, state, grip.parent, joint.position)
        turn = matrix_of(joint.rotation)
        for column in grip.joint.columns:
            J_C[rows, place] = -np.r_[turn @ column[:3], turn @ column[3:]]
            place += 1
    given = _given(form)
    return J_C, -J_C[:, given] @ state.v[given]


def link_jacobian(chain, state, link, point):
    """(6, nv) twist of the link at a world point per unit joint velocity, world axes."""
    link = chain.find(link)
    form = compiled(chain)
    state.twist(link if link is not chain.world else chain.links[0])  # fills the columns
    jacobian = np.zeros((6, len(state.v)))
    while link is not chain.world:
        i = link.index + 1
        for d in range(*_span(form, link)):
            column = form.here.column[d]
            jacobian[:3, d] = column[:3]
            jacobian[3:, d] = column[3:] + np.cross(column[:3], point - form.here.position[form.arrays.root[i]])
        link = link.parent
    return jacobian


@dataclass
class Actuation:
    """Actuator forces that produce given accelerations as well as they can.

    tau        (nv) forces of the tree joints
    virtual    forces of the virtual joints, in the order of chain.connections
    missing    (nv) joint forces that no actuator can produce; for a floating figure, the wrench at its root
    """

    tau: np.ndarray
    virtual: np.ndarray
    missing: np.ndarray


def inverse_dynamics(chain, state, qdd, actuated=None, weights=None, wrenches=None):
    """Joint forces for given accelerations.

    With every tree joint actuated (the default) these are the forces of the spanning tree. With chosen actuators
    (columns as in closed_loop) the result is an Actuation: W'tau_O = S'tau_A (000 (7), (8)), the smallest forces
    (weighted) where there are more actuators than needed, and what is missing where there are fewer. Mimic joints
    accelerate as their leaders do and have no actuators: their forces are in their leaders' (003 (19)).
    """
    need_state(state, chain)
    fold = multipliers(chain)
    qdd = fold.matrix @ check_vector(qdd, len(fold.matrix), "qdd")[fold.independent]
    tree = tree_forces(chain, state, qdd, wrenches)
    if actuated is None:
        forces = np.zeros(len(tree))
        forces[fold.independent] = fold.matrix.T @ tree
        return forces
    loop = closed_loop(chain, state, actuated=actuated)
    weights = np.ones(len(loop.actuated)) if weights is None else check_vector(weights, len(loop.actuated), "weights")
    if not (weights > 0.0).all():
        raise ValueError(f"the weights of actuators must be positive, not {weights.tolist()}")
    scale = 1.0 / weights
    wanted = loop.W.T @ tree
    forces = scale * lstsq(loop.S.T * scale, wanted, cond=1e-11)[0] if len(scale) else np.zeros(0)
    nv = len(state.v)
    everywhere = np.zeros(loop.J_C.shape[1])
    everywhere[loop.actuated] = forces
    lacking = np.zeros(loop.J_C.shape[1])
    lacking[loop.independent] = wanted - loop.S.T @ forces
    return Actuation(everywhere[:nv], everywhere[nv:], lacking[:nv])


def _given(form):
    """Columns that move as prescribed."""
    return np.flatnonzero(form.arrays.lead < 0)


def _span(form, link):
    i = link.index + 1
    return int(form.arrays.v_start[i]), int(form.arrays.v_start[i + 1])
