# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints feel like, against closed forms: viscous and dry friction, carried weight, added inertia (paper 004)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics import Chain, Impedance, Inertia, Joint, Pose, simulate
from dynamics.samples import reference_figure
from tests.dynamics.test_muscles import ORDERS, angles, oscillation, speeds

MASS, LENGTH, GRAVITY = 2.0, 0.8, 9.81
MOMENT = MASS * LENGTH**2


def wheel(moment=0.5, gravity=0.0):
    """A hinge that nothing pulls: a body about its own centre."""
    chain = Chain(gravity=(0.0, 0.0, -gravity))
    link = chain.add("wheel", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=1.0, tensor=moment * np.eye(3)))
    return chain, chain.state(), link


def pendulum():
    """A point mass that hangs down at angle 0."""
    chain = Chain(gravity=(0.0, 0.0, -GRAVITY))
    link = chain.add("bob", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=MASS, com=(0.0, 0.0, -LENGTH)))
    return chain, chain.state(), link


# -- viscous friction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ORDERS)
def test_a_viscous_pendulum_decays_as_its_closed_form(integrator):
    """Swings so small that the sine is the angle: x'' + c/I x' + g/l x = 0."""
    viscous = 0.7
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(viscous=viscous))
    state.set(link, angle=1e-4)
    rate = np.sqrt(GRAVITY / LENGTH)
    run = simulate(chain, state, 5.0, 1e-3, integrator)
    wanted = oscillation(run.times, 1e-4, 0.0, rate, viscous / MOMENT / (2.0 * rate))
    tolerance = {1.0: 0.01, 2.0: 1e-5, 4.0: 1e-8}[ORDERS[integrator]]
    assert np.abs(angles(run) - wanted).max() < tolerance * 1e-4


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_any_viscosity_is_stable(integrator):
    """A wheel in thick oil stops and stays."""
    for viscous in (1e3, 1e6, 1e12):
        chain, state, link = wheel()
        chain.act(link, impedance=Impedance(viscous=viscous))
        state.set(link, velocity=3.0)
        run = simulate(chain, state, 1.0, 1 / 240, integrator)
        assert (np.diff(np.abs(speeds(run))) <= 1e-12).all()
        assert np.abs(angles(run)).max() < 3.0 / 240.0


def test_a_large_swing_with_friction_as_scipy_moves_it():
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(viscous=1.56))
    state.set(link, angle=2.8)
    run = simulate(chain, state, 3.0, 1e-3, "rkmk4")
    exact = solve_ivp(
        lambda t, y: (y[1], -GRAVITY / LENGTH * np.sin(y[0]) - 1.56 / MOMENT * y[1]),
        (0.0, 3.0), (2.8, 0.0), rtol=1e-12, atol=1e-13, t_eval=np.minimum(run.times, 3.0),
    )  # fmt: skip
    assert np.abs(angles(run) - exact.y[0]).max() < 1e-8


# -- dry friction -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_dry_friction_stops_a_wheel_and_holds_it(integrator):
    """v falls evenly by c/I, the wheel stops after v I/c, having turned v^2 I/2c, and stays."""
    moment, coulomb, speed = 0.5, 0.4, 1.3
    chain, state, link = wheel(moment)
    chain.act(link, impedance=Impedance(coulomb=coulomb))
    state.set(link, velocity=speed)
    run = simulate(chain, state, 3.0, 1e-3, integrator)
    stop = speed * moment / coulomb
    wanted = np.maximum(speed - coulomb / moment * run.times, 0.0)
    assert np.abs(speeds(run) - wanted).max() < 1.1e-3 * coulomb / moment
    turned = speed * stop - 0.5 * coulomb / moment * stop**2
    after = run.times > stop + 2e-3
    assert np.abs(angles(run)[after] - turned).max() < {"midpoint": 1e-5, "semi_implicit": 1.5e-3}[integrator]
    assert np.abs(speeds(run)[after]).max() < 1e-5


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_joint_sticks_below_its_friction_and_slips_above(integrator, way):
    """A pull below the friction moves nothing; one above it moves with the difference."""
    moment, coulomb = 0.5, 0.4
    chain, state, link = wheel(moment)
    chain.act(link, impedance=Impedance(coulomb=coulomb))
    stuck = simulate(chain, state, 1.0, 1 / 240, integrator, tau=[way * 0.99 * coulomb])
    assert np.abs(angles(stuck)).max() < 1e-5
    slips = simulate(chain, state, 1.0, 1e-3, integrator, tau=[way * 1.5 * coulomb])
    wanted = way * 0.5 * (0.5 * coulomb / moment) * slips.times**2
    assert np.abs(angles(slips) - wanted).max() < 1e-3


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_pendulum_with_dry_friction_loses_the_same_at_every_half_swing(integrator):
    """Small swings lose 2 c / (m g l) at each half swing and stop within c / (m g l) of the middle: the closed form of
    a Coulomb oscillator. Of 0.0235 rad, in units of 0.002 rad: 11.75, 9.75, ... 1.75, then 0.25 the other way, stuck.
    """
    dead = 2e-3
    coulomb = dead * MASS * GRAVITY * LENGTH
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(coulomb=coulomb))
    state.set(link, angle=11.75 * dead)
    half = np.pi * np.sqrt(LENGTH / GRAVITY)
    run = simulate(chain, state, 8.0 * half, half / 1000.0, integrator)
    turning = angles(run)[::1000] / dead
    wanted = np.array([11.75, -9.75, 7.75, -5.75, 3.75, -1.75, -0.25, -0.25, -0.25])
    print(turning[: len(wanted)])
    assert np.abs(turning[: len(wanted)] - wanted).max() < 0.05


def test_friction_in_a_ball_joint_never_speeds_it_up():
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    link = chain.add("ball", joint=Joint.spherical(), inertia=Inertia(mass=1.0, tensor=np.diag((0.2, 0.3, 0.4))))
    chain.act(link, impedance=Impedance(viscous=0.05, coulomb=0.1))
    state = chain.state()
    state.set(link, velocity=(2.0, -3.0, 1.0))
    run = simulate(chain, state, 10.0)
    assert (np.diff(run.kinetic) <= 1e-9 * run.kinetic[0]).all()
    assert run.kinetic[-1] < 1e-9


# -- carried weight -----------------------------------------------------------------------------------------------


def three_joint_arm():
    chain = Chain(gravity=(0.0, 0.0, -GRAVITY))
    rod = Inertia.box(1.5, (0.3, 0.05, 0.04), com=(0.15, 0.01, 0.0))
    upper = chain.add("upper", joint=Joint.spherical(), at=Pose(position=(0, 0, 1)), inertia=rod)
    lower = chain.add("lower", upper, Joint.revolute((0, 1, 0)), Pose(position=(0.3, 0, 0)), rod)
    tip = chain.add("tip", lower, Joint.prismatic((1, 0, 0)), Pose(position=(0.3, 0, 0)), rod)
    state = chain.state()
    state.set(upper, rotation=np.array((0.5, 0.1, -0.7, 0.5)))
    state.set(lower, angle=0.9)
    return chain, state, (upper, lower, tip)


@pytest.mark.parametrize("integrator", ORDERS)
def test_an_arm_whose_weight_is_carried_floats(integrator):
    chain, state, links = three_joint_arm()
    for link in links:
        chain.act(link, impedance=Impedance(lift=1.0))
    run = simulate(chain, state, 5.0, 0.01, integrator)
    assert np.abs(run.positions - run.positions[0]).max() < 1e-9
    assert run.kinetic.max() < 1e-18


def test_a_carried_arm_that_moves_keeps_its_speed():
    """Nothing does work on it, so the kinetic energy stays."""
    chain, state, links = three_joint_arm()
    state.v[:] = (0.5, -1.0, 0.7, 1.5, 0.2)
    for link in links:
        chain.act(link, impedance=Impedance(lift=1.0))
    run = simulate(chain, state, 1.0, 1e-3, "rkmk4")
    assert np.abs(run.kinetic - run.kinetic[0]).max() < 1e-8 * run.kinetic[0]


@pytest.mark.parametrize("lift", [0.25, 0.75])
def test_a_share_of_the_weight_slows_a_pendulum(lift):
    """A quarter of gravity left swings at half the rate."""
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(lift=lift))
    state.set(link, angle=1e-4)
    run = simulate(chain, state, 3.0, 1e-3, "rkmk4")
    wanted = 1e-4 * np.cos(np.sqrt((1.0 - lift) * GRAVITY / LENGTH) * run.times)
    assert np.abs(angles(run) - wanted).max() < 1e-11


def test_a_figure_that_carries_its_limbs_falls_as_a_whole():
    """A joint carries weight by pushing on its parent: the figure as a whole still falls freely."""
    chain, state, links = reference_figure()
    for name, link in links.items():
        if name != "pelvis":
            chain.act(link, impedance=Impedance(lift=1.0))
    run = simulate(chain, state, 0.5)
    mass = 70.0
    assert np.abs(run.momentum[:, 3:5]).max() < 1e-9
    assert np.abs(run.momentum[:, 5] + mass * GRAVITY * run.times).max() < 1e-9 * mass


# -- added inertia ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ORDERS)
def test_added_inertia_makes_the_period_longer(integrator):
    """Rate^2 = m g l / (I + added): three times the inertia of its own makes the period twice as long."""
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(inertia=3.0 * MOMENT))
    state.set(link, angle=1e-4)
    run = simulate(chain, state, 4.0, 1e-3, integrator)
    wanted = 1e-4 * np.cos(0.5 * np.sqrt(GRAVITY / LENGTH) * run.times)
    tolerance = {1.0: 0.02, 2.0: 1e-5, 4.0: 1e-8}[ORDERS[integrator]]
    assert np.abs(angles(run) - wanted).max() < tolerance * 1e-4


def test_added_inertia_is_in_the_energy():
    """A large swing: energy with the added half I v^2 stays, so does its closed form."""
    chain, state, link = pendulum()
    chain.act(link, impedance=Impedance(inertia=1.0))
    state.set(link, angle=2.0)
    run = simulate(chain, state, 3.0, 1e-3, "rkmk4")
    energy = 0.5 * (MOMENT + 1.0) * speeds(run) ** 2 - MASS * GRAVITY * LENGTH * np.cos(angles(run))
    assert np.abs(energy - energy[0]).max() < 1e-8 * np.ptp(run.kinetic)
    assert np.abs(run.energy - energy).max() < 1e-9
