# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that change from keyed or driven to limp in mid-run go on with the pose and velocity they have."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics import Act, Driven, Keyed, simulate
from dynamics.samples import reference_figure
from tests.dynamics.figure_moves import joints, keys
from tests.dynamics.test_impedance import GRAVITY, LENGTH, MASS, MOMENT, pendulum
from tests.dynamics.test_muscles import angles, speeds


@pytest.mark.parametrize("integrator", ["midpoint", "rkmk4"])
@pytest.mark.parametrize("before", ["keyed", "driven"])
@pytest.mark.parametrize("when", [0.5, 0.5003])
def test_a_joint_goes_limp_with_the_pose_and_velocity_it_has(integrator, before, when):
    """Afterwards it swings as scipy lets it swing from there; the time may lie between two steps."""
    chain, state, link = pendulum()
    wave = lambda t: 0.9 * np.sin(2.5 * t)  # noqa: E731
    rate = lambda t: 0.9 * 2.5 * np.cos(2.5 * t)  # noqa: E731
    weight = MASS * GRAVITY * LENGTH
    torque = lambda t: -MOMENT * 6.25 * wave(t) + weight * np.sin(wave(t))  # noqa: E731
    muscle = Keyed(wave) if before == "keyed" else Driven(200.0, 20.0, goal=wave, feed_forward=torque)
    state.set(link, angle=0.0, velocity=rate(0.0))
    run = simulate(chain, state, 1.0, 1e-3, integrator, muscles={link: muscle}, events=[Act(when, {link: None})])
    later = run.times >= when
    swing = solve_ivp(
        lambda t, y: (y[1], -GRAVITY / LENGTH * np.sin(y[0])),
        (when, 1.0), (wave(when), rate(when)), rtol=1e-11, atol=1e-12, t_eval=np.minimum(run.times[later], 1.0),
    )  # fmt: skip
    tolerance = {"midpoint": 1e-5, "rkmk4": 1e-8}[integrator]
    assert np.abs(angles(run)[~later] - wave(run.times[~later])).max() < tolerance
    assert np.abs(angles(run)[later] - swing.y[0]).max() < tolerance
    assert np.abs(speeds(run)[later] - swing.y[1]).max() < 10.0 * tolerance


def test_a_figure_goes_from_keyed_to_limp_and_back_to_driven_without_a_jump():
    """No velocity changes by more than an acceleration that a limb can have makes it change in one step."""
    chain, state, links = reference_figure()
    parts = joints()
    keyed = {links[part.name]: Keyed(keys(part, 1.2)) for part in parts}
    driven = {links[part.name]: Driven(20.0, 2.0, gain=lambda t: min(max(t - 0.6, 0.0), 1.0)) for part in parts}
    events = [Act(0.4, dict.fromkeys(keyed)), Act(0.6, driven)]
    run = simulate(chain, state, 1.0, 1 / 960, muscles=keyed, events=events)
    velocities = np.array([run.state(i).v for i in range(len(run))])
    jumps = np.abs(np.diff(velocities, axis=0)).max(axis=1)
    at = [np.argmin(np.abs(run.times - time)) for time in (0.4, 0.6)]
    print("largest change of a velocity in a step, all and at the hand-overs:", jumps.max(), jumps[at])
    assert jumps.max() < 0.1
    assert np.linalg.norm(np.diff(run.positions, axis=0), axis=2).max() < 0.02
