# SPDX-License-Identifier: GPL-3.0-or-later
"""Torques from inverse dynamics of a goal motion, fed forward to muscles. Oracles: Pinocchio, closed forms, statics."""

import numpy as np
import pinocchio as pin
import pytest

from dynamics import Chain, Driven, Inertia, Joint, Motion, Pose, feed_forward, forward_dynamics, simulate
from dynamics.motion import goal_tables
from dynamics.pose import matrix_of
from dynamics.samples import FIGURE, reference_figure
from tests.dynamics.figure_moves import joints, keys
from tests.dynamics.oracles import Peer

TIMES = np.linspace(0.0, 1.0, 49)
WEIGHT = sum(part.mass for part in FIGURE) * 9.81


def moving_root():
    """A root that circles and turns."""
    turn = np.stack([np.cos(0.3 * TIMES), 0.0 * TIMES, np.sin(0.3 * TIMES), 0.0 * TIMES], axis=1)
    place = np.stack([0.3 * np.cos(2.0 * TIMES), 0.2 * np.sin(3.0 * TIMES), 1.0 + 0.1 * np.sin(4.0 * TIMES)], axis=1)
    return Motion(TIMES, place, turn)


def figure_goals(links):
    return {links["pelvis"]: moving_root()} | {links[part.name]: keys(part, 1.0) for part in joints()}


def test_without_connections_it_is_pinocchios_inverse_dynamics():
    chain, state, links = reference_figure()
    goals = figure_goals(links)
    found = feed_forward(chain, goals, TIMES[5:40:7])
    tables = {link: goal_tables(link, goal, found.times) for link, goal in goals.items()}
    peer = Peer(chain)
    for n in range(len(found.times)):
        a = np.zeros(len(state.v))
        for link, (q, v, acceleration) in tables.items():
            q_place, v_place = state.places(link)
            state.q[q_place], state.v[v_place] = q[n, : link.joint.coordinates], v[n, : link.joint.freedoms]
            a[v_place] = acceleration[n, : link.joint.freedoms]
        peer.update(state)
        qdd = np.zeros(len(a))
        qdd[peer.index] = a
        needed = pin.rnea(peer.model, peer.data, peer.q, peer.v, qdd)[peer.index]
        for link, torque in (found.torques | found.missing).items():
            assert np.abs(torque[n] - needed[state.places(link)[1]]).max() < 1e-8 * np.abs(needed).max()


@pytest.mark.parametrize("frequency", [2.0, 5.0])
def test_an_arm_with_feed_forward_follows_without_its_lag(frequency):
    """Without it, an arm on a spring and a damper lags a wave by the steady state of I e'' + D e' + K e = -I g''."""
    inertia, rate = 0.4, 6.0
    stiffness, damping = inertia * (2.0 * np.pi * frequency) ** 2, 2.0 * inertia * 2.0 * np.pi * frequency
    chain = Chain((0.0, 0.0, 0.0))
    link = chain.add("arm", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(1.0, (0, 0, 0), inertia * np.eye(3)))
    wave = lambda t: 0.5 * np.sin(rate * t)  # noqa: E731
    state = chain.state()
    state.set(link, velocity=0.5 * rate)
    torque = feed_forward(chain, {link: wave}, np.linspace(0.0, 4.0, 1601)).of(link)
    errors = []
    for extra in (None, torque):
        run = simulate(chain, state, 4.0, 1e-3, muscles={link: Driven(stiffness, damping, wave, feed_forward=extra)})
        angles = np.array([run.state(i).q[0] for i in range(2000, len(run))])
        errors.append(np.abs(angles - wave(run.times[2000:])).max())
    lag = inertia * 0.5 * rate**2 / abs(stiffness - inertia * rate**2 + 1j * damping * rate)
    print(f"{frequency} Hz: {errors[0]:.4f} rad without, {lag:.4f} by the closed form, {errors[1]:.1e} with")
    assert errors[0] == pytest.approx(lag, rel=1e-3)
    assert errors[1] < 1e-3 * errors[0]


def standing(joint):
    """The figure's torques to stand still on both feet, and where the feet stand."""
    chain, state, links = reference_figure()
    sole = Pose((0.05, 0, -0.07))
    for foot in ("lfoot", "rfoot"):
        chain.connect(foot, chain.world, joint, sole, state=state)
    found = feed_forward(chain, {link: _here(state, link) for link in chain.links}, [0.0])
    return chain, state, links, found, [(state.pose(foot) @ sole).position for foot in ("lfoot", "rfoot")]


def test_planted_feet_carry_the_weight():
    """Nothing is missing, forward dynamics with the torques stands still, and the reactions add up to the weight."""
    chain, state, links, found, _ = standing(Joint.fixed())
    assert np.abs(found.missing[links["pelvis"]]).max() < 1e-9 * WEIGHT
    tau = np.zeros(len(state.v))
    for link, torque in found.torques.items():
        tau[state.places(link)[1]] = torque[0]
    moved = forward_dynamics(chain, state, tau)
    assert np.abs(moved.qdd).max() < 1e-6
    assert sum(wrench[5] for wrench in moved.reaction.values()) == pytest.approx(WEIGHT, rel=1e-9)


def test_two_points_carry_all_but_tipping_about_the_line_through_them():
    """What is missing is perpendicular to all that two points carry: along the root's motion about that line."""
    _, state, links, found, (one, two) = standing(Joint.spherical())
    pose = state.pose(links["pelvis"])
    line = (two - one) / np.linalg.norm(two - one)
    back = matrix_of(pose.rotation).T
    tipping = np.r_[back @ line, back @ np.cross(line, pose.position - one)]
    missing = found.missing[links["pelvis"]][0]
    along = missing @ tipping / (tipping @ tipping) * tipping
    assert np.abs(missing - along).max() < 1e-9 * WEIGHT
    assert np.linalg.norm(missing) > 1.0


@pytest.mark.parametrize("askew", [1e-7, 1e-3])
def test_hands_askew_on_a_bar_do_not_fight_each_other(askew):
    """Two cylinders on one line carry no moment about it; a little askew, they must not do so by huge forces either."""
    chain, state, _ = reference_figure()
    ends = [state.pose(foot).position for foot in ("lfoot", "rfoot")]
    line = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    across = np.cross(line, (0.0, 0.0, 1.0))
    across /= np.linalg.norm(across)
    for foot, tilt in (("lfoot", askew), ("rfoot", -askew)):
        axis = matrix_of(state.pose(foot).rotation).T @ (np.cos(tilt) * line + np.sin(tilt) * across)
        chain.connect(foot, chain.world, Joint.cylindrical(axis), state=state)
    found = feed_forward(chain, {link: _here(state, link) for link in chain.links}, [0.0])
    assert max(np.abs(torque).max() for torque in found.torques.values()) < WEIGHT  # a lever of one metre


def _here(state, link):
    if link.joint.name == "free":
        pose = state.pose(link)
        return lambda t: pose
    q = state.coordinates(link)[0]
    return lambda t: q
