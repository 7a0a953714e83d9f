# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities after a connection, beside paper 000 (29)-(38) written out with Pinocchio's mass matrix and Jacobians.

Spatial vectors are Pinocchio's here: linear first, world axes, about the world's origin.
"""

import numpy as np
import pytest
from scipy.linalg import null_space

from dynamics import Chain, Inertia, Joint, Pose, impact
from tests.dynamics.oracles import HELD, Peer, axis_placement, placement
from tests.dynamics.random_chains import JOINTS, random_inertia, random_joint, random_pose, set_randomly

CASES = range(40)
CLOSE = 1e-10  # relative
KEPT = 1e-12  # relative: rounding of one projection

# How often each type of joint is drawn.
SINGLE = (1, 6, 2, 2, 2, 5, 0)
BALLS = (0, 0, 0, 0, 0, 1, 0)


def add_figure(chain, rng, name, count, joints=SINGLE, root=None):
    """A floating tree of `count` links, or one on a given root joint; with all joints spherical it is a line."""
    links = [chain.add(f"{name} 0", joint=root or Joint.free(), at=random_pose(rng), inertia=random_inertia(rng))]
    for i in range(1, count):
        parent = links[-1] if joints == BALLS else links[rng.integers(len(links))]
        links.append(chain.add(f"{name} {i}", parent, random_joint(rng, joints), random_pose(rng), random_inertia(rng)))
    return links


def at_random(chain, rng):
    state = chain.state()
    for link in chain.links:
        if link.joint.freedoms:
            set_randomly(state, link, link.joint.name, rng)
    return state


def grab(chain, state, rng, first, second, kinds=None):
    """Connect two links where they are by a random joint; free ones hold nothing and are left out."""
    kind = rng.choice(kinds or list(JOINTS)[:-1])
    return chain.connect(first, second, JOINTS[kind](rng), at=random_pose(rng, 0.3), state=state)


def new_joint(peer, grip):
    """J_n: the motions (6, p) that the new joint lets go, and the joint point."""
    frame = peer.link_placement(grip.real) * placement(grip.anchor) * axis_placement(grip.joint)
    free = [k for k in range(6) if k not in HELD[grip.joint.name]]
    angular_first = np.eye(6)[:, free]
    return frame.toActionMatrix() @ np.concatenate([angular_first[3:], angular_first[:3]]), frame.translation


def impulse_of(B, J_n, v):
    """F = B^-1 (E - C) v with C of (32) or (37), or zero if the joint lets nothing go."""
    C = np.zeros((6, 6))
    if J_n.shape[1]:
        C = J_n @ np.linalg.solve(J_n.T @ np.linalg.solve(B, J_n), np.linalg.solve(B.T, J_n).T)
    return np.linalg.solve(B, (np.eye(6) - C) @ v)


def between_two(peer, state, grip, one, two):
    """(29)-(33): velocities after chains 1 and 2, at the places `one` and `two` of v, were connected, and F_1."""
    A_1, A_2 = peer.mass[np.ix_(one, one)], peer.mass[np.ix_(two, two)]
    J_1, J_2 = our_jacobian(peer, grip.real)[:, one], our_jacobian(peer, grip.parent)[:, two]
    J_n, _ = new_joint(peer, grip)
    B = J_1 @ np.linalg.solve(A_1, J_1.T) + J_2 @ np.linalg.solve(A_2, J_2.T)
    v = J_1 @ state.v[one] - J_2 @ state.v[two]
    F_1 = impulse_of(B, J_n, v)
    after = state.v.copy()
    after[one] -= np.linalg.solve(A_1, J_1.T @ F_1)
    after[two] += np.linalg.solve(A_2, J_2.T @ F_1)
    return after, F_1


def within_one(peer, state, grip, W):
    """(34)-(38), with J_1 - J_2 also in (35), in the generalized coordinates that W spans: v = W theta-dot_G."""
    A_1 = W.T @ peer.mass @ W
    J = (our_jacobian(peer, grip.real) - our_jacobian(peer, grip.parent)) @ W
    J_n, _ = new_joint(peer, grip)
    rates = np.linalg.lstsq(W, state.v, rcond=None)[0]
    B = J @ np.linalg.solve(A_1, J.T)
    F_1 = impulse_of(B, J_n, J @ rates)
    return W @ (rates - np.linalg.solve(A_1, J.T @ F_1)), F_1


def our_jacobian(peer, link):
    return peer.spatial_jacobian(link)[:, peer.index]


def check(peer, state, after, expected, grip=None, F_1=None):
    """Velocities and impulse as expected; energy lost as by Carnot: that of the velocities lost."""
    assert np.abs(after.v - expected).max() < CLOSE * np.abs(state.v).max()
    energy, left = (0.5 * v @ peer.mass @ v for v in (state.v, after.v))
    lost = 0.5 * (state.v - after.v) @ peer.mass @ (state.v - after.v)
    assert left <= energy * (1.0 + KEPT)
    assert abs(energy - left - lost) < CLOSE * energy
    if grip is not None:
        # what acts on the first link is -F_1, moved from the world's origin to the joint
        _, point = new_joint(peer, grip)
        force, moment = -F_1[:3], -F_1[3:] + np.cross(point, F_1[:3])
        wanted = np.r_[moment, force]
        assert np.abs(after.impulse[grip] - wanted).max() < 1e-9 * np.abs(wanted).max()


def momentum(chain, state):
    """[angular about the world origin; linear] momentum from poses, twists and inertias of the links; and its size."""
    total, size = np.zeros(6), np.zeros(6)
    for link in chain.links:
        pose, twist, inertia = state.pose(link), state.twist(link), link.inertia
        centre = pose.apply(inertia.com)
        push = inertia.mass * (twist[3:] + np.cross(twist[:3], centre - pose.position))
        spin = pose.matrix @ inertia.tensor @ pose.matrix.T @ twist[:3] + np.cross(centre, push)
        total += np.r_[spin, push]
        size += np.repeat([np.linalg.norm(spin), np.linalg.norm(push)], 3)
    return total, size


@pytest.mark.parametrize("seed", CASES)
def test_between_two_figures(seed):
    rng = np.random.default_rng(seed)
    chain = Chain()
    one, two = (add_figure(chain, rng, name, rng.integers(1, 7)) for name in ("one", "two"))
    state = at_random(chain, rng)
    grip = grab(chain, state, rng, rng.choice(one), rng.choice(two))
    border = sum(link.joint.freedoms for link in one)
    peer = Peer(chain).update(state)
    after = impact(chain, state)
    expected, F_1 = between_two(peer, state, grip, np.arange(border), np.arange(border, len(state.v)))
    check(peer, state, after, expected, grip, F_1)
    (before, size), (now, _) = momentum(chain, state), momentum(chain, after)
    assert np.abs((now - before) / size).max() < KEPT, "momentum was made out of nothing"


@pytest.mark.parametrize("seed", CASES)
def test_between_a_figure_and_the_world(seed):
    """The world is a chain 2 that does not move. It takes up exactly the impulse of the connection."""
    rng = np.random.default_rng(1000 + seed)
    chain = Chain()
    one = add_figure(chain, rng, "one", rng.integers(1, 7))
    state = at_random(chain, rng)
    grip = grab(chain, state, rng, rng.choice(one), chain.world)
    peer = Peer(chain).update(state)
    after = impact(chain, state)
    expected, F_1 = between_two(peer, state, grip, np.arange(len(state.v)), np.arange(0))
    check(peer, state, after, expected, grip, F_1)
    (before, size), (now, _) = momentum(chain, state), momentum(chain, after)
    taken = np.r_[F_1[3:], F_1[:3]]
    assert np.abs((before - now - taken) / size).max() < CLOSE
    J_n, _ = new_joint(peer, grip)
    spared = J_n.T @ np.r_[(now - before)[3:], (now - before)[:3]]
    assert np.abs(spared).max(initial=0.0) < KEPT * size.max() * max(1.0, np.abs(J_n).max(initial=0.0))


@pytest.mark.parametrize("floating", [True, False], ids=["floating", "on the world"])
@pytest.mark.parametrize("seed", CASES)
def test_inside_one_figure(seed, floating):
    rng = np.random.default_rng(2000 + seed)
    chain = Chain()
    links = add_figure(chain, rng, "one", rng.integers(4, 8), BALLS, None if floating else Joint.spherical())
    state = at_random(chain, rng)
    first, second = (links[0], links[-1]) if rng.random() < 0.5 else (links[-1], links[0])
    grip = grab(chain, state, rng, first, second)
    peer = Peer(chain).update(state)
    after = impact(chain, state)
    expected, F_1 = within_one(peer, state, grip, np.eye(len(state.v)))
    check(peer, state, after, expected, grip, F_1)
    if floating:
        (before, size), (now, _) = momentum(chain, state), momentum(chain, after)
        assert np.abs((now - before) / size).max() < KEPT


@pytest.mark.parametrize("seed", CASES)
def test_with_loops_already_there(seed):
    """Three figures hold on to each other and one to the world; their velocities fit that; then there is one more grip.

    The loops that are there, redundant or not, are taken out of the coordinates first: W spans what they allow.
    """
    rng = np.random.default_rng(3000 + seed)
    chain = Chain()
    figures = [add_figure(chain, rng, name, 5, BALLS) for name in ("one", "two", "three")]
    state = at_random(chain, rng)
    grab(chain, state, rng, figures[0][1], figures[1][4])
    grab(chain, state, rng, figures[1][0], figures[2][2])
    if rng.random() < 0.5:
        grab(chain, state, rng, figures[0][4], chain.world)
    if rng.random() < 0.5:  # the same once more: nothing new, but twice the rows
        grip = chain.connections[-1]
        chain.connect(grip.real, grip.parent, grip.joint, at=grip.anchor, to=grip.at)
    peer = Peer(chain).update(state)
    state.v[:] = peer.nearest(state.v, np.zeros(len(peer.J)))
    W = null_space(peer.J, rcond=1e-9)
    assert np.abs(impact(chain, state).v - state.v).max() < CLOSE, "an impact without a blow"
    grip = grab(chain, state, rng, figures[0][3], figures[2][4])
    peer = Peer(chain).update(state)
    expected, F_1 = within_one(peer, state, grip, W)
    after = impact(chain, state)
    check(peer, state, after, expected, grip, F_1)
    if not any(link.parent is chain.world for link in chain.connections):
        (before, size), (now, _) = momentum(chain, state), momentum(chain, after)
        assert np.abs((now - before) / size).max() < KEPT


def test_catching_a_bar_keeps_angular_momentum_about_it():
    """A free rod meets a pivot: the pivot's impulse has no moment about itself."""
    mass, length, spin, speed = 3.0, 1.4, 2.5, 1.9
    chain = Chain()
    rod = chain.add("rod", joint=Joint.free(), inertia=Inertia.rod(mass, (0, 0, 0), (length, 0, 0)))
    state = chain.state()
    # turning about y at `spin`, its middle falling at `speed`: the end that meets the pivot at the origin moves along
    state.set(rod, velocity=(0, spin, 0, 0, 0, -speed + spin * length / 2))
    grip = chain.connect(rod, chain.world, Joint.revolute((0, 1, 0)), state=state)
    after = impact(chain, state)
    about_bar = mass * length / 2 * speed + mass * length**2 / 12 * spin
    turning = about_bar / (mass * length**2 / 3)
    assert np.abs(after.v - [0, turning, 0, 0, 0, 0]).max() < KEPT * turning
    push = mass * (speed - turning * length / 2)
    assert np.abs(after.impulse[grip] - [0, 0, 0, 0, 0, push]).max() < KEPT * push


def test_both_ways_round_is_the_same():
    """Which of the two partners is the first only turns the impulse round."""
    rng = np.random.default_rng(7)
    chain = Chain()
    one, two = (add_figure(chain, rng, name, 4) for name in ("one", "two"))
    state = at_random(chain, rng)
    joint, at = Joint.cylindrical((1, 2, 3)), random_pose(rng, 0.2)
    grip = chain.connect(one[2], two[3], joint, at=at, state=state)
    there = impact(chain, state)
    chain.cut(grip)
    turned = chain.connect(two[3], one[2], joint, at=grip.at, to=at)
    back = impact(chain, state)
    assert np.abs(there.v - back.v).max() < KEPT * np.abs(state.v).max()
    assert np.abs(there.impulse[grip] + back.impulse[turned]).max() < KEPT * np.abs(there.impulse[grip]).max()


def test_a_moving_anchor_takes_the_figure_along():
    """A hand that catches a bar moving at 3 m/s has its speed afterwards: J_C v = beta, not zero."""
    chain = Chain()
    bar = chain.add("bar", joint=Joint.free(), motion=lambda t: Pose(position=(3.0 * t, 0, 0)))
    ball = chain.add("ball", joint=Joint.free(), inertia=Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)))
    state = chain.state()
    state.set(ball, velocity=(0, 0, 0, 1.0, 0.5, 0.0))
    grip = chain.connect(ball, bar, Joint.spherical(), state=state)
    after = impact(chain, state)
    # the speed of a function is a difference quotient, hence the tolerance
    assert np.abs(after.twist(ball) - [0, 0, 0, 3, 0, 0]).max() < 1e-9
    assert np.abs(after.impulse[grip] - [0, 0, 0, 4, -1, 0]).max() < 1e-8
