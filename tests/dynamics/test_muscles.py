# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles against closed forms and scipy: damped oscillators, moving goals, limits, changing gain, any stiffness."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dynamics import Act, Chain, Driven, Inertia, Joint, JointMotion, Pose, natural, simulate
from dynamics.samples import FIGURE, reference_figure
from tests.dynamics.figure_moves import coordinates, joints, keys, turned_by

INERTIA = 0.5  # kg m^2
RATE, RATIO = 6.0, 0.2  # rad/s and damping ratio of the oscillator
STIFFNESS, DAMPING = INERTIA * RATE**2, 2.0 * RATIO * INERTIA * RATE
ORDERS = {"euler": 1.0, "semi_implicit": 1.0, "midpoint": 2.0, "rkmk4": 4.0}


def arm(gravity=0.0):
    """A point of 0.5 kg one metre from a hinge; with gravity it hangs level at angle 0."""
    chain = Chain(gravity=(0.0, 0.0, -gravity))
    link = chain.add("arm", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=INERTIA, com=(-1.0, 0.0, 0.0)))
    return chain, chain.state(), link


def oscillation(t, start, speed, rate=RATE, ratio=RATIO):
    """Closed form of x'' + 2 ratio rate x' + rate^2 x = 0."""
    swing = rate * np.sqrt(1.0 - ratio**2)
    wave = start * np.cos(swing * t) + (speed + ratio * rate * start) / swing * np.sin(swing * t)
    return np.exp(-ratio * rate * t) * wave


def angles(run):
    return np.array([run.state(i).q[0] for i in range(len(run))])


def speeds(run):
    return np.array([run.state(i).v[0] for i in range(len(run))])


@pytest.mark.parametrize("integrator", ORDERS)
def test_a_driven_hinge_is_a_damped_oscillator(integrator):
    errors = []
    for step in (0.01, 0.005, 0.0025):
        chain, state, link = arm()
        state.set(link, angle=0.3, velocity=1.0)
        muscle = Driven(STIFFNESS, DAMPING, goal=lambda t: 0.0)
        run = simulate(chain, state, 1.0, step, integrator, muscles={link: muscle})
        errors.append(np.abs(angles(run) - oscillation(run.times, 0.3, 1.0)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < {1.0: 6e-3, 2.0: 2e-5, 4.0: 1e-9}[ORDERS[integrator]]
    assert np.abs(orders - ORDERS[integrator]).max() < 0.1


@pytest.mark.parametrize("kind", ["slide", "ball", "root"])
def test_other_joints_are_damped_oscillators_too(kind):
    """A ball of equal moments turns about one axis like a hinge, also far from zero; a mass on a slide swings."""
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    joint = {"slide": Joint.prismatic((0, 0, 1)), "ball": Joint.spherical(), "root": Joint.free()}[kind]
    link = chain.add("body", joint=joint, inertia=Inertia(mass=INERTIA, tensor=INERTIA * np.eye(3)))
    state = chain.state()
    axis = np.array((0.6, 0.0, 0.8))
    turn = np.roll(Rotation.from_rotvec(2.0 * axis).as_quat(), 1)
    if kind == "slide":
        state.set(link, slide=2.0, velocity=1.0)
        goal = JointMotion([0.0, 2.0], [0.0, 0.0])
    elif kind == "ball":
        state.set(link, rotation=turn, velocity=axis)
        goal = JointMotion([0.0, 2.0], [[1.0, 0.0, 0.0, 0.0]] * 2)
    else:
        velocity = Rotation.from_rotvec(-2.0 * axis).apply((0.0, 1.0, 0.0))
        state.set(link, rotation=turn, position=(0.0, 2.0, 0.0), velocity=np.r_[axis, velocity])
        goal = Pose()
    muscle = Driven(STIFFNESS, DAMPING, goal=(lambda t: goal) if kind == "root" else goal)
    run = simulate(chain, state, 1.0, 1e-3, "rkmk4", muscles={link: muscle})
    wanted = oscillation(run.times, 2.0, 1.0)
    if kind != "ball":
        along = angles(run) if kind == "slide" else run.positions[:, 0, 1]
        assert np.abs(along - wanted).max() < 1e-9
    if kind != "slide":
        turned = Rotation.from_quat(np.roll(run.rotations[:, 0], -1, axis=1)).as_rotvec()
        assert np.abs(turned - wanted[:, None] * axis).max() < 1e-9


@pytest.mark.parametrize("integrator", ["midpoint", "rkmk4"])
@pytest.mark.parametrize("how", ["function", "keys"])
def test_with_the_torque_fed_forward_it_is_where_its_goal_is(integrator, how):
    """Inverse dynamics by hand: I g'' + m g l cos. What remains is the integrator's error, and that of the spline."""
    chain, state, link = arm(gravity=9.81)
    wave = lambda t: 0.8 * np.sin(3.0 * t)  # noqa: E731
    times = np.linspace(-0.5, 1.5, 201)
    goal = wave if how == "function" else JointMotion(times, wave(times))
    torque = lambda t: -INERTIA * 9.0 * wave(t) + INERTIA * 9.81 * np.cos(wave(t))  # noqa: E731
    state.set(link, angle=0.0, velocity=2.4)
    muscle = Driven(STIFFNESS, DAMPING, goal=goal, feed_forward=torque)
    run = simulate(chain, state, 1.0, 1e-3, integrator, muscles={link: muscle})
    assert np.abs(angles(run) - wave(run.times)).max() < {"midpoint": 2e-6, "rkmk4": 1e-8}[integrator]


@pytest.mark.parametrize("integrator", ORDERS)
def test_a_muscle_never_pulls_harder_than_its_limit(integrator):
    """Far from its goal it pulls with the limit, and the arm goes faster evenly."""
    limit, step = 2.0, 1e-3
    chain, state, link = arm()
    muscle = Driven(1e4, 10.0, goal=lambda t: 3.0, limit=limit)
    run = simulate(chain, state, 1.5, step, integrator, muscles={link: muscle})
    pull = INERTIA * np.diff(speeds(run)) / step
    assert np.abs(pull).max() < limit * (1.0 + 1e-9)
    early = run.times < 1.0
    assert np.abs(angles(run) - 0.5 * limit / INERTIA * run.times**2)[early].max() < 4.0 * step
    assert pull.max() > 0.999 * limit


@pytest.mark.parametrize("integrator", ["midpoint", "rkmk4"])
def test_a_limited_muscle_as_scipy_moves_it(integrator):
    """The limit is reached and left several times."""
    limit = 3.0
    chain, state, link = arm()
    state.set(link, angle=1.0)
    run = simulate(
        chain, state, 2.0, 1e-3, integrator, muscles={link: Driven(40.0, 0.8, goal=lambda t: 0.0, limit=limit)}
    )
    exact = solve_ivp(
        lambda t, y: (y[1], np.clip(-40.0 * y[0] - 0.8 * y[1], -limit, limit) / INERTIA),
        (0.0, 2.0), (1.0, 0.0), rtol=1e-10, atol=1e-12, max_step=1e-3, t_eval=np.minimum(run.times, 2.0),
    )  # fmt: skip
    assert np.abs(angles(run) - exact.y[0]).max() < 2e-4
    pull = INERTIA * np.diff(speeds(run)) / 1e-3
    assert np.abs(pull).max() < limit * (1.0 + 1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
def test_the_limit_of_a_ball_joint_holds_for_the_whole_torque(integrator):
    """It pulls towards the goal all the time, never harder than it may: Euler's equations by scipy."""
    moments, limit = np.array((0.2, 0.3, 0.4)), 1.5
    goal = np.array((0.6, 0.0, 0.64, 0.48))
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    link = chain.add("ball", joint=Joint.spherical(), inertia=Inertia(mass=1.0, tensor=np.diag(moments)))
    state = chain.state()
    state.set(link, velocity=(2.0, -3.0, 1.0))
    run = simulate(
        chain, state, 1.0, 1e-3, integrator, muscles={link: Driven(20.0, 1.0, goal=lambda t: goal, limit=limit)}
    )
    back = Rotation.from_quat(np.roll(goal, -1)).inv()

    def derivative(t, y):
        w, axis, spin = y[0], y[1:4], y[4:]
        torque = -20.0 * (back * Rotation.from_quat(np.r_[axis, w])).as_rotvec() - spin
        torque *= min(1.0, limit / np.linalg.norm(torque))
        turning = np.r_[-0.5 * axis @ spin, 0.5 * (w * spin + np.cross(axis, spin))]
        return np.r_[turning, (torque - np.cross(spin, moments * spin)) / moments]

    exact = solve_ivp(derivative, (0.0, 1.0), np.r_[state.q, state.v], rtol=1e-10, atol=1e-12).y[:, -1]
    last = run.state(-1)
    tolerance = {"semi_implicit": 2e-2, "midpoint": 1e-5, "rkmk4": 1e-6}[integrator]
    assert turned_by(last.q, exact[:4] / np.linalg.norm(exact[:4])) < tolerance
    assert np.abs(last.v - exact[4:]).max() < 5.0 * tolerance
    pull = np.linalg.norm(np.diff(run.momentum[:, :3], axis=0), axis=1) / 1e-3
    assert 0.999 * limit < pull.max() < limit * (1.0 + {"semi_implicit": 0.02}.get(integrator, 1e-5))


@pytest.mark.parametrize("integrator", ["midpoint", "rkmk4"])
def test_gain_over_time(integrator):
    """A muscle that grows tired and comes back, as scipy moves it; nothing jumps."""
    gain = lambda t: 0.5 + 0.5 * np.cos(4.0 * t)  # noqa: E731
    chain, state, link = arm()
    state.set(link, angle=0.5)
    run = simulate(
        chain, state, 2.0, 1e-3, integrator, muscles={link: Driven(30.0, 0.5, goal=lambda t: 0.0, gain=gain)}
    )
    exact = solve_ivp(
        lambda t, y: (y[1], -gain(t) * (30.0 * y[0] + 0.5 * y[1]) / INERTIA),
        (0.0, 2.0), (0.5, 0.0), rtol=1e-11, atol=1e-12, t_eval=np.minimum(run.times, 2.0),
    )  # fmt: skip
    assert np.abs(angles(run) - exact.y[0]).max() < {"midpoint": 3e-5, "rkmk4": 1e-9}[integrator]
    assert np.abs(np.diff(speeds(run))).max() < 1.01e-3 * 30.0 * 0.5 / INERTIA


def test_without_gain_a_joint_is_limp():
    chain, state, link = arm(gravity=9.81)
    run = simulate(chain, state, 1.0, muscles={link: Driven(100.0, 10.0, gain=0.0)})
    swing = solve_ivp(
        lambda t, y: (y[1], -9.81 * np.cos(y[0])),
        (0.0, 1.0), (0.0, 0.0), rtol=1e-10, atol=1e-12, t_eval=np.minimum(run.times, 1.0),
    )  # fmt: skip
    # a step of 1/240 s is off by that much without any muscle
    assert np.abs(angles(run) - swing.y[0]).max() < 1e-3


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_natural_settings_suit_light_and_heavy_limbs(mass):
    """Two hertz are two hertz: after half a second a muscle without damping is back where it was."""
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    upper = chain.add("upper", joint=Joint.revolute((0, 1, 0)), inertia=Inertia.rod(mass, (0, 0, 0), (0, 0, -0.3)))
    chain.add("lower", upper, at=Pose(position=(0, 0, -0.3)), inertia=Inertia.rod(mass, (0, 0, 0), (0.2, 0, -0.3)))
    state = chain.state()
    stiffness, _ = natural(chain, state, upper, 2.0)
    state.set(upper, angle=0.4)
    run = simulate(chain, state, 0.5, 1e-3, "rkmk4", muscles={upper: Driven(stiffness, 0.0, goal=lambda t: 0.0)})
    assert np.abs(angles(run) - 0.4 * np.cos(4.0 * np.pi * run.times)).max() < 1e-9


def test_a_muscle_without_a_goal_stays_where_it_is():
    """Also where another event comes later: it holds the pose of the beginning, not the pose of the event."""
    chain, state, link = arm(gravity=9.81)
    state.set(link, angle=0.7)
    stiffness, damping = 500.0, 2.0 * np.sqrt(500.0 * INERTIA)
    events = [Act(0.5, {})]
    run = simulate(chain, state, 4.0, muscles={link: Driven(stiffness, damping)}, events=events)
    sag = angles(run)[-1]
    # at rest the spring carries the weight
    assert abs(stiffness * (0.7 - sag) - INERTIA * 9.81 * np.cos(sag)) < 1e-6 * stiffness
    assert abs(speeds(run)[-1]) < 1e-9


# -- any stiffness --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_no_stiffness_explodes_a_hinge(integrator):
    """Energy of spring and arm never grows, at any stiffness and none of them, with and without damping."""
    for stiffness in 10.0 ** np.arange(0, 13):
        for ratio in (0.0, 1.0):
            chain, state, link = arm()
            state.set(link, angle=0.3, velocity=1.0)
            muscle = Driven(stiffness, 2.0 * ratio * np.sqrt(stiffness * INERTIA), goal=lambda t: 0.0)
            run = simulate(chain, state, 1.0, 1 / 240, integrator, muscles={link: muscle})
            energy = 0.5 * INERTIA * speeds(run) ** 2 + 0.5 * stiffness * angles(run) ** 2
            assert energy.max() < energy[0] * (1.0 + (1e-6 if integrator == "midpoint" else 0.2)), stiffness


def follow(factor, integrator, frequency=50.0):
    """A second of the figure in the air, every joint driven along its keys; the run and the largest deviation, rad."""
    chain, state, links = reference_figure()
    muscles = {}
    for part in joints():
        stiffness, damping = natural(chain, state, links[part.name], frequency)
        muscles[links[part.name]] = Driven(factor * stiffness, np.sqrt(factor) * damping, goal=keys(part, 1.2))
    run = simulate(chain, state, 1.0, 1 / 240, integrator, muscles=muscles)
    worst = 0.0
    for i in range(0, len(run), 4):
        now = run.state(i)
        for part in joints():
            q = now.coordinates(links[part.name])[0]
            worst = max(worst, turned_by(q, coordinates(part, run.times[i])))
    return run, worst


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_every_joint_of_the_figure_at_fifty_hertz_follows_without_noise(integrator):
    """Within a quarter of a degree at 240 steps a second, and smoothly.

    Noise is what alternates from step to step: fourth differences of the links' places are sixteen times as large as
    it. The motion itself, three sines below 1.5 Hz, has at most 0.2 m (2 pi 1.5 / 240)^4 = 5e-7 m of them.
    """
    run, worst = follow(1.0, integrator)
    noise = np.abs(np.diff(run.positions, 4, axis=0)).max() / 16.0
    print(f"{integrator}: {worst:.1e} rad from the keys, places alternate by {noise:.1e} m")
    assert worst < np.radians(0.25)
    assert noise < 2e-5


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_doubling_the_stiffness_to_any_value_explodes_nothing(integrator):
    for factor in 4.0 ** np.arange(1, 21, 3):
        run, worst = follow(factor, integrator)
        assert worst < np.radians(0.25), factor
        assert run.kinetic.max() < 1e4, factor


def test_the_figure_has_a_muscle_in_every_joint():
    assert len(joints()) == len(FIGURE) - 1 == 16
