# SPDX-License-Identifier: GPL-3.0-or-later
"""Links without mass: where the motion is determined they work, where it is not the error names them."""

import numpy as np
import pytest

from dynamics import Chain, Cut, Inertia, Joint, Pose, closed_loop, forward_dynamics, impact, simulate
from tests.dynamics.oracles import Peer

BODY = Inertia(2.0, (0.05, 0.0, -0.1), np.diag([0.05, 0.04, 0.03]))
NEARLY_NOTHING = Inertia(1e-9, (0, 0, 0.01), 1e-13 * np.eye(3))


def gimbal():
    """Two bodies and two massless rings between them, which make a ball joint of three hinges."""
    chain = Chain()
    upper = chain.add("upper", joint=Joint.revolute((1, 1, 0)), inertia=BODY)
    ring = chain.add("ring", upper, Joint.revolute((1, 0, 0)), Pose(position=(0, 0, -0.3)))
    inner = chain.add("inner", ring, Joint.revolute((0, 1, 0)))
    lower = chain.add("lower", inner, Joint.revolute((0, 0, 1)), inertia=BODY)
    state = chain.state()
    state.q[:], state.v[:] = (0.2, 0.4, -0.3, 0.5), (1.0, -2.0, 0.7, 3.0)
    return chain, state, upper, lower


def test_massless_links_between_massive_ones():
    """The gimbal against Pinocchio, and against one spherical joint."""
    chain, state, upper, lower = gimbal()
    qdd = forward_dynamics(chain, state).qdd
    expected = Peer(chain).update(state).accelerations(np.zeros(4))
    assert np.abs(qdd - expected).max() < 1e-10 * np.abs(expected).max()

    direct = Chain()
    other = direct.add("upper", joint=Joint.revolute((1, 1, 0)), inertia=BODY)
    ball = direct.add("lower", other, Joint.spherical(), Pose(position=(0, 0, -0.3)), BODY)
    there = direct.state()
    relative = state.pose(upper).inverse() @ state.pose(lower)
    spin = state.pose(lower).inverse().matrix @ (state.twist(lower) - state.twist(upper))[:3]
    there.set(other, angle=0.2, velocity=1.0)
    there.set(ball, rotation=relative.rotation, velocity=spin)
    assert abs(forward_dynamics(direct, there).qdd[0] - qdd[0]) < 1e-10 * abs(qdd[0])
    runs = [simulate(*pair, 0.3, 1e-3, "rkmk4") for pair in ((chain, state), (direct, there))]
    assert np.abs(runs[0].positions[-1, lower.index] - runs[1].positions[-1, ball.index]).max() < 1e-9


def test_massless_link_fixed_to_a_body():
    chain = Chain()
    body = chain.add("body", joint=Joint.free(), inertia=BODY)
    chain.add("mark", body, at=Pose(position=(0, 0, 1)))
    expected = np.r_[0, 0, 0, 0, 0, -9.81]
    assert np.abs(forward_dynamics(chain, chain.state()).qdd - expected).max() < 1e-12


def held_by_the_hand(hand_inertia, grip_joint, moving):
    """A body whose hand is connected to the world 0.1 m beyond the wrist; and the same without a hand, at the wrist."""
    chain, bare = Chain(), Chain()
    for here in (chain, bare):
        body = here.add("body", joint=Joint.free(), inertia=BODY)
        if here is chain:
            here.add("hand", body, Joint.spherical(), Pose(position=(0, 0, 0.3)), hand_inertia)
    states = chain.state(), bare.state()
    for state in states:
        state.set("body", rotation=(0.9, 0.3, 0.2, 0.1), velocity=(1, -2, 3, 0.5, 0.2, -0.1) if moving else np.zeros(6))
    grip = chain.connect("hand", chain.world, grip_joint, at=Pose(position=(0, 0, 0.1)), state=states[0])
    pivot = bare.connect("body", bare.world, Joint.spherical(), at=Pose(position=(0, 0, 0.3)), state=states[1])
    return (chain, impact(chain, states[0]), grip), (bare, impact(bare, states[1]), pivot)


@pytest.mark.parametrize("inertia", [None, NEARLY_NOTHING], ids=["massless", "nearly massless"])
@pytest.mark.parametrize("moving", [False, True])
def test_a_massless_hand_welded_to_the_world(inertia, moving):
    """Only the loop holds the hand. The body turns about its wrist as if there were no hand."""
    (chain, state, grip), (bare, there, pivot) = held_by_the_hand(inertia, Joint.fixed(), moving)
    # with 1e-12 of the inertia of the body, the hand feels rounding in its motion that much more
    close = 1e-9 if inertia is None else 1e-5
    assert np.abs(state.v[:6] - there.v).max() < close
    assert np.abs(state.twist("hand")).max() < close
    ours, expected = forward_dynamics(chain, state), forward_dynamics(bare, there)
    assert np.abs(ours.qdd[:6] - expected.qdd).max() < close * np.abs(expected.qdd).max()
    # the same force, but with a moment about the grip, which is not in the wrist
    force = expected.reaction[pivot][3:]
    lever = state.pose("hand").apply((0, 0, 0)) - state.pose("hand").apply((0, 0, 0.1))
    assert np.abs(ours.reaction[grip] - np.r_[np.cross(lever, force), force]).max() < close * np.abs(force).max()
    assert closed_loop(chain, state).mobility == 3
    runs = [simulate(*pair, 0.2, 1e-3, "rkmk4") for pair in ((chain, state), (bare, there))]
    assert np.abs(runs[0].positions[:, 0] - runs[1].positions[:, 0]).max() < 10 * close
    assert runs[0].closure.max() < 1e-9


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint", "rkmk4", "euler"])
def test_a_linkage_with_one_massive_bar(integrator):
    """Of a parallelogram only one crank has mass: it falls over like a rod on a hinge, by 3 g sin / 2 l."""
    chain = Chain()
    hinge, top = Joint.revolute((0, 1, 0)), Pose(position=(0, 0, 1.0))
    crank = chain.add("crank", joint=hinge, inertia=Inertia.rod(1.0, (0, 0, 0), (0, 0, 1)))
    coupler = chain.add("coupler", crank, hinge, top)
    other = chain.add("other crank", joint=hinge, at=Pose(position=(1.0, 0, 0)))
    chain.connect(coupler, other, hinge, at=Pose(position=(1.0, 0, 0)), to=top)
    state = chain.state()
    state.q[:] = 0.3, -0.3, 0.3
    expected = 1.5 * 9.81 * np.sin(0.3)
    assert np.abs(forward_dynamics(chain, state).qdd - expected * np.array((1, -1, 1))).max() < 1e-10
    alone = Chain()
    alone.add("crank", joint=hinge, inertia=Inertia.rod(1.0, (0, 0, 0), (0, 0, 1)))
    start = alone.state()
    start.q[:] = 0.3
    run, reference = (simulate(*pair, 0.4, 1e-3, integrator) for pair in ((chain, state), (alone, start)))
    angle = reference.state(-1).q[0]
    # the loop's projection is exact; how a step of first order meets it is not quite what it does alone
    assert np.abs(run.state(-1).q - angle * np.array((1, -1, 1))).max() < (1e-2 if integrator == "euler" else 1e-6)


def test_a_point_mass_where_it_cannot_turn():
    chain = Chain()
    chain.add("point", joint=Joint.prismatic((0, 0, 1)), inertia=Inertia(1.0))
    assert abs(forward_dynamics(chain, chain.state()).qdd[0] + 9.81) < 1e-12


def leaf(chain):
    body = chain.add("body", joint=Joint.free(), inertia=BODY)
    chain.add("ghost", body, Joint.revolute((0, 1, 0)), Pose(position=(0, 0, -0.3)))


def thin_rod(chain):
    chain.add("ghost", joint=Joint.free(), inertia=Inertia.rod(1.0, (0, 0, 0), (1, 0, 0)))


def point_on_its_hinge(chain):
    chain.add("ghost", joint=Joint.revolute((0, 0, 1)), inertia=Inertia(1.0, (0, 0, 0.4)))


def two_in_a_row(chain):
    body = chain.add("body", joint=Joint.free(), inertia=BODY)
    ghost = chain.add("ghost", body, Joint.spherical())
    chain.add("nothing", ghost, Joint.fixed(), Pose(position=(0, 1, 0)))


def hand_on_a_point(chain):
    """Between two ball joints a massless link can spin about the line through both."""
    body = chain.add("body", joint=Joint.free(), inertia=BODY)
    hand = chain.add("ghost", body, Joint.spherical(), Pose(position=(0, 0, 0.3)))
    chain.connect(hand, chain.world, Joint.spherical(), at=Pose(position=(0, 0, 0.1)), state=chain.state())


UNDETERMINED = [leaf, thin_rod, point_on_its_hinge, two_in_a_row, hand_on_a_point]


@pytest.mark.parametrize("build", UNDETERMINED)
@pytest.mark.parametrize("use", [forward_dynamics, impact, lambda *pair: simulate(*pair, 0.1, 0.01)])
def test_what_is_not_determined_is_named(build, use):
    chain = Chain()
    build(chain)
    with pytest.raises(ValueError, match="link ghost can move without moving any mass"):
        use(chain, chain.state())


def test_letting_go_with_a_massless_hand():
    """Determined while it holds on, not afterwards."""
    (chain, state, grip), _ = held_by_the_hand(None, Joint.fixed(), False)
    with pytest.raises(ValueError, match="link hand can move without"):
        simulate(chain, state, 0.1, 0.01, events=[Cut(0.05, grip)])
