# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits: nothing goes beyond them by more than half a degree, and they never add energy.

Angles are measured with scipy, from the recorded poses.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dynamics import BallLimit, Chain, HingeLimit, Inertia, Joint, simulate
from dynamics.samples import FIGURE, reference_figure
from dynamics.stepper import Stepper
from tests.dynamics.figure_moves import joints
from tests.dynamics.test_muscles import angles, speeds

HALF_DEGREE = np.radians(0.5)
SEEDS = range(100)


def coordinates(run, link):
    """The joint's coordinates at all instants, (T, 1) or (T, 4)."""
    place = run.state(0).places(link)[0]
    return np.array([run.state(i).q[place] for i in range(len(run))])


def swing_and_twist(q, axis):
    """Rotation vectors of the swing, across the axis (T, 3), and twists about it (T); the turn is swing after twist."""
    whole = Rotation.from_quat(np.roll(q, -1, axis=1))
    carried = whole.apply(axis)
    across = np.cross(axis, carried)
    size = np.linalg.norm(across, axis=1)
    swing = across * (np.arctan2(size, carried @ axis) / np.maximum(size, 1e-12))[:, None]
    twist = (Rotation.from_rotvec(swing).inv() * whole).as_rotvec() @ axis
    return swing, twist


def beyond(limit, q):
    """How far a joint goes outside its limit, rad; negative inside. For an ellipse, along the line from its middle."""
    if isinstance(limit, HingeLimit):
        return max(q.max() - limit.upper, limit.lower - q.min())
    axis, first = np.array(limit.axis), np.array(limit.across)
    swing, twist = swing_and_twist(q, axis)
    here = np.stack((swing @ first, swing @ np.cross(axis, first)), axis=1)
    ranges = np.array(limit.swings)
    middle, half = ranges.mean(axis=1), 0.5 * np.diff(ranges, axis=1)[:, 0]
    share = np.maximum(np.linalg.norm((here - middle) / half, axis=1), 1e-9)
    out = np.linalg.norm(here - middle, axis=1) * (1.0 - 1.0 / share)
    return max(twist.max() - limit.twist[1], limit.twist[0] - twist.min(), out.max())


def random_inside(limit, rng, most=0.95):
    """A joint position somewhere inside a limit."""
    if isinstance(limit, HingeLimit):
        return np.array([most * rng.uniform(limit.lower, limit.upper)])
    ranges = np.array(limit.swings)
    middle, half = ranges.mean(axis=1), 0.5 * np.diff(ranges, axis=1)[:, 0]
    angle, reach = rng.uniform(0.0, 2.0 * np.pi), most * np.sqrt(rng.uniform())
    first, second = middle + reach * half * (np.cos(angle), np.sin(angle))
    axis, across = np.array(limit.axis), np.array(limit.across)
    swing = Rotation.from_rotvec(first * across + second * np.cross(axis, across))
    turn = swing * Rotation.from_rotvec(most * rng.uniform(*limit.twist) * axis)
    return np.roll(turn.as_quat(), 1)


# -- one joint ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
@pytest.mark.parametrize("speed", [0.5, 5.0, 50.0, 200.0])
def test_a_hinge_is_stopped_at_any_speed(integrator, speed):
    """A wheel turns evenly up to the stop, stays there, and has no energy left that it could come back with."""
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    link = chain.add("wheel", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=1.0, tensor=0.3 * np.eye(3)))
    chain.act(link, limit=HingeLimit(-0.5, 1.0))
    state = chain.state()
    for way, stop in ((1.0, 1.0), (-1.0, -0.5)):
        state.set(link, velocity=way * speed)
        run = simulate(chain, state, 3.0, 1 / 240, integrator)
        free = run.times < abs(stop) / speed
        assert np.abs(angles(run) - way * speed * run.times)[free].max() < 1e-9
        assert np.abs(angles(run)[~free] - stop).max() < HALF_DEGREE
        assert (np.diff(run.kinetic) <= 1e-6 * run.kinetic[0]).all()
        assert abs(speeds(run)[-1]) < 1e-3 * speed


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
def test_a_pendulum_falls_onto_its_stop_and_lies_there(integrator):
    """Falls as scipy lets it fall, then rests; the stop gives way by less than half a degree."""
    chain = Chain(gravity=(0.0, 0.0, -9.81))
    link = chain.add("bob", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=2.0, com=(0.0, 0.0, -0.8)))
    chain.act(link, limit=HingeLimit(0.0, 3.0))
    state = chain.state()
    state.set(link, angle=2.0)
    run = simulate(chain, state, 2.0, 1 / 240, integrator)

    def arrival(t, y):
        return y[0]

    arrival.terminal = True
    swing = solve_ivp(
        lambda t, y: (y[1], -9.81 / 0.8 * np.sin(y[0])), (0.0, 2.0), (2.0, 0.0), events=arrival, rtol=1e-9, atol=1e-9,
        dense_output=True,
    )  # fmt: skip
    hit = swing.t_events[0][0]
    before, after = run.times < hit - 0.01, run.times > hit + 0.01
    tolerance = {"semi_implicit": 0.05, "midpoint": 1e-3, "rkmk4": 1e-6}[integrator]
    assert np.abs(angles(run)[before] - swing.sol(run.times[before])[0]).max() < tolerance
    assert np.abs(angles(run)[after]).max() < HALF_DEGREE
    assert np.abs(speeds(run)[-10:]).max() < 1e-3


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
@pytest.mark.parametrize("seed", range(6))
def test_a_ball_joint_stays_in_its_ellipse_and_its_twist(integrator, seed):
    """A heavy club on a ball joint, flung about inside a lopsided ellipse."""
    rng = np.random.default_rng(seed)
    limit = BallLimit(twist=(-0.4, 0.9), swings=((-0.5, 1.2), (-0.3, 0.6)), axis=(0, 0, 1), across=(1, 0, 0))
    chain = Chain(gravity=(0.0, 0.0, -9.81))
    club = Inertia(mass=2.0, com=(0.02, 0.0, -0.4), tensor=np.diag((0.05, 0.1, 0.02)))
    link = chain.add("club", joint=Joint.spherical(), inertia=club)
    chain.act(link, limit=limit)
    state = chain.state()
    state.set(link, rotation=random_inside(limit, rng), velocity=rng.normal(0.0, 6.0, 3))
    # explicit steps hold stops less firmly: the stop must not be faster than the step
    run = simulate(chain, state, 2.0, 1e-3 if integrator == "rkmk4" else 1 / 240, integrator)
    worst = beyond(limit, coordinates(run, link))
    most = HALF_DEGREE * (2.0 if integrator == "semi_implicit" else 1.0)
    assert worst < most, f"seed {seed}: {np.degrees(worst)} degrees"
    if seed == 0:
        assert worst > -0.01, "it never came near a limit"
    own = 1.0 + {"semi_implicit": 0.5, "midpoint": 0.02, "rkmk4": 1e-4}[integrator]
    assert run.energy.max() - run.energy[0] < (own - 1.0) * run.kinetic.max()


# -- the figure ---------------------------------------------------------------------------------------------------

RANGES = {
    "chest": ((-0.5, 0.5), ((-0.4, 0.8), (-0.4, 0.4))),
    "head": ((-1.0, 1.0), ((-0.7, 0.7), (-0.6, 0.6))),
    "lclav": ((-0.3, 0.3), ((-0.3, 0.5), (-0.3, 0.3))),
    "luarm": ((-1.0, 1.0), ((-2.4, 0.9), (-1.5, 1.0))),
    "lhand": ((-0.3, 0.3), ((-0.9, 0.9), (-0.4, 0.4))),
    "lthigh": ((-0.6, 0.6), ((-2.0, 0.4), (-0.6, 0.6))),
    "lfoot": ((-0.3, 0.3), ((-0.6, 0.6), (-0.3, 0.3))),
}


def figure_limits():
    """Ranges near those of people: twists about the limb (z), swings about y and -x; knees and elbows bend one way."""
    limits = {}
    for part in joints():
        side = part.name.replace("r", "l", 1) if part.name.startswith("r") else part.name
        if part.joint == "hinge":
            limits[part.name] = HingeLimit(-2.5, 0.0) if part.name.endswith("farm") else HingeLimit(0.0, 2.5)
        else:
            twist, swings = RANGES[side]
            limits[part.name] = BallLimit(twist, swings, axis=(0, 0, 1), across=(0, 1, 0))
    return limits


def drop(seed):
    """The limp figure in a random pose inside its limits, with random velocities; limits by name."""
    rng = np.random.default_rng(seed)
    chain, state, links = reference_figure()
    limits = figure_limits()
    for name, limit in limits.items():
        chain.act(links[name], limit=limit)
        q_place, v_place = state.places(links[name])
        state.q[q_place] = random_inside(limit, rng)
        state.v[v_place] = rng.normal(0.0, 3.0, v_place.stop - v_place.start)
    state.set(links["pelvis"], velocity=rng.normal(0.0, 2.0, 6))
    return chain, state, links, limits


@pytest.mark.parametrize("seed", SEEDS)
def test_a_figure_dropped_anyhow_stays_within_its_limits(seed):
    """One second at 240 steps a second; half of the figures hang by a hand, so that they swing and whip."""
    chain, state, links, limits = drop(seed)
    if seed % 2:
        chain.connect("lhand", chain.world, Joint.spherical(), state=state)
    run = simulate(chain, state, 1.0, 1 / 240)
    worst = {name: beyond(limit, coordinates(run, links[name])) for name, limit in limits.items()}
    name = max(worst, key=worst.get)
    print(f"seed {seed}: {name} goes {np.degrees(worst[name]):.2f} degrees beyond")
    assert worst[name] < HALF_DEGREE, f"seed {seed}: {name} is {np.degrees(worst[name])} degrees beyond"
    assert worst[name] > -HALF_DEGREE, f"seed {seed}: no joint came to its limit"


@pytest.mark.parametrize("seed", range(4))
def test_no_limit_adds_energy(seed):
    """Every step is taken again without limits, from the same state: what the energy rises by more with limits than
    the integrator itself is off by is less than 1e-6 of the kinetic energy.

    A short step, because the integrator is off by a little more where a stop bends the motion.
    """
    chain, state, _, _ = drop(seed)
    step = 2.5e-4
    run = simulate(chain, state, 0.25, step)
    free = chain.copy()
    for part in joints():
        free.act(part.name)
    stepper = Stepper(free, state, step)
    worst = 0.0
    for i in range(len(run) - 1):
        now = run.state(i)
        stepper.restart(now.q, now.v, now.time)
        here = stepper.record(1)
        assert stepper.advance(1) == 1
        own = here.record_books[0, :2].sum() - run.energy[i]
        worst = max(worst, run.energy[i + 1] - run.energy[i] - 2.0 * abs(own))
    print(f"seed {seed}: a limit adds {worst:.1e} J of {run.kinetic.max():.0f} J")
    assert worst < 1e-6 * run.kinetic.max()
    assert run.energy[-1] < run.energy[0] - 1.0, "no joint was ever stopped"


def test_every_ball_of_the_figure_has_ranges():
    assert len(figure_limits()) == len(FIGURE) - 1
