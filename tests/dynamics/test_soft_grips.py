# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections that give way and connections that close slowly, against closed forms."""

import numpy as np
import pytest

from dynamics import Chain, Connect, Cut, Inertia, Joint, Pose, Reaction, simulate
from tests.dynamics.test_muscles import ORDERS, oscillation

MASS, RATE, RATIO = 2.0, 15.0, 0.1
STIFFNESS, DAMPING = MASS * RATE**2, 2.0 * RATIO * MASS * RATE


def mass(gravity=0.0):
    chain = Chain(gravity=(0.0, 0.0, -gravity))
    body = chain.add("body", joint=Joint.free(), inertia=Inertia(mass=MASS, tensor=0.1 * np.eye(3)))
    return chain, chain.state(), body


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("joint", [Joint.spherical(), Joint.fixed()], ids=["point", "weld"])
def test_a_soft_grip_is_a_damped_spring(integrator, joint):
    """Pulled 0.1 m aside along z; the order of the error is that of the integrator."""
    errors = []
    for step in (2e-3, 1e-3):
        chain, state, body = mass()
        chain.connect(body, chain.world, joint, to=Pose(), state=state, stiffness=STIFFNESS, damping=DAMPING)
        state.set(body, position=(0.0, 0.0, 0.1))
        run = simulate(chain, state, 1.0, step, integrator)
        errors.append(np.abs(run.positions[:, 0, 2] - oscillation(run.times, 0.1, 0.0, RATE, RATIO)).max())
    order = np.log2(errors[0] / errors[1])
    assert errors[1] < {1.0: 4e-3, 2.0: 3e-5, 4.0: 1e-8}[ORDERS[integrator]]
    assert abs(order - ORDERS[integrator]) < 0.15


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_no_soft_grip_is_too_stiff(integrator):
    """Energy of spring and body never grows, whatever the stiffness."""
    for stiffness in 10.0 ** np.arange(2, 13, 2):
        chain, state, body = mass()
        chain.connect(body, chain.world, Joint.spherical(), to=Pose(), state=state, stiffness=stiffness, damping=1.0)
        state.set(body, position=(0.0, 0.0, 0.1))
        run = simulate(chain, state, 0.5, 1 / 240, integrator)
        energy = run.kinetic + 0.5 * stiffness * run.positions[:, 0, 2] ** 2
        assert energy.max() < energy[0] * (1.0 + 1e-6), stiffness


def test_a_soft_grip_carries_the_weight_and_says_so():
    """At rest it is stretched by m g / k, and its reaction is m g."""
    chain, state, body = mass(gravity=9.81)
    grip = chain.connect(body, chain.world, Joint.spherical(), to=Pose(), state=state, stiffness=5e3, damping=200.0)
    run = simulate(chain, state, 5.0)
    assert abs(run.positions[-1, 0, 2] + MASS * 9.81 / 5e3) < 1e-8
    assert np.abs(run.reaction(-1)[grip] - (0, 0, 0, 0, 0, MASS * 9.81)).max() < 1e-4


def test_a_soft_grip_breaks_where_its_pull_is_too_much():
    """Falling into it: x = m g / k (1 - cos wt), pull = k x. It breaks at 1.5 m g, where cos wt = -1/2."""
    stiffness = 400.0
    rate = np.sqrt(stiffness / MASS)
    chain, state, body = mass(gravity=9.81)
    grip = chain.connect(body, chain.world, Joint.spherical(), to=Pose(), state=state, stiffness=stiffness)
    run = simulate(chain, state, 0.5, 1e-3, "rkmk4", events=[Cut(Reaction(grip, above=1.5 * MASS * 9.81), grip)])
    assert len(run.events) == 1
    assert abs(run.events[0].time - 2.0 * np.pi / 3.0 / rate) < 1e-6
    speed = 9.81 / rate * np.sin(2.0 * np.pi / 3.0)
    later = run.times[-1] - run.events[0].time
    assert abs(run.state(-1).v[5] + speed + 9.81 * later) < 1e-5


@pytest.mark.parametrize("integrator", ["midpoint", "rkmk4"])
@pytest.mark.parametrize("joint", [Joint.spherical(), Joint.revolute((0, 0, 1)), Joint.fixed()], ids=lambda j: j.name)
def test_an_eased_grip_closes_smoothly_and_all_the_way(integrator, joint):
    """The opening is the quintic's share of the first one at all times, and nothing afterwards."""
    first, ease = np.array((0.3, -0.2, 0.1)), 0.4
    chain, state, body = mass()
    state.set(body, position=first)
    if joint.name == "fixed":
        state.set(body, rotation=np.array((np.cos(0.2), 0.0, np.sin(0.2), 0.0)))
    chain.connect(body, chain.world, joint, to=Pose(), state=state, ease=ease)
    run = simulate(chain, state, 0.6, 1 / 240, integrator)
    x = np.minimum(run.times / ease, 1.0)
    share = 1.0 - x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    assert np.abs(run.positions[:, 0] - share[:, None] * first).max() < 1e-9
    after = run.times > ease + 1e-9
    assert np.abs(run.positions[after, 0]).max() < 1e-11
    if joint.name == "fixed":
        assert np.abs(run.rotations[after, 0, 1:]).max() < 1e-11
    # third differences of a smooth motion are of third order: the quintic's third derivative is at most 60 / ease^3
    jerk = np.abs(np.diff(run.positions[:, 0], 3, axis=0)).max() * 240.0**3
    assert jerk < 1.01 * 60.0 / ease**3 * np.abs(first).max()


def test_an_eased_catch_in_flight():
    """A thrown body is caught in mid-run, 0.1 m from where it should be held, and drawn there."""
    chain, state, body = mass(gravity=9.81)
    state.set(body, velocity=(0, 0, 0, 1.0, 0.0, 2.0))
    at = np.array((0.3, 0.0, 0.3))
    catch = Connect(0.25, "body", chain.world, Joint.spherical(), to=Pose(position=at), ease=0.2)
    run = simulate(chain, state, 0.6, 1 / 240, events=[catch])
    assert np.abs(run.positions[-1, 0] - at).max() < 1e-11
    assert run.closure.max() < 1e-9
    step = np.linalg.norm(np.diff(run.positions[:, 0], axis=0), axis=1)
    assert step.max() < 2.3 / 240.0
