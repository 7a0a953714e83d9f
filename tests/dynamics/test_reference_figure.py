# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference figure on the bar and in flight: closure, energy and momentum as Pinocchio counts them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics import Cut, simulate
from dynamics.samples import GRIP_IN_HAND, HANDS, hang, reference_figure
from tests.dynamics.oracles import Peer

# Energy error over two seconds, as a share of the peak kinetic energy.
STEPS = {1 / 240: 0.05, 1e-3: 3e-4}


def hand_errors(run, links):
    """Distance of each hand's grip from where it started, metres, (T, hands), from the recorded poses alone."""
    errors = []
    for hand in HANDS:
        index = links[hand].index
        w, xyz = run.rotations[:, index, :1], run.rotations[:, index, 1:]
        turned = np.cross(xyz, np.cross(xyz, GRIP_IN_HAND) + w * GRIP_IN_HAND)
        points = run.positions[:, index] + GRIP_IN_HAND + 2.0 * turned
        errors.append(np.linalg.norm(points - points[0], axis=1))
    return np.stack(errors, axis=1)


def energy_error(run, chain):
    """Largest change of the total energy over the largest kinetic energy, by Pinocchio."""
    peer = Peer(chain)
    energies = np.array([peer.energies(run.state(i)) for i in range(len(run.times))])
    total = energies.sum(axis=1)
    return np.max(np.abs(total - total[0])) / np.max(energies[:, 0])


def swing(step, integrator, released):
    chain, state, links = reference_figure()
    _, right = hang(chain, state, "weld")
    events = [Cut(1.0, right)] if released else []
    return simulate(chain, state, duration=2.0, step=step, integrator=integrator, events=events), chain, links


@pytest.mark.parametrize("released", [False, True], ids=["both hands", "one hand released"])
@pytest.mark.parametrize("step", STEPS)
def test_two_seconds_on_the_bar(step, released):
    run, chain, links = swing(step, "rkmk4", released)
    errors = hand_errors(run, links)
    held = run.times <= 1.0 if released else run.times >= 0.0
    assert errors[:, 0].max() < 1e-9
    assert errors[held, 1].max() < 1e-9
    if released:
        assert errors[-1, 1] > 0.1, "the right hand did not come off"
    assert run.closure.max() < 1e-9
    assert energy_error(run, chain) < STEPS[step]


@pytest.mark.parametrize("released", [False, True], ids=["both hands", "one hand released"])
def test_midpoint_on_the_bar(released, record_property):
    """The animator's default at ten steps per frame of 24 fps: the hands hold, and the energy error is reported.

    A limp figure whips: joints turn at 60 rad/s, a quarter of a radian per step, so steps are halved there.
    """
    run, chain, links = swing(1 / 240, "midpoint", released)
    energy = energy_error(run, chain)
    record_property("closure", run.closure.max())
    record_property("energy", energy)
    print(f"midpoint at 1/240 s: closure {run.closure.max():.1e} m, energy error {energy:.1e} of peak kinetic energy")
    assert hand_errors(run, links)[:, 0].max() < 1e-9
    assert run.closure.max() < 1e-9
    assert energy < 0.01


def test_midpoint_keeps_angular_momentum_in_flight():
    """Two seconds of flight under gravity: only the linear momentum may change."""
    chain, state, _ = reference_figure(moving=True, gravity=(0.0, 0.0, -9.81))
    run = simulate(chain, state, duration=2.0, step=1 / 240, integrator="midpoint")
    peer = Peer(chain)
    angular = np.array([peer.momentum(run.state(i))[:3] for i in range(len(run.times))])
    drift = np.linalg.norm(angular - angular[0], axis=1).max() / np.linalg.norm(angular[0])
    print(f"midpoint at 1/240 s: angular momentum drifts by {drift:.1e} of its size")
    assert drift < 1e-4


def rate_of_change(links, state):
    """dq/dt in our layout; q is quaternions and angles, and v is in the links' frames."""
    rates, at, vt = [], 0, 0
    for link in links:
        if link.joint.name == "revolute":
            rates.append(state.v[vt : vt + 1])
            at, vt = at + 1, vt + 1
            continue
        w, x, y, z = state.q[at : at + 4]
        basis = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        rates.append(0.5 * basis @ state.v[vt : vt + 3])
        at, vt = at + 4, vt + 3
        if link.joint.name == "free":
            axis, velocity = np.array((x, y, z)), state.v[vt : vt + 3]
            rates.append(velocity + 2.0 * np.cross(axis, np.cross(axis, velocity) + w * velocity))
            at, vt = at + 3, vt + 3
    return np.concatenate(rates)


@pytest.mark.parametrize("how", ["weld", "hinge"])
def test_motion_against_an_ordinary_solver(how):
    """Half a second beside scipy's DOP853 on Pinocchio's equations; afterwards the motion is chaotic.

    In the whip of the arms at 0.2 s errors grow two thousandfold, hence the small step and the tolerances.
    """
    chain, state, _ = reference_figure()
    hang(chain, state, how)
    peer, size, limp = Peer(chain), len(state.q), np.zeros(len(state.v))

    def derivative(t, y):
        now = SimpleNamespace(q=y[:size], v=y[size:], time=t)
        return np.concatenate([rate_of_change(chain.links, now), peer.update(now).accelerations(limp)])

    start = np.concatenate([state.q, state.v])
    exact = solve_ivp(derivative, (0.0, 0.5), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    run = simulate(chain, state, duration=0.5, step=1.25e-4, integrator="rkmk4")
    end = run.state(len(run.times) - 1)
    assert np.max(np.abs(end.q - exact[:size])) < 1e-6
    assert np.max(np.abs(end.v - exact[size:])) < 3e-5
