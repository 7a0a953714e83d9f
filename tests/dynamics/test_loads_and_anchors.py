# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts on a chain from outside (wrenches, joint forces, springs, moving anchors), and what a run says about it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dynamics import Chain, Inertia, Joint, Motion, Pose, forward_dynamics, simulate
from dynamics.samples import GRAVITY, hang, reference_figure
from tests.dynamics.oracles import Peer

G = 9.81
INTEGRATORS = ("semi_implicit", "midpoint", "rkmk4", "euler")
BODY = Inertia(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25]))


def end(run):
    return run.state(len(run) - 1)


def tolerance(integrator, step):
    """Closed forms below are of second degree: exact for the two better ones, first order for the others."""
    return 1e-10 if integrator in ("midpoint", "rkmk4") else 10.0 * step


# -- constant wrenches and joint forces -------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_force_on_a_floating_body(integrator):
    chain = Chain()
    link = chain.add("body", joint=Joint.free(), inertia=BODY)
    run = simulate(chain, chain.state(), 1.0, 0.01, integrator, wrenches={link: (0, 0, 0, 6.0, 0, 0)})
    moved = 0.5 * np.outer(run.times**2, (3.0, 0, -G))
    assert np.abs(run.positions[:, 0] - moved).max() < tolerance(integrator, 0.01)
    assert np.abs(run.momentum[-1, 3:] - (6.0, 0, -2 * G)).max() < 1e-10


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_torque_on_a_floating_body(integrator):
    """About a principal axis; by a wrench in world axes and by the free joint's own force, both of them."""
    chain = Chain(gravity=(0, 0, 0))
    link = chain.add("body", joint=Joint.free(), inertia=BODY)
    both = dict(wrenches={link: (0, 0, 0.3, 0, 0, 0)}, tau=(0, 0, 0.2, 0, 0, 0))
    run = simulate(chain, chain.state(), 1.0, 0.01, integrator, **both)
    assert abs(end(run).v[2] - 0.5 / 0.25) < 1e-10
    turned = 2.0 * np.arctan2(run.rotations[-1, 0, 3], run.rotations[-1, 0, 0])
    assert abs(turned - 0.5 * 0.5 / 0.25) < tolerance(integrator, 0.01)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_force_on_a_held_body(integrator):
    """A wrench acts at the link's origin: beside a hinge it turns the body, in it it does not."""
    chain = Chain(gravity=(0, 0, 0))
    door = chain.add("door", joint=Joint.revolute((0, 0, 1)), inertia=BODY)
    knob = chain.add("knob", door, at=Pose(position=(0.5, 0, 0)))
    for link, moment in ((door, 0.0), (knob, 0.5 * 0.01)):
        run = simulate(chain, chain.state(), 1.0, 0.01, integrator, wrenches={link: (0, 0, 0, 0, 0.01, 0)})
        # small angles: the force keeps its direction, the door turns by a hundredth
        assert abs(end(run).v[0] - moment / 0.25) < 1e-5


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_joint_force(integrator):
    chain = Chain()
    chain.add("wheel", joint=Joint.revolute((0, 0, 1)), inertia=BODY)
    run = simulate(chain, chain.state(), 1.0, 0.01, integrator, tau=[0.5])
    assert np.abs([run.state(i).q[0] - t * t for i, t in enumerate(run.times)]).max() < tolerance(integrator, 0.01)


# -- springs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_a_mass_on_a_spring(damping):
    """x'' + (c/m) x' + (k/m) x = 0 about the point where the spring carries the weight."""
    mass, stiffness = 2.0, 200.0
    chain = Chain()
    chain.add("mass", joint=Joint.prismatic((0, 0, 1)), inertia=BODY)
    chain.spring("mass", chain.world, to=(0, 0, 3.0), stiffness=stiffness, rest=3.0, damping=damping)
    run = simulate(chain, chain.state(), 2.0, 2e-3, "rkmk4")
    decay, sag = damping / (2 * mass), mass * G / stiffness
    pace = np.sqrt(stiffness / mass - decay**2)
    t = run.times
    wave = np.exp(-decay * t) * (np.cos(pace * t) + decay / pace * np.sin(pace * t))
    assert np.abs(run.positions[:, 0, 2] + sag * (1.0 - wave)).max() < 1e-8
    if damping == 0.0:
        assert np.ptp(run.energy) < 1e-7
        assert abs(run.potential[0]) < 1e-12  # relaxed, at the world's origin
    else:
        assert (np.diff(run.energy) < 0.0).all()


@pytest.mark.parametrize("integrator", ("midpoint", "rkmk4"))
def test_two_bodies_on_a_spring_swing_about_their_centre(integrator):
    """Reduced mass 2/3; the centre falls as if there were no spring."""
    chain = Chain()
    one = chain.add("one", joint=Joint.free(), inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    two = chain.add("two", joint=Joint.free(), inertia=Inertia(2.0, (0, 0, 0), np.eye(3)))
    chain.spring(one, two, stiffness=150.0, rest=0.8)
    state = chain.state()
    state.set(two, position=(1.0, 0, 0))
    run = simulate(chain, state, 1.0, 1e-3, integrator)
    pace = np.sqrt(150.0 / (2.0 / 3.0))
    apart = run.positions[:, 1, 0] - run.positions[:, 0, 0]
    assert np.abs(apart - 0.8 - 0.2 * np.cos(pace * run.times)).max() < (1e-8 if integrator == "rkmk4" else 1e-3)
    centre = (run.positions[:, 0] + 2.0 * run.positions[:, 1]) / 3.0
    assert np.abs(centre - (2.0 / 3.0, 0, 0) + 0.5 * G * np.outer(run.times**2, (0, 0, 1))).max() < 1e-10


def test_a_spring_pulls_at_its_points():
    """The moment of a spring that is tied to the end of a bar, beside the lever's own equation in scipy."""
    chain = Chain(gravity=(0, 0, 0))
    bar = chain.add("bar", joint=Joint.revolute((0, 0, 1)), inertia=Inertia.rod(3.0, (0, 0, 0), (1.0, 0, 0)))
    chain.spring(bar, chain.world, at=(1.0, 0, 0), to=(0.5, 2.0, 0), stiffness=40.0, rest=1.0, damping=2.0)

    def turning(t, y):
        arm = np.array((np.cos(y[0]), np.sin(y[0])))
        along = np.array((0.5, 2.0)) - arm
        length = np.linalg.norm(along)
        rate = -(along @ (-arm[1], arm[0])) * y[1] / length
        pull = (40.0 * (length - 1.0) + 2.0 * rate) * along / length
        return y[1], arm[0] * pull[1] - arm[1] * pull[0]  # the moment of inertia about the pivot is one

    run = simulate(chain, chain.state(), 1.0, 1e-3, "rkmk4")
    expected = solve_ivp(turning, (0, 1.0), (0, 0), rtol=1e-11, atol=1e-12).y[:, -1]
    assert np.abs(np.r_[end(run).q, end(run).v] - expected).max() < 1e-8


# -- anchors that move as given ---------------------------------------------------------------------------------------


def accelerating(kind, rate):
    """The motion x = rate t^2 / 2, as a function or as splines, which contain parabolas."""
    if kind == "function":
        return lambda t: Pose(position=(0.5 * rate * t * t, 0, 0))
    times = np.linspace(0.0, 2.0, 9)
    return Motion(times, np.outer(0.5 * rate * times**2, (1, 0, 0)), np.tile((1.0, 0, 0, 0), (9, 1)))


def pendulum_on(chain, cart, how, angle):
    """A bob 0.7 m below the cart, turned by `angle` about y: hung in the tree, or floating and connected."""
    inertia = Inertia(1.5, (0, 0, -0.7), 0.02 * np.eye(3))
    hinge = Joint.revolute((0, 1, 0))
    bob = chain.add("bob", cart if how == "tree" else None, hinge if how == "tree" else Joint.free(), inertia=inertia)
    state = chain.state()
    if how == "tree":
        state.set(bob, angle=angle)
    else:
        state.set(bob, rotation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0))
        chain.connect(bob, cart, hinge, to=Pose())
    return bob, state


@pytest.mark.parametrize("kind", ["function", "splines"])
@pytest.mark.parametrize("how", ["tree", "loop"])
def test_pendulum_on_an_accelerating_support(how, kind):
    """In the support's frame gravity is tilted: hung along it the bob rests, else it swings as on a tilted Earth."""
    rate = 4.0
    chain = Chain()
    cart = chain.add("cart", joint=Joint.free(), motion=accelerating(kind, rate))
    bob, state = pendulum_on(chain, cart, how, np.arctan2(rate, G))
    run = simulate(chain, state, 1.0, 5e-3, "rkmk4")
    assert np.abs(run.positions[:, cart.index, 0] - 0.5 * rate * run.times**2).max() < 1e-12
    below = np.array([run.state(i).pose(bob).apply((0, 0, -0.7)) for i in range(len(run))])
    rest = -0.7 * np.array((rate, 0, G)) / np.hypot(rate, G)
    assert np.abs(below - run.positions[:, cart.index] - rest).max() < 1e-7

    tilted = Chain(gravity=(-rate, 0, -G))
    other, there = pendulum_on(tilted, tilted.world, how, 0.3)
    state = chain.state()
    state.set(bob, **({"angle": 0.3} if how == "tree" else {"rotation": (np.cos(0.15), 0, np.sin(0.15), 0)}))
    moving, still = simulate(chain, state, 1.0, 5e-3, "rkmk4"), simulate(tilted, there, 1.0, 5e-3, "rkmk4")
    assert np.abs(moving.rotations[:, bob.index] - still.rotations[:, other.index]).max() < 1e-7


@pytest.mark.parametrize("how", ["tree", "loop"])
def test_conical_pendulum_on_a_turntable(how):
    """On a table turning at w the bob hangs outwards by the angle with w^2 (R + l sin) = g tan, and stays there."""
    radius, pace = 0.4, 3.0
    angle = brentq(lambda a: pace**2 * (radius + 0.7 * np.sin(a)) - G * np.tan(a), 0.0, 1.4)
    chain = Chain()
    table = chain.add(
        "table", joint=Joint.free(), motion=lambda t: Pose(rotation=(np.cos(pace * t / 2), 0, 0, np.sin(pace * t / 2)))
    )
    hinge, rim = Joint.revolute((0, 1, 0)), Pose(position=(radius, 0, 0))
    # a point mass, so that nothing but its place matters; the rest of a body's inertia would tilt the angle
    inertia = Inertia(1.5, (0, 0, -0.7), 1e-9 * np.eye(3))
    bob = chain.add("bob", table if how == "tree" else None, hinge if how == "tree" else Joint.free(),
                    rim if how == "tree" else Pose(), inertia)  # fmt: skip
    state = chain.state()
    if how == "tree":
        state.set(bob, angle=-angle)
    else:
        state.set(bob, position=rim.position, rotation=(np.cos(angle / 2), 0, -np.sin(angle / 2), 0))
        chain.connect(bob, table, hinge, to=rim)
    run = simulate(chain, state, 1.0, 5e-3, "rkmk4")
    out = radius + 0.7 * np.sin(angle)
    for i in (0, 77, 200):
        now, turned = run.state(i), pace * run.times[i]
        place = out * np.cos(turned), out * np.sin(turned), -0.7 * np.cos(angle)
        assert np.abs(now.pose(bob).apply((0, 0, -0.7)) - place).max() < 1e-6


def test_reaction_of_a_hoisted_load():
    """A load welded to a hook that rises with 5 m/s^2 and holds it 0.2 m off its centre."""
    chain = Chain()
    hook = chain.add("hook", joint=Joint.free(), motion=lambda t: Pose(position=(0, 0, 2.5 * t * t)))
    load = chain.add("load", joint=Joint.free(), inertia=BODY)
    state = chain.state()
    grip = chain.connect(load, hook, at=Pose(position=(0.2, 0, 0)), state=state)
    held = forward_dynamics(chain, state).reaction[grip]
    weight = 2.0 * (G + 5.0)
    assert np.abs(held - [0, 0.2 * weight, 0, 0, 0, weight]).max() < 1e-6
    chain.cut(grip)
    turned = chain.connect(hook, load, at=Pose(position=(0.2, 0, 0)), state=state)
    assert np.abs(forward_dynamics(chain, state).reaction[turned] + held).max() < 1e-6


def test_a_motion_rests_before_and_after_its_keys():
    chain = Chain()
    times = np.linspace(1.0, 2.0, 5)
    motion = Motion(times, np.outer(times, (1, 0, 0)), np.tile((1.0, 0, 0, 0), (5, 1)))
    cart = chain.add("cart", joint=Joint.free(), motion=motion)
    run = simulate(chain, chain.state(), 3.0, 0.25)
    assert np.abs(run.positions[:, cart.index, 0] - np.clip(run.times, 1.0, 2.0)).max() < 1e-12


# -- what a run says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [None, "weld", "hinge"])
def test_energy_as_pinocchio_counts_it(how):
    chain, state, _ = reference_figure(moving=how is None, gravity=GRAVITY)
    if how:
        hang(chain, state, how)
    run = simulate(chain, state, 0.25, 0.05, "rkmk4")
    expected = np.array([Peer(chain).energies(run.state(i)) for i in range(len(run))])
    size = np.abs(expected).max()
    assert np.abs(run.kinetic - expected[:, 0]).max() < 1e-11 * size
    assert np.abs(run.potential - expected[:, 1]).max() < 1e-11 * size
    assert (run.energy == run.kinetic + run.potential).all()


def test_momentum_is_about_the_world_origin_without_driven_links():
    chain = Chain(gravity=(0, 0, 0))
    chain.add("cart", joint=Joint.free(), inertia=BODY, motion=accelerating("function", 5.0))
    link = chain.add("body", joint=Joint.free(), inertia=BODY)
    state = chain.state()
    place, velocity, spin = np.array((1.0, 2.0, 3.0)), np.array((0.5, -1.0, 2.0)), np.array((0, 0, 4.0))
    state.set(link, position=place, velocity=np.r_[spin, velocity])
    run = simulate(chain, state, 0.5, 0.01)
    expected = np.r_[np.cross(place, 2.0 * velocity) + (0, 0, 0.25 * 4.0), 2.0 * velocity]
    assert np.abs(run.momentum - expected).max() < 1e-11
    assert np.abs(run.kinetic - 0.5 * (2.0 * velocity @ velocity + 0.25 * 16.0)).max() < 1e-11


def test_closure_is_the_largest_gap():
    """A hinge that starts open by 0.3 micrometres and 0.5 microradians is closed by the first step."""
    chain = Chain()
    link = chain.add("body", joint=Joint.free(), inertia=BODY)
    ajar = Pose(position=(0, 3e-7, 0), rotation=(1.0, 2.5e-7, 0, 0))
    chain.connect(link, chain.world, Joint.revolute((0, 0, 1)), to=ajar)
    run = simulate(chain, chain.state(), 0.05, 0.01)
    assert abs(run.closure[0] - 5e-7) < 1e-12
    assert run.closure[1:].max() < 1e-10
