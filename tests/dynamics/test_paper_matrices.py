# SPDX-License-Identifier: GPL-3.0-or-later
"""Generalized coordinates: the printed example of paper 000 §VII-A, and redundant loops beside full-rank descriptions.

The paper's spatial vectors are linear first; ours are angular first.
"""

import numpy as np
import pytest
from scipy.linalg import null_space

from dynamics import Chain, Inertia, Joint, Pose, closed_loop, forward_dynamics
from dynamics.samples import GRIP_IN_HAND, HANDS, hang, parallelogram, reference_figure

EXACT = 1e-12

# Where the paper's theta_1 ... theta_8 and its six rows are in ours: linear x y z, angular x y z, then the two hinges.
COLUMNS = [3, 4, 5, 0, 1, 2, 6, 7]
ROWS = [3, 4, 5, 0, 1, 2]

J_C_PRINTED = np.array([  # 000 (45)
    [1, 0, 0, 0, 0, -2, -1, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 2, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 1, -1],
])  # fmt: skip
# (46), rows theta_2 ... theta_6, theta_8; the matrices printed before the result have theta_6 and theta_7 exchanged
H_PRINTED = np.array([[0, 0], [0, 0], [0, 0], [0, 0], [0.5, -0.5], [0.5, 0.5]])
W_PRINTED = np.array([[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0.5, -0.5], [0, 1]])  # (47)
# (48) as printed has the row of theta_1 where that of theta_7, the first actuated joint, belongs.
S_PRINTED, PRINTED_ROWS = np.array([[1, 0], [0.5, 0.5]]), (1, 8)
S_ACTUATED, ACTUATED_ROWS = np.array([[0, 1], [0.5, 0.5]]), (7, 8)


def place(*joints):
    """Our columns of the paper's theta_i."""
    return [COLUMNS[i - 1] for i in joints]


@pytest.fixture
def hung_chain():
    """Fig. 18: Base floats, Link 1 hangs on it by a hinge 1 m up, and on the ground by another 1 m further up."""
    chain = Chain()
    body = Inertia.box(1.0, (0.1, 0.4, 0.2))
    base = chain.add("Base", joint=Joint.free(), inertia=body)
    link = chain.add("Link 1", base, Joint.revolute((0, 0, 1)), Pose(position=(0, 1, 0)), body)
    state = chain.state()
    chain.connect(link, chain.world, Joint.revolute((0, 0, 1)), at=Pose(position=(0, 1, 0)), state=state)
    return chain, state


def test_constraint_matrix_as_printed(hung_chain):
    loop = closed_loop(*hung_chain)
    assert np.abs(loop.J_C[np.ix_(ROWS, COLUMNS)] - J_C_PRINTED).max() < EXACT
    assert (loop.rank, loop.mobility) == (6, 2)


def test_papers_choice_gives_the_printed_matrices(hung_chain):
    loop = closed_loop(*hung_chain, independent=place(1, 7), actuated=place(*ACTUATED_ROWS))
    order = [list(loop.dependent).index(column) for column in place(2, 3, 4, 5, 6, 8)]
    assert np.abs(loop.H[order] - H_PRINTED).max() < EXACT
    assert np.abs(loop.W[COLUMNS[:7]] - W_PRINTED).max() < EXACT
    assert np.abs(loop.S - S_ACTUATED).max() < EXACT
    printed = closed_loop(*hung_chain, independent=place(1, 7), actuated=place(*PRINTED_ROWS))
    assert np.abs(printed.S - S_PRINTED).max() < EXACT


def test_automatic_choice_spans_the_null_space(hung_chain):
    # with every joint in theta_A, S is the whole of d theta_J / d theta_G
    loop = closed_loop(*hung_chain, actuated=range(8))
    allowed = null_space(J_C_PRINTED)
    ours = loop.S[COLUMNS]
    assert np.linalg.matrix_rank(ours) == allowed.shape[1] == 2
    assert np.abs(ours - allowed @ allowed.T @ ours).max() < EXACT
    assert np.abs(loop.W - loop.S[:7]).max() == 0.0


def test_tied_columns_cannot_be_independent(hung_chain):
    """theta_2 never moves, so that it cannot stand for a freedom; and two freedoms need two coordinates."""
    with pytest.raises(ValueError, match="independent are not"):
        closed_loop(*hung_chain, independent=place(1, 2))
    with pytest.raises(ValueError, match="2 of 8 columns"):
        closed_loop(*hung_chain, independent=place(1))


def gymnast(held_twice):
    """A torso under two straight arms that turn about lines parallel to the bar.

    held_twice   both hands on the bar, each on a hinge: the second does no more than keep the arms parallel;
                 else one hand on the bar, and the other arm a part of the first: the same mechanism, full rank
    """
    chain = Chain()
    about_bar = Joint.revolute((0, 1, 0))
    torso = chain.add("torso", joint=Joint.free(), inertia=Inertia.box(40.0, (0.2, 0.4, 0.6), com=(0, 0, -0.3)))
    arm = Inertia.box(4.0, (0.1, 0.1, 0.6), com=(0, 0, 0.3))
    left = chain.add("left", torso, about_bar, Pose(position=(0, 0.2, 0)), arm)
    if held_twice:
        right = chain.add("right", torso, about_bar, Pose(position=(0, -0.2, 0)), arm)
    else:
        right = chain.add("right", left, Joint.fixed(), Pose(position=(0, -0.4, 0)), arm)
    state = chain.state()
    state.set(torso, position=(0.1, 0.3, 1.0), rotation=(np.cos(0.2), 0, np.sin(0.2), 0))
    for link in (left, right) if held_twice else (left,):
        state.set(link, angle=-0.7)
    # about the bar the arms turn at 2 rad/s, the torso at 0.5: the shoulders move as the arms take them
    shoulder = np.cross((0, 2.0, 0), state.pose(left).position - state.pose(left).apply((0, 0, 0.6)))
    back = state.pose(torso).inverse().matrix
    state.set(torso, velocity=np.r_[0, 0.5, 0, back @ shoulder])
    for link in (left, right) if held_twice else (left,):
        state.set(link, velocity=1.5)
        chain.connect(link, chain.world, about_bar, at=Pose(position=(0, 0, 0.6)), state=state)
    return chain, state


def test_two_hands_on_a_bar():
    """Seen along the bar the two arms are one: a double pendulum, whatever the count of rows says."""
    (both, state), (one, other) = gymnast(True), gymnast(False)
    redundant, full = closed_loop(both, state), closed_loop(one, other)
    assert redundant.J_C.shape == (12, 10)
    assert (redundant.rank, redundant.mobility) == (8, 2)
    assert (full.rank, full.mobility) == (6, 2) and full.J_C.shape[0] == 6
    turning = np.r_[state.v, 2.0, 2.0]  # with the virtual hinges, at the rate of the arms
    assert np.abs(redundant.J_C @ turning).max() < EXACT
    ours, reference = forward_dynamics(both, state).qdd, forward_dynamics(one, other).qdd
    size = np.abs(reference).max()
    assert size > 1.0
    assert np.abs(ours[:7] - reference).max() < 1e-10 * size
    assert abs(ours[7] - ours[6]) < 1e-10 * size


@pytest.mark.parametrize("cranks", [2, 3, 4])
def test_parallelogram_in_space(cranks):
    """Parallel cranks turn as one; the coupler only shifts, as a point mass on the end of a crank would."""
    chain, state, links = parallelogram(cranks=cranks)
    loop = closed_loop(chain, state)
    joints = 2 * cranks  # every crank on the ground, and on the coupler
    assert loop.J_C.shape == (6 * (cranks - 1), joints)
    assert (loop.rank, loop.mobility) == (joints - 1, 1)

    tree = Chain(gravity=chain.gravity)
    first = links["crank 0"]
    crank = tree.add("crank", joint=first.joint, at=first.at, inertia=first.inertia)
    for i in range(1, cranks):
        tree.add(f"its twin {i}", crank, inertia=first.inertia)
    tree.add("coupler", crank, at=links["coupler"].at, inertia=Inertia(links["coupler"].inertia.mass))
    one = tree.state()
    one.set(crank, angle=0.4, velocity=1.5)
    expected = forward_dynamics(tree, one).qdd[0]
    assert abs(expected) > 1.0
    turning = np.r_[np.ones(cranks), -1.0]
    assert np.abs(forward_dynamics(chain, state).qdd - expected * turning).max() < 1e-10 * abs(expected)


def test_hinge_made_of_two_points():
    """A body held at two points of a line turns about it: beside a hinge in the loop, and beside one in the tree."""
    inertia = Inertia(2.0, (0.1, 0.3, -0.4), np.diag([0.05, 0.03, 0.04]))
    axis = np.array((0.6, 0.0, 0.8))
    floating = []
    for joint, points in ((Joint.spherical(), (axis, -0.5 * axis)), (Joint.revolute(axis), (0 * axis,))):
        chain = Chain()
        body = chain.add("body", joint=Joint.free(), inertia=inertia)
        state = chain.state()
        state.set(body, velocity=np.r_[3.0 * axis, 0, 0, 0])
        for point in points:
            chain.connect(body, chain.world, joint, at=Pose(position=point), state=state)
        floating.append((closed_loop(chain, state), forward_dynamics(chain, state).qdd))
    (points, ours), (hinge, by_hinge) = floating
    assert (points.rank, points.mobility) == (11, 1)
    assert (hinge.rank, hinge.mobility) == (6, 1)
    tree = Chain()
    tree.add("body", joint=Joint.revolute(axis), inertia=inertia)
    state = tree.state()
    state.v[:] = 3.0
    expected = np.r_[forward_dynamics(tree, state).qdd[0] * axis, 0, 0, 0]
    size = np.abs(expected).max()
    assert size > 1.0
    assert np.abs(ours - expected).max() < 1e-10 * size
    assert np.abs(by_hinge - expected).max() < 1e-10 * size


def test_reference_figure_on_hinges_made_of_points():
    """Both hands on the bar by two points each (rank 10 of 12), and the same hands on revolute joints."""
    results = []
    for how in ("points", "revolute"):
        chain, state, _ = reference_figure()
        if how == "points":
            hang(chain, state, "hinge")
        else:
            for hand in HANDS:
                chain.connect(hand, chain.world, Joint.revolute((0, 1, 0)), at=Pose(position=GRIP_IN_HAND), state=state)
        results.append((closed_loop(chain, state), forward_dynamics(chain, state).qdd))
    (points, ours), (hinge, expected) = results
    assert (points.rank, points.mobility) == (46 + 12 - 36, 36)
    assert (hinge.rank, hinge.mobility) == (46 + 2 - 36, 36)
    assert np.abs(ours - expected).max() < 1e-9 * np.abs(expected).max()
