# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside: pushes beside closed forms, Pinocchio and dense equations; fields beside closed forms."""

import numpy as np
import pytest

from dynamics import (
    Chain,
    Connect,
    Cut,
    Driven,
    Inertia,
    Joint,
    JointMotion,
    Keyed,
    Pose,
    Push,
    Reaction,
    push,
    simulate,
)
from tests.dynamics.oracles import Peer
from tests.dynamics.random_chains import random_chain, random_unit

CLOSE = 1e-10  # relative: one solution of a well conditioned system


def one_body(gravity=(0.0, 0.0, 0.0)):
    chain = Chain(gravity=gravity)
    body = chain.add("body", joint=Joint.free(), inertia=Inertia(2.0, (0.1, -0.2, 0.3), np.diag([0.4, 0.5, 0.7])))
    return chain, body


def test_a_free_body_that_is_struck_moves_by_the_closed_form():
    """Velocity of the centre of mass changes by p/m, the spin by I^-1 (r x p + moment)."""
    chain, body = one_body()
    state = chain.state()
    state.set(body, rotation=random_unit(np.random.default_rng(1), 4), velocity=(0.3, -0.2, 0.5, 1.0, 0.0, -1.0))
    point, impulse, moment = np.array([0.5, 0.1, -0.4]), np.array([3.0, -1.0, 2.0]), np.array([0.2, 0.1, -0.3])
    after, work = push(chain, state, body, impulse, point, moment)
    turn = rotation(state.pose(body))
    com = turn @ body.inertia.com
    tensor = turn @ body.inertia.tensor @ turn.T
    before_spin, before_speed = np.split(state.twist(body), 2)
    spin, speed = np.split(after.twist(body), 2)
    expected = before_spin + np.linalg.solve(tensor, np.cross(turn @ point - com, impulse) + moment)
    assert spin == pytest.approx(expected, rel=1e-12)
    centre = before_speed + np.cross(before_spin, com) + impulse / 2.0
    assert speed + np.cross(spin, com) == pytest.approx(centre, rel=1e-12)
    # a push does the work of its impulse along the mean velocity of the point that it strikes
    along = impulse @ (before_speed + speed + np.cross(before_spin + spin, turn @ point))
    assert work == pytest.approx(0.5 * (along + moment @ (before_spin + spin)), rel=1e-12)


def rotation(pose):
    w, x, y, z = pose.rotation
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def strike_anything(seed):
    """A random chain, a random link of it that is free to move, and a random blow."""
    sample = random_chain(seed)
    rng = np.random.default_rng(1000 + seed)
    links = [link for link in sample.chain.links if link not in sample.motions]
    link = links[rng.integers(len(links))]
    return sample, link, rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)


@pytest.mark.parametrize("seed", range(40))
def test_any_chain_jumps_as_pinocchio_and_dense_equations_say(seed):
    """[M J'; J 0] [dv; -p] = [generalized impulse; 0], with Pinocchio's M and Jacobians; trees and loops."""
    sample, link, impulse, at, moment = strike_anything(seed)
    peer = Peer(sample.chain, sample.motions).update(sample.state)
    after, work = push(sample.chain, sample.state, link, impulse, at, moment)
    frame = peer.link_placement(link)
    wrench = np.r_[impulse, moment + np.cross(frame.translation + frame.rotation @ at, impulse)]
    blow = peer.spatial_jacobian(link)[:, peer.free_index].T @ wrench
    jump = after.v[peer.free] - sample.state.v[peer.free]
    rows, size = peer.J.shape
    whole = np.block([[peer.mass, peer.J.T], [peer.J, np.zeros((rows, rows))]])
    expected = np.linalg.lstsq(whole, np.r_[blow, np.zeros(rows)], rcond=1e-13)[0][:size]
    assert jump == pytest.approx(expected, abs=1e-8 * (1.0 + np.abs(expected).max()))
    assert after.v[~peer.free] == pytest.approx(sample.state.v[~peer.free], abs=0.0)
    # the impulses of the connections are what the mass matrix says is missing
    reactions = sum(peer.generalized(grip, after.impulse[grip]) for grip in sample.chain.connections)
    scale = np.abs(blow).max() + np.abs(peer.mass @ jump).max()
    assert peer.mass @ jump - blow == pytest.approx(reactions + np.zeros(size), abs=1e-8 * scale)
    if not sample.motions:
        change = peer.energies(after)[0] - peer.energies(sample.state)[0]
        assert work == pytest.approx(change, rel=CLOSE, abs=CLOSE * peer.energies(after)[0])


def hung_pair():
    """Two rods hinged together, the upper one on the world, and a weld that closes a loop at the lower end."""
    chain = Chain(gravity=(0.0, 0.0, -9.81))
    rod = Inertia(1.5, (0.0, 0.0, -0.5), np.diag([0.13, 0.13, 0.01]))
    root = chain.add("root", joint=Joint.free(), inertia=Inertia(3.0, (0, 0, 0), 0.2 * np.eye(3)))
    upper = chain.add("upper", root, Joint.spherical(), Pose(), rod)
    lower = chain.add("lower", upper, Joint.spherical(), Pose(position=(0, 0, -1)), rod)
    return chain, root, upper, lower


def test_momentum_of_a_held_figure_changes_by_push_and_grips():
    """Both momenta, about the world's origin: the push and the impulses of two grips, and nothing else."""
    chain, root, upper, lower = hung_pair()
    state = chain.state()
    state.set(upper, rotation=(np.cos(0.4), np.sin(0.4), 0, 0))
    for link, at in ((lower, (0, 0, -1)), (root, (0.2, 0, 0))):
        chain.connect(link, chain.world, Joint.spherical(), at=Pose(position=at), state=state)
    blow = Push(0.1, "upper", (20.0, 5.0, -3.0), at=(0.0, 0.1, -0.7))
    run = simulate(chain, state, 0.2, step=1 / 240, integrator="rkmk4", events=[blow])
    (happening,) = run.events
    assert happening.event is blow and happening.link.name == "upper"
    assert happening.time == pytest.approx(0.1, abs=1e-12)
    before = run.state(24)
    after, work = push(run.chain(24), before, "upper", blow.impulse, blow.at)
    assert happening.work == pytest.approx(work, rel=1e-12)
    upper_pose = before.pose("upper")
    change = np.r_[np.cross(upper_pose.position + rotation(upper_pose) @ blow.at, blow.impulse), blow.impulse]
    for grip, impulse in happening.impulse.items():
        joint = before.pose(grip.real) @ grip.anchor
        change += np.r_[impulse[:3] + np.cross(joint.position, impulse[3:]), impulse[3:]]
    # momenta of the two states from Pinocchio: about the centre of mass, so carried to the origin
    peer = Peer(run.chain(24))

    def momentum(state):
        whole = peer.momentum(state)
        whole[:3] += np.cross(peer.data.com[0], whole[3:])
        return whole

    assert momentum(after) - momentum(before) == pytest.approx(change, abs=1e-10)
    assert run.closure.max() < 1e-9


def test_keyed_joints_go_on_as_keyed_and_pushes_spare_muscles_their_state():
    """A push on a figure whose upper joint is keyed: that joint's angle and rate do not notice it."""
    chain, root, upper, lower = hung_pair()
    turn = JointMotion([0.0, 0.2, 0.4], [(1, 0, 0, 0), (np.cos(0.1), np.sin(0.1), 0, 0), (1, 0, 0, 0)])
    muscles = {upper: Keyed(turn), lower: Driven(stiffness=50.0, damping=5.0)}
    blow = Push(0.1, lower, (4.0, 0.0, 0.0), at=(0, 0, -1.0))
    still = simulate(chain, chain.state(), 0.4, muscles=muscles)
    struck = simulate(chain, chain.state(), 0.4, muscles=muscles, events=[blow])
    for i in range(0, len(still), 8):
        for run in (still, struck):
            assert len(run) == len(still)
        ours, theirs = struck.state(i), still.state(i)
        assert ours.coordinates("upper")[0] == pytest.approx(theirs.coordinates("upper")[0], abs=1e-12)
        assert ours.coordinates("upper")[1] == pytest.approx(theirs.coordinates("upper")[1], abs=1e-12)
    assert abs(struck.state(-1).pose("lower").position - still.state(-1).pose("lower").position).max() > 0.01


def test_push_at_the_very_beginning_and_between_steps():
    """A body at rest moves on by p/m from the time of the push, wherever that falls among the steps."""
    chain, body = one_body()
    for time in (0.0, 0.1, 0.1037):
        run = simulate(chain, chain.state(), 0.5, events=[Push(time, body, (1.0, 2.0, 0.0), at=body.inertia.com)])
        travelled = run.positions[-1, 0]
        assert travelled == pytest.approx(np.array([0.5, 1.0, 0.0]) * (0.5 - time), abs=1e-12)


def test_push_and_grab_at_one_time_happen_in_the_order_given():
    """Struck, then held by its centre of mass: the hand takes the whole impulse."""
    chain, body = one_body()
    com = Pose(position=body.inertia.com)
    events = [
        Push(0.1, body, (1.0, 2.0, 0.0), at=body.inertia.com),
        Connect(0.1, body, chain.world, Joint.spherical(), at=com),
    ]
    run = simulate(chain, chain.state(), 0.2, events=events)
    (impulse,) = run.events[1].impulse.values()
    assert impulse[3:] == pytest.approx([-1.0, -2.0, 0.0], abs=1e-12)
    assert np.abs(run.state(-1).v).max() < 1e-12


@pytest.mark.parametrize("wrong, word", [
    (dict(impulse=(1.0, 2.0)), "impulse"), (dict(impulse=(np.nan, 0.0, 0.0)), "impulse"),
    (dict(at="here"), "at"), (dict(time=np.inf), "time"), (dict(target=3), "link"),
])  # fmt: skip
def test_a_push_with_wrong_numbers_is_refused(wrong, word):
    good = dict(time=0.1, target="body", impulse=(1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=word):
        Push(**good | wrong)


def test_a_push_on_the_world_or_on_nothing_is_refused():
    chain, body = one_body()
    for target in (chain.world, "nobody"):
        with pytest.raises(ValueError, match=getattr(target, "name", target)):
            simulate(chain, chain.state(), 0.2, events=[Push(0.1, target, (1.0, 0.0, 0.0))])


# -- fields ------------------------------------------------------------------------------------------------------------

INTEGRATORS = ("midpoint", "rkmk4", "semi_implicit", "euler")


def spinning_body(gravity=(0.0, 0.0, -9.81)):
    chain, body = one_body(gravity)
    state = chain.state()
    state.set(body, velocity=(3.0, -2.0, 5.0, 1.0, 0.5, 2.0))
    return chain, body, state


def track(run, body):
    """World places of a body's centre of mass over a run."""
    com = Pose(position=body.inertia.com)
    return np.array([(run.state(i).pose(body.name) @ com).position for i in range(len(run))])


def test_a_constant_force_gives_a_parabola_whatever_the_spin():
    """The centre of mass follows x0 + v0 t + (g + F/m) t^2/2 to rounding in the default integrator."""
    chain, body, state = spinning_body()
    force = np.array([3.0, -1.0, 4.0])
    run = simulate(chain, state, 1.0, field=lambda time, places, velocities: force[None])
    path, t = track(run, body), run.times[:, None]
    start = state.twist(body)
    velocity = start[3:] + np.cross(start[:3], body.inertia.com)
    expected = path[0] + velocity * t + 0.5 * t**2 * (np.array([0.0, 0.0, -9.81]) + force / 2.0)
    assert np.abs(path - expected).max() < 1e-11  # rounding of 240 steps over ten metres


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_force_by_mass_is_weight(integrator):
    """A held pair of rods in a field of m g' moves as in gravity g + g': to rounding, in every integrator."""
    extra = np.array([2.0, 1.0, -3.0])

    def run(gravity, field):
        chain, root, upper, lower = hung_pair()
        chain.gravity = np.array(gravity)
        state = chain.state()
        state.set(upper, rotation=(np.cos(0.4), np.sin(0.4), 0, 0))
        chain.connect(root, chain.world, Joint.fixed(), state=state)
        return simulate(chain, state, 0.5, integrator=integrator, field=field)

    masses = np.array([3.0, 1.5, 1.5])
    ours = run((0.0, 0.0, -9.81), lambda time, places, velocities: masses[:, None] * extra)
    weight = run((2.0, 1.0, -12.81), None)
    assert np.abs(ours.positions - weight.positions).max() < 1e-9
    assert np.abs(ours.reaction(-1).popitem()[1] - weight.reaction(-1).popitem()[1]).max() < 1e-7


def test_a_spring_to_a_point_swings_with_second_order():
    """F = -k x on the centre of mass: cos(sqrt(k/m) t), with an error that falls by four when the step is halved."""
    chain = Chain(gravity=(0, 0, 0))
    ball = chain.add("ball", joint=Joint.free(), inertia=Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)))
    state = chain.state()
    state.set(ball, position=(1.0, 0.0, 0.0))
    errors = []
    for step in (1 / 120, 1 / 240):
        run = simulate(chain, state, 1.0, step=step, field=lambda time, places, velocities: -18.0 * places)
        errors.append(abs(run.positions[-1, 0, 0] - np.cos(3.0)))
    assert errors[1] < 1e-4 and 3.5 < errors[0] / errors[1] < 4.5


def drag_alone(drag, flow=(0.0, 0.0, 0.0)):
    return lambda time, places, velocities: (
        np.zeros_like(places), np.full(len(places), drag), np.tile(np.array(flow, dtype=float), (len(places), 1)))


def test_drag_slows_as_the_exponential():
    """v0 exp(-c t / m), with an error that falls by four when the step is halved."""
    chain, body = one_body()
    state = chain.state()
    state.set(body, velocity=(0, 0, 0, 1.0, 0.0, 0.0))
    errors = []
    for step in (1 / 60, 1 / 120):
        run = simulate(chain, state, 1.0, step=step, field=drag_alone(3.0))
        errors.append(abs(run.momentum[-1, 3] / 2.0 - np.exp(-1.5)))
    assert errors[1] < 1e-5 and 3.5 < errors[0] / errors[1] < 4.5


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_fall_through_air_ends_at_the_terminal_velocity(integrator):
    """m g / c below the wind's own velocity, to rounding."""
    chain, body = one_body(gravity=(0.0, 0.0, -9.81))
    run = simulate(chain, chain.state(), 4.0, integrator=integrator, field=drag_alone(40.0, (3.0, 0.0, 1.0)))
    assert run.momentum[-1, 3:] / 2.0 == pytest.approx([3.0, 0.0, 1.0 - 2.0 * 9.81 / 40.0], abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("drag", [1e3, 1e9])
def test_strong_drag_stops_a_whipping_chain_and_never_speeds_it_up(integrator, drag):
    """Without gravity the kinetic energy only falls, at any drag, and is gone after a second."""
    chain = Chain(gravity=(0, 0, 0))
    links, heavy = [], Inertia(1.0, (0, 0, -0.2), 0.02 * np.eye(3))
    for i in range(6):
        light = Inertia(0.02, (0, 0, -0.1), 1e-4 * np.eye(3))
        parent = links[-1] if links else None
        joint = Joint.spherical() if links else Joint.free()
        links.append(chain.add(f"link {i}", parent, joint, Pose(position=(0, 0, -0.3)), heavy if i < 3 else light))
    state = chain.state()
    rng = np.random.default_rng(5)
    state.v[:] = rng.normal(size=len(state.v))
    run = simulate(chain, state, 1.0, integrator=integrator, field=drag_alone(drag))
    assert (np.diff(run.kinetic) <= 1e-12 * run.kinetic[0]).all()
    speeds = np.abs(np.diff(track(run, links[2]), axis=0)).max(axis=1)
    assert speeds[-1] < 1e-3 * speeds[0]


def test_a_run_in_a_field_can_be_restarted_interrupted_and_watched():
    chain, root, upper, lower = hung_pair()
    state = chain.state()
    grip = chain.connect(root, chain.world, Joint.spherical(), at=Pose(position=(0.1, 0, 0)), state=state)

    def field(time, places, velocities):
        return np.sin(3.0 * time) - places, np.full(3, 0.5), np.ones((3, 3))

    whole = simulate(chain, state, 0.5, field=field)
    again = simulate(whole.chain(60), whole.state(60), 0.25, field=field)
    assert (again.positions[-1] == whole.positions[-1]).all()
    work = simulate(chain, state, 0.5, field=field, iterate=True)
    assert 0.0 < next(work) < next(work) < 1.0
    work.close()
    # the reaction that a condition sees has the field in it: it holds the weight and the push together
    still = Chain(gravity=(0, 0, -10.0))
    ball = still.add("ball", joint=Joint.free(), inertia=Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)))
    rest = still.state()
    grip = still.connect(ball, still.world, Joint.fixed(), state=rest)
    run = simulate(still, rest, 1.0, field=lambda time, places, velocities: [[0.0, 0.0, -40.0 * time]],
                   events=[Cut(Reaction(grip, above=30.0), grip)])  # fmt: skip
    assert run.events[0].time == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("field, words", [
    ("wind", "function"), (lambda t, x, v: x[:1], "shape"), (lambda t, x, v: np.nan * x, "finite"),
    (lambda t, x, v: "blow", "numbers"), (lambda t, x, v: (x, x), "drag"),
    (lambda t, x, v: (x, -np.ones(len(x)), x), "negative"),
])  # fmt: skip
def test_wrong_fields_are_refused(field, words):
    chain, *_ = hung_pair()
    with pytest.raises(ValueError, match=words):
        simulate(chain, chain.state(), 0.1, field=field)
