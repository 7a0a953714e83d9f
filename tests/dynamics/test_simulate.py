# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole simulations: events at exact times and on conditions, restart, progress and cancel, divergence."""

import numpy as np
import pytest

from dynamics import Chain, Connect, Cut, Inertia, Joint, Motion, Pose, Reaction, SimulationDiverged, Travel, simulate
from dynamics.chain import check_pointers
from dynamics.samples import double_four_bar, hang, parallelogram, reference_figure

G = 9.81
BODY = Inertia(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25]))
ACCURATE = ("midpoint", "rkmk4")  # both are exact on parabolas
ROUNDING = 1e-11


def ball(joint=None, gravity=(0, 0, -G)):
    chain = Chain(gravity=gravity)
    link = chain.add("ball", joint=joint or Joint.free(), inertia=BODY)
    return chain, link, chain.state()


def end(run):
    return run.state(len(run) - 1)


# -- events at their times --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ACCURATE)
@pytest.mark.parametrize("time", [0.0, 0.01, 0.0123456789, 0.055, 0.07 - 1e-13, 0.0999])
def test_a_grip_opens_at_its_exact_time(integrator, time):
    """Held, then falling since `time`, which need not be one of the steps."""
    chain, link, state = ball()
    grip = chain.connect(link, chain.world, Joint.fixed(), state=state)
    run = simulate(chain, state, 0.2, 0.01, integrator, events=[Cut(time, grip)])
    fallen = np.maximum(run.times - time, 0.0)
    assert len(run) == 21
    assert np.abs(run.times - 0.01 * np.arange(21)).max() < ROUNDING
    assert np.abs(run.positions[:, 0, 2] + 0.5 * G * fallen**2).max() < ROUNDING
    assert abs(end(run).twist(link)[5] + G * fallen[-1]) < ROUNDING
    (happened,) = run.events
    assert abs(happened.time - time) < 1e-12 and happened.link == grip


@pytest.mark.parametrize("integrator", ACCURATE)
def test_a_falling_body_is_caught(integrator):
    chain, link, state = ball()
    catch = Connect(0.1234, link, chain.world, Joint.fixed(), name="hand")
    run = simulate(chain, state, 0.3, 0.01, integrator, events=[catch])
    assert np.abs(run.positions[13:, 0, 2] + 0.5 * G * 0.1234**2).max() < ROUNDING
    assert np.abs(end(run).v).max() < ROUNDING
    (happened,) = run.events
    assert happened.link.name == "hand" and happened.event is catch
    assert np.abs(happened.impulse[happened.link] - [0, 0, 0, 0, 0, 2.0 * G * 0.1234]).max() < ROUNDING
    assert np.abs(run.reaction(-1)[happened.link] - [0, 0, 0, 0, 0, 2.0 * G]).max() < 1e-9


def test_many_events_in_one_step():
    """Given in any order: falls, is caught, falls again, is caught again, all between two instants."""
    chain, link, state = ball()
    first = Connect(0.0011, link, "world")
    second = Connect(0.0077, link, "world")
    run = simulate(chain, state, 0.02, 0.01, events=[second, Cut(0.0055, first), first])
    assert [round(h.time, 12) for h in run.events] == [0.0011, 0.0055, 0.0077]
    fallen = 0.5 * G * (0.0011**2 + 0.0022**2)
    assert np.abs(run.positions[:, 0, 2] + [0.0, fallen, fallen]).max() < 1e-14


def test_cutting_a_tree_joint_in_mid_run():
    """A rod turning about a pivot is let go: its middle goes straight on, and it keeps turning."""
    chain = Chain(gravity=(0, 0, 0))
    rod = chain.add("rod", joint=Joint.revolute((0, 0, 1)), inertia=Inertia.box(1.0, (1.0, 0.1, 0.1), (0.5, 0, 0)))
    state = chain.state()
    state.set(rod, velocity=3.0)
    run = simulate(chain, state, 1.0, 0.01, "rkmk4", events=[Cut(0.4567, rod)])
    turned = 3.0 * run.times
    at_cut, after = 3.0 * 0.4567, np.maximum(run.times - 0.4567, 0.0)
    held = np.minimum(turned, at_cut)
    middle = 0.5 * np.stack([np.cos(held), np.sin(held)], axis=1)
    middle += 1.5 * after[:, None] * (-np.sin(at_cut), np.cos(at_cut))
    seen = np.stack([run.state(i).pose(rod).apply((0.5, 0, 0)) for i in range(len(run))])
    assert np.abs(seen[:, :2] - middle).max() < 1e-7  # the fourth order of 0.03 rad in a step
    assert np.abs(seen[:, 2]).max() < 1e-14
    assert (len(run.state(0).v), len(end(run).v)) == (1, 6)
    assert np.abs(end(run).twist(rod)[:3] - [0, 0, 3.0]).max() < ROUNDING


def test_events_outside_the_run_do_not_happen():
    chain, link, state = ball()
    grip = chain.connect(link, chain.world, state=state)
    state.time = 2.0
    run = simulate(chain, state, 0.1, 0.01, events=[Cut(1.9, grip), Cut(2.2, grip)])
    assert run.events == [] and np.abs(run.positions).max() < 1e-12


# -- events on conditions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ACCURATE)
def test_a_grip_breaks_above_its_force(integrator):
    """Pulled up with the acceleration 30 t: the grip holds 2 (g + 30 t) newtons, 50 of them at t = (25 - g) / 30."""
    chain, link, state = ball()
    times = np.linspace(0.0, 1.0, 6)
    hoist = Motion(times, np.outer(5.0 * times**3, (0, 0, 1)), np.tile((1.0, 0, 0, 0), (6, 1)))
    hook = chain.add("hook", joint=Joint.free(), motion=hoist)
    state = chain.state()
    grip = chain.connect(link, hook, Joint.spherical(), state=state)
    run = simulate(chain, state, 1.0, 0.01, integrator, events=[Cut(Reaction(grip, above=50.0), grip)])
    broken = (25.0 - G) / 30.0
    (happened,) = run.events
    assert abs(happened.time - broken) < 1e-9
    since = run.times - broken
    flight = 5.0 * broken**3 + 15.0 * broken**2 * since - 0.5 * G * since**2
    height = np.where(since < 0.0, 5.0 * run.times**3, flight)
    assert np.abs(run.positions[:, link.index, 2] - height).max() < 1e-8
    held = [run.reaction(i)[grip][5] for i in range(50)]
    assert np.abs(held - 2.0 * (G + 30.0 * run.times[:50])).max() < 1e-6


def test_a_grip_breaks_above_its_moment():
    """On a table that turns with the acceleration 12 t: the grip holds 0.25 * 12 t newton metres, and no force."""
    chain, link, state = ball(gravity=(0, 0, 0))
    table = chain.add("table", joint=Joint.free(), motion=lambda t: Pose(rotation=(np.cos(t**3), 0, 0, np.sin(t**3))))
    state = chain.state()
    grip = chain.connect(link, table, Joint.fixed(), state=state)
    run = simulate(chain, state, 1.0, 0.01, "rkmk4", events=[Cut(Reaction(grip, above=1e9, moment=1.5), grip)])
    assert abs(run.events[0].time - 0.5) < 1e-7


@pytest.mark.parametrize("place", ["tree", "connection"])
def test_a_slide_leaves_its_range(place):
    """Falling along a slide from rest: 0.3 m down after sqrt(0.6 / g)."""
    slide = Joint.prismatic((0, 0, 1))
    chain, link, state = ball(slide if place == "tree" else None)
    rail = link if place == "tree" else chain.connect(link, chain.world, slide, state=state)
    run = simulate(chain, state, 1.0, 0.01, events=[Cut(Travel(rail, -0.3, 0.1), rail)])
    assert abs(run.events[0].time - np.sqrt(0.6 / G)) < 1e-9
    assert np.abs(run.positions[:, 0, 2] + 0.5 * G * run.times**2).max() < 1e-9
    assert len(end(run).v) == 6


@pytest.mark.parametrize("place", ["tree", "connection"])
def test_a_hinge_leaves_its_range(place):
    hinge = Joint.revolute((0, 0, 1))
    chain, link, state = ball(hinge if place == "tree" else None, gravity=(0, 0, 0))
    held = link if place == "tree" else chain.connect(link, chain.world, hinge, state=state)
    state.v[0 if place == "tree" else 2] = -2.0
    run = simulate(chain, state, 1.0, 0.01, events=[Cut(Travel(held, -0.7, 5.0), held)])
    assert abs(run.events[0].time - 0.35) < 1e-9


def test_a_condition_of_ones_own():
    """Any function of the state that turns from negative to positive."""
    chain, link, state = ball()
    state.set(link, velocity=(0, 0, 0, 1.0, 0, 0))
    grip = chain.connect(link, chain.world, Joint.prismatic((1, 0, 0)), state=state)
    run = simulate(chain, state, 1.0, 0.01, events=[Cut(lambda now: now.pose(link).position[0] - 0.1234, grip)])
    assert abs(run.events[0].time - 0.1234) < 1e-9


def test_a_condition_on_what_a_later_event_makes():
    chain, link, state = ball()
    catch = Connect(0.1, link, chain.world, Joint.prismatic((0, 0, 1)))
    run = simulate(chain, state, 1.0, 0.01, events=[Cut(Travel(catch, -0.2, 0.2), catch), catch])
    assert [type(h.event) for h in run.events] == [Connect, Cut]
    assert abs(run.events[1].time - np.sqrt(2 * (0.2 + 0.5 * G * 0.01) / G)) < 1e-8


# -- restart, progress, cancel ----------------------------------------------------------------------------------------


def loose():
    return (*reference_figure(moving=True)[:2], [])


def released():
    chain, state, _ = reference_figure()
    *_, one, other = hang(chain, state, "hinge")  # the two points of the right hand
    return chain, state, [Cut(0.1037, one), Cut(0.1037, other)]


def on_a_moving_bar():
    chain = Chain()
    bar = chain.add("bar", joint=Joint.free(), motion=lambda t: Pose(position=(np.sin(3 * t), 0, 0)))
    link = chain.add("body", joint=Joint.free(), inertia=BODY)
    state = chain.state()
    state.set(link, velocity=(1, 2, 3, 0, 0, 0))
    chain.connect(link, bar, Joint.spherical(), at=Pose(position=(0, 0, 0.5)), state=state)
    return chain, state, []


CHAINS = {
    "loose": loose, "released": released, "moving bar": on_a_moving_bar,
    "four-bar": lambda: (*double_four_bar()[:2], []), "parallelogram": lambda: (*parallelogram(cranks=4)[:2], []),
}  # fmt: skip


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4"])
@pytest.mark.parametrize("case", CHAINS)
def test_restart_gives_the_very_same(case, integrator):
    """From any stored instant, to the last bit."""
    chain, state, events = CHAINS[case]()
    step = 1 / 240
    run = simulate(chain, state, 70 * step, step, integrator, events=events)
    for i in (1, 13, 24, 25, 47, 66):
        start = run.state(i)
        to_come = [event for event in events if event.time > start.time]
        again = simulate(run.chain(i), start, (70 - i) * step, step, integrator, events=to_come)
        assert (again.times == run.times[i:]).all()
        assert np.abs(again.positions - run.positions[i:]).max() < 1e-9
        same = [(end(again).q, end(run).q), (end(again).v, end(run).v), (again.energy, run.energy[i:])]
        same += [(again.positions, run.positions[i:]), (again.rotations, run.rotations[i:])]
        assert all((mine == theirs).all() for mine, theirs in same)


@pytest.mark.parametrize("case", CHAINS)
def test_the_same_run_twice_is_the_same(case):
    runs = [simulate(*CHAINS[case]()[:2], 0.2, 1 / 240) for _ in range(2)]
    assert (runs[0].positions == runs[1].positions).all() and (end(runs[0]).v == end(runs[1]).v).all()


def test_progress_by_iteration():
    chain, state, _ = loose()
    work, told = simulate(chain, state, 1.0, 1 / 240, iterate=True), []
    while True:
        try:
            told.append(next(work))
        except StopIteration as finished:
            run = finished.value
            break
    assert len(told) >= 4 and (np.diff(told) > 0).all() and told[0] > 0.0 and told[-1] == 1.0
    whole = simulate(chain, state, 1.0, 1 / 240)
    assert (run.positions == whole.positions).all()


def test_cancel_leaves_everything_as_it_was():
    chain, state, events = released()
    before, stamp = state.copy(), chain.stamp
    work = simulate(chain, state, 5.0, 1 / 240, events=events, iterate=True)
    assert 0.0 < next(work) < 0.5
    work.close()
    assert chain.stamp == stamp and len(chain.connections) == 4
    assert (state.q == before.q).all() and (state.v == before.v).all() and state.time == before.time
    check_pointers(chain)
    with pytest.raises(StopIteration):
        next(work)


# -- divergence, several figures --------------------------------------------------------------------------------------


def test_divergence_keeps_what_was_there():
    """Euler's method on a spring much too stiff for its step: each step multiplies the motion by about w h = 50."""
    chain, link, state = ball(Joint.prismatic((0, 0, 1)), gravity=(0, 0, 0))
    chain.spring(link, chain.world, to=(0, 0, 2.0), stiffness=2 * 500.0**2, rest=1.0)
    with pytest.raises(SimulationDiverged, match=r"at link ball, t = 0\.") as caught:
        simulate(chain, state, 10.0, 0.1, "euler")
    error = caught.value
    assert isinstance(error, RuntimeError) and error.link == link
    assert 0.0 < error.time < 2.0
    assert len(error.run) > 2 and abs(error.run.times[-1] - error.time) < 1e-12
    assert np.isfinite(error.run.energy).all() and np.isfinite(error.run.positions).all()
    assert error.run.state(1).pose(link).position[2] == 0.0
    assert state.q[0] == 0.0, "the state given was changed"


def test_figures_that_do_not_meet_do_not_matter_to_each_other():
    alone = {}
    for name in ("lhand", "rhand"):
        chain, state, links = reference_figure()
        chain.connect(links[name], chain.world, Joint.spherical(), state=state)
        alone[name] = simulate(chain, state, 0.2, 1 / 240, "rkmk4")
    chain, state, _ = reference_figure(copies=2)
    chain.connect("lhand", chain.world, Joint.spherical(), state=state)
    chain.connect("1 rhand", chain.world, Joint.spherical(), state=state)
    both = simulate(chain, state, 0.2, 1 / 240, "rkmk4")
    assert np.abs(both.positions[:, :17] - alone["lhand"].positions).max() < 1e-9
    assert np.abs(both.positions[:, 17:] - (0, 3.0, 0) - alone["rhand"].positions).max() < 1e-9
    assert np.abs(both.kinetic - alone["lhand"].kinetic - alone["rhand"].kinetic).max() < 1e-7
