# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed joints: they are where scipy's splines say, with the torques of Pinocchio, and fly as Newton says."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from dynamics import (
    Chain,
    Connect,
    Inertia,
    Joint,
    JointMotion,
    Keyed,
    Pose,
    forward_dynamics,
    inverse_dynamics,
    simulate,
)
from dynamics.samples import FIGURE, GRIP_IN_HAND, ROOT_POSITION
from tests.dynamics.figure_moves import joints, key_frames, scaled_figure, turned_by
from tests.dynamics.oracles import Peer

DURATION = 0.5
STEPS = {"rkmk4": 1e-3, "midpoint": 1 / 240}


def keyed_figure(scale=1.0, gravity=9.81):
    """The reference figure, lengths times `scale`, masses times its cube, turning over in the air by its keys."""
    chain, links = scaled_figure(scale, gravity)
    state = chain.state()
    root = FIGURE[0]
    state.set(
        links[root.name], rotation=root.start, position=scale * np.array(ROOT_POSITION),
        velocity=np.r_[0.5, 3.0, -0.4, scale * np.array((0.4, 0.1, 2.0))],
    )  # fmt: skip
    splines = {}
    for part in joints():
        times, values = key_frames(part, DURATION)
        chain.act(links[part.name], Keyed(JointMotion(times, values)))
        if part.joint == "hinge":
            splines[part.name] = CubicSpline(times, values)
        else:
            splines[part.name] = RotationSpline(times, Rotation.from_quat(np.roll(values, -1, axis=1)))
    return chain, state.take_given(), links, splines


def place(spline, t):
    return spline(t) if isinstance(spline, CubicSpline) else np.roll(spline(t).as_quat(), 1)


def hold_a_hand(chain, state):
    return chain.connect("lhand", chain.world, Joint.fixed(), Pose(position=GRIP_IN_HAND), state=state)


@pytest.mark.parametrize("held", [False, True], ids=["open", "one hand held"])
@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
def test_keyed_joints_are_where_their_keys_are(integrator, held):
    chain, state, links, splines = keyed_figure()
    if held:
        hold_a_hand(chain, state)
    run = simulate(chain, state, DURATION, 1 / 240, integrator)
    for i in range(0, len(run), 5):
        now = run.state(i)
        for name, spline in splines.items():
            q, v = now.coordinates(links[name])
            assert turned_by(q, place(spline, run.times[i])) < 1e-9
            assert np.abs(v - spline(run.times[i], 1)).max() < 1e-9


def test_keys_themselves_are_met():
    """At the time of a key the joint has the key's value."""
    chain, state, links, _ = keyed_figure()
    run = simulate(chain, state, DURATION, 1 / 240)
    for frame in range(1, 12):
        i = int(np.argmin(np.abs(run.times - frame / 24.0)))
        for part in joints():
            times, values = key_frames(part, DURATION)
            assert abs(run.times[i] - times[frame]) < 1e-12
            assert turned_by(run.state(i).coordinates(links[part.name])[0], values[frame]) < 1e-9


@pytest.mark.parametrize("held", [False, True], ids=["open", "one hand held"])
def test_the_torque_that_comes_out_is_that_of_pinocchio(held):
    """The root has no muscle. Open, Pinocchio's force on it must vanish; with one hand held the six unknowns of the
    grip are those that make it vanish, and the torques in the joints follow.
    """
    chain, state, links, splines = keyed_figure()
    grip = hold_a_hand(chain, state) if held else None
    run = simulate(chain, state, DURATION, 1 / 240)
    peer = Peer(chain)
    for i in range(0, len(run), 12):
        now = run.state(i)
        answer = forward_dynamics(chain, now)
        for name, spline in splines.items():
            assert np.allclose(answer.qdd[now.places(links[name])[1]], spline(now.time, 2), atol=1e-8)
        peer.update(now)
        qdd = np.zeros(peer.model.nv)
        qdd[peer.index] = answer.qdd
        needed = pin.rnea(peer.model, peer.data, peer.q, peer.v, qdd)[peer.index]
        torque = inverse_dynamics(chain, now, answer.qdd)
        largest = np.abs(needed).max()
        assert np.abs(torque - needed).max() < 1e-6 * largest
        if held:
            moved = peer.generalized(grip, answer.reaction[grip])
            wrench = np.linalg.solve(peer.jacobians[grip][:, :6].T, needed[:6])
            assert np.abs(moved - peer.jacobians[grip].T @ wrench).max() < 1e-6 * largest
            assert np.abs((peer.J @ answer.qdd) - peer.drift).max() < 1e-8 * (1.0 + np.abs(peer.drift).max())
        else:
            assert np.abs(needed[:6]).max() < 1e-6 * largest


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("integrator", STEPS)
def test_flight_with_keyed_joints(integrator, scale):
    """Centre of mass on its parabola, angular momentum about it as it was, by Pinocchio's count, at any size."""
    chain, state, _, _ = keyed_figure(scale)
    run = simulate(chain, state, DURATION, STEPS[integrator], integrator)
    peer = Peer(chain)
    momenta, centres = [], []
    for i in range(0, len(run), 5):
        now = run.state(i)
        momenta.append(peer.momentum(now))
        centres.append(np.array(pin.centerOfMass(peer.model, peer.data, peer.configuration(now))))
    momenta, centres, times = np.array(momenta), np.array(centres), run.times[::5]
    mass = scale**3 * 70.0
    parabola = centres[0] + np.outer(times, momenta[0, 3:] / mass) + np.outer(0.5 * times**2, chain.gravity)
    away = np.linalg.norm(centres - parabola, axis=1).max() / scale
    drift = np.linalg.norm(momenta[:, :3] - momenta[0, :3], axis=1).max() / np.linalg.norm(momenta[0, :3])
    print(f"{integrator} at scale {scale}: {away:.1e} of a metre from the parabola, angular momentum by {drift:.1e}")
    tolerance = {"rkmk4": 1e-6, "midpoint": 1e-4}[integrator]
    assert away < tolerance
    assert drift < tolerance


def test_a_keyed_figure_catches_the_bar_in_flight():
    """The joints keep to their keys through the impact; the hand stays where it caught, all the rest turns about it."""
    chain, state, links, splines = keyed_figure()
    catch = Connect(0.2, "lhand", chain.world, Joint.spherical(), Pose(position=GRIP_IN_HAND))
    run = simulate(chain, state, DURATION, 1 / 240, events=[catch])
    hand = links["lhand"].index
    turned = Rotation.from_quat(np.roll(run.rotations[:, hand], -1, axis=1))
    points = run.positions[:, hand] + turned.apply(GRIP_IN_HAND)
    after = run.times >= 0.2
    assert np.linalg.norm(points[after] - points[after][0], axis=1).max() < 1e-9
    last = run.state(-1)
    for name, spline in splines.items():
        assert turned_by(last.coordinates(links[name])[0], place(spline, last.time)) < 1e-9


def test_a_keyed_root_carries_the_figure():
    """A limp pendulum hangs on a root whose keys shake it: m l (l x'' + u'' cos x + g sin x) = 0, by scipy."""
    chain = Chain(gravity=(0.0, 0.0, -9.81))
    root = chain.add("root", joint=Joint.free(), inertia=Inertia(mass=1.0, tensor=np.eye(3)))
    bob = chain.add("bob", root, Joint.revolute((0, 1, 0)), inertia=Inertia(mass=2.0, com=(0.0, 0.0, -0.8)))
    chain.act(root, Keyed(lambda t: Pose(position=(0.3 * np.sin(4.0 * t), 0.0, 0.0))))
    state = chain.state()
    state.set(bob, angle=0.4)
    run = simulate(chain, state.take_given(), 1.0, 1e-3, "rkmk4")
    exact = solve_ivp(
        # an angle about +y swings the bob towards -x
        lambda t, y: (y[1], (-9.81 * np.sin(y[0]) - 4.8 * np.sin(4.0 * t) * np.cos(y[0])) / 0.8),
        (0.0, 1.0), (0.4, 0.0), rtol=1e-11, atol=1e-12, t_eval=np.minimum(run.times, 1.0),
    )  # fmt: skip
    found = np.array([run.state(i).coordinates(bob)[0][0] for i in range(len(run))])
    assert np.abs(found - exact.y[0]).max() < 1e-7
