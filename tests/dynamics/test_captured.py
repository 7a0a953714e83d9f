# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference figure and real people's motion: a jump (13_11) and a walk (35_01), keys at 24 frames a second."""

import numpy as np
import pinocchio as pin
import pytest

from dynamics import Driven, Keyed, Motion, natural, simulate
from dynamics.samples import FIGURE
from tests.dynamics import captured
from tests.dynamics.figure_moves import scaled_figure
from tests.dynamics.oracles import Peer

STEP = 1 / 240
CLIPS = {"13_11": (60, 400), "35_01": (5, 355)}
FLIGHT = (238, 288)  # frames of 13_11 with both feet in the air
# natural frequency in hertz and damping ratio of the presets that have muscles
PRESETS = {"relaxed": (1.0, 0.7), "athletic": (4.0, 1.0), "gymnast": (10.0, 1.0), "stiff": (40.0, 1.0)}


def actor(name, first, last, scale=1.0):
    """The figure, all its joints and its root keyed as captured; its state, links, goals and the clip's length in s."""
    goals, (times, turns), places = captured.goals(name, first, last)
    chain, links = scaled_figure(scale)
    chain.act(links["pelvis"], Keyed(Motion(times, scale * places, turns)))
    for part, goal in goals.items():
        chain.act(links[part], Keyed(goal))
    return chain, chain.state().take_given(), links, goals, times[-1]


def follow(name, frequency, ratio=1.0, step=STEP, integrator="midpoint"):
    """All joints driven along the clip at a natural frequency, the root carried as captured; begins with its speed."""
    chain, state, links, goals, length = actor(name, *CLIPS[name])
    muscles = {}
    for part, goal in goals.items():
        stiffness, damping = natural(chain, state, links[part], frequency, ratio)
        muscles[part] = Driven(stiffness, damping, goal=goal)
    return simulate(chain, state, length - 0.05, step, integrator, muscles=muscles), links


def keyed(name):
    chain, state, _, _, length = actor(name, *CLIPS[name])
    return simulate(chain, state, length - 0.05, STEP)


def alternation(places):
    """What goes to and fro from step to step, m: sixteen times that is in the fourth differences, and nearly nothing
    of a motion of a few hertz.
    """
    return np.abs(np.diff(places, 4, axis=0)).max() / 16.0


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("name", CLIPS)
def test_fifty_hertz_muscles_follow_a_captured_motion_without_noise(name, integrator):
    run, _ = follow(name, 50.0, integrator=integrator)
    wanted = keyed(name)
    away = np.linalg.norm(run.positions - wanted.positions, axis=2).max()
    noise = alternation(run.positions)
    print(f"{name} {integrator}: {1e3 * away:.1f} mm from the keys, places alternate by {1e6 * noise:.0f} um")
    assert away < 5e-3
    # the splines through the keys have 9 um of it, a stride of noise that one could see 200
    assert noise < 3e-5


@pytest.mark.parametrize("name", CLIPS)
def test_stiffer_and_stiffer_becomes_keyed(name):
    """At any stiffness, without noise: the places are then those of the keys, from the first step to the last."""
    wanted = keyed(name)
    away = []
    for frequency in (100.0, 400.0, 1600.0, 1e5, 1e7):
        run, _ = follow(name, frequency)
        away.append(np.linalg.norm(run.positions - wanted.positions, axis=2).max())
        assert alternation(run.positions) < 2e-5
    assert (np.diff(away) < 0.0).all()
    assert away[-1] < 1e-5


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("preset", PRESETS)
def test_half_the_step_moves_the_hands_by_less_than_a_millimetre(name, preset):
    coarse, links = follow(name, *PRESETS[preset])
    fine, _ = follow(name, *PRESETS[preset], step=STEP / 2)
    hands = [links["lhand"].index, links["rhand"].index]
    away = np.linalg.norm(coarse.positions[:, hands] - fine.positions[::2, hands], axis=2).max()
    print(f"{name} {preset}: {1e3 * away:.2f} mm")
    assert away < 1e-3


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("integrator", "tolerance"), [("rkmk4", 1e-6), ("midpoint", 1e-4)])
def test_flight_of_a_captured_jump(integrator, tolerance, scale):
    """Keyed joints, free root, from take-off to landing: by Pinocchio's count the centre of mass is on its parabola (in
    parts of the figure's size), and the angular momentum about it stays.
    """
    chain, state, links, goals, length = actor("13_11", *FLIGHT, scale)
    chain.act(links["pelvis"])
    # steps that begin at the keys, as whole steps a frame do: between keys the splines are smooth
    run = simulate(chain, state, length, 1 / 960 if integrator == "rkmk4" else STEP, integrator)
    peer = Peer(chain)
    momenta = np.array([peer.momentum(run.state(i)) for i in range(len(run))])
    centres = np.array(
        [pin.centerOfMass(peer.model, peer.data, peer.configuration(run.state(i))).copy() for i in range(len(run))]
    )
    mass = scale**3 * sum(part.mass for part in FIGURE)
    times = run.times[:, None]
    parabola = centres[0] + times * momenta[0, 3:] / mass + 0.5 * times**2 * chain.gravity
    away = np.linalg.norm(centres - parabola, axis=1).max() / scale
    drift = np.linalg.norm(momenta[:, :3] - momenta[0, :3], axis=1).max() / np.linalg.norm(momenta[0, :3])
    print(f"{integrator}, scale {scale}: {away:.1e} from the parabola, angular momentum by {drift:.1e}")
    assert away < tolerance
    assert drift < tolerance
