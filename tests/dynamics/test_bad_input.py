# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong input: a ValueError that names the link or the value, and a chain that is as it was."""

import re

import numpy as np
import pytest

import dynamics
from dynamics import Chain, Connect, Cut, Inertia, Joint, Motion, Pose, Reaction, Travel, impact, simulate
from dynamics.chain import check_pointers
from dynamics.stepper import Stepper

NAN, INF = float("nan"), float("inf")
BODY = Inertia.box(2.0, (0.1, 0.2, 0.3))


class Case:
    """A swing: a seat that floats, an arm on a ball joint, a rail, a driven hook, and a grip between arm and world."""

    def __init__(self):
        self.chain = chain = Chain()
        self.seat = chain.add("seat", joint=Joint.free(), inertia=BODY)
        self.arm = chain.add("arm", self.seat, Joint.spherical(), Pose(position=(0, 0, 0.3)), BODY)
        self.rail = chain.add("rail", self.seat, Joint.prismatic((1, 0, 0)), inertia=BODY)
        self.hook = chain.add("hook", joint=Joint.free(), motion=lambda t: Pose(position=(0, t, 2)))
        self.state = self.chain.state()
        self.grip = chain.connect(self.arm, chain.world, Joint.spherical(), state=self.state, name="grip")
        self.add, self.cut, self.connect, self.spring = chain.add, chain.cut, chain.connect, chain.spring

    def run(self, *given, **more):
        return simulate(self.chain, self.state, *given, **more)

    def forward(self, **given):
        return dynamics.forward_dynamics(self.chain, self.state, **given)

    def inverse(self, *given, **more):
        return dynamics.inverse_dynamics(self.chain, self.state, *given, **more)

    def loops(self, **given):
        return dynamics.closed_loop(self.chain, self.state, **given)

    def put(self, name, value):
        setattr(self.state, name, value)

    def spoil(self, array, value=NAN, place=8):
        array[place] = value


@pytest.fixture
def case():
    return Case()


def number(value):
    """NaN as a joint force, a wrench, an acceleration."""
    return np.r_[value, np.zeros(5)]


# what is wrong, what it does with a Case, and what the message must say
BAD = {
    # -- links that are not there
    "unknown parent": (lambda c: c.add("leg", "hip"), "'hip'"),
    "unknown link": (lambda c: c.chain["ghost"], "'ghost'"),
    "not a link": (lambda c: c.chain[3], "3 is not a link"),
    "link of another chain": (lambda c: c.cut(Case().arm), "arm.*not in the chain"),
    "parent of another chain": (lambda c: c.add("leg", Case().seat), "seat.*not in the chain"),
    "virtual parent": (lambda c: c.add("leg", c.grip), "grip is a virtual link.*arm"),
    "connecting an unknown link": (lambda c: c.connect("arm", "ghost", state=c.state), "'ghost'"),
    "connecting a virtual link": (lambda c: c.connect(c.grip, "seat", state=c.state), "grip is a virtual link"),
    "connecting a link with itself": (lambda c: c.connect("arm", c.arm, state=c.state), "arm with itself"),
    "connecting the world with itself": (lambda c: c.connect("world", "world", to=Pose()), "world with itself"),
    "a spring from a link to itself": (lambda c: c.spring("arm", "arm"), "arm with itself"),
    # -- cutting what is not there
    "cutting an unknown link": (lambda c: c.cut("ghost"), "'ghost'"),
    "cutting a grip twice": (lambda c: [c.cut(c.grip), c.cut(c.grip)], "grip.*not in the chain"),
    "cutting a free link": (lambda c: c.cut("seat"), "seat is free already"),
    "cutting a link twice": (lambda c: [c.cut("arm"), c.cut("arm")], "arm is free already"),
    "cutting the world": (lambda c: c.cut("world"), "world cannot be cut"),
    "cutting a driven link": (lambda c: c.cut("hook"), "hook moves as given"),
    "opening what was never made": (
        lambda c: c.run(0.1, 0.05, events=[Cut(0.02, Connect(0.9, "arm", "seat"))]), "not exist"),
    "opening it twice in a run": (
        lambda c: c.run(0.1, 0.05, events=[Cut(0.02, "grip"), Cut(0.03, "grip")]), "'grip'"),
    # -- names
    "the same name twice": (lambda c: c.add("arm"), "'arm' already"),
    "the name of a grip": (lambda c: c.add("grip"), "'grip' already"),
    "the name of a link for a grip": (lambda c: c.connect("arm", "seat", to=Pose(), name="rail"), "'rail' already"),
    "the world's name": (lambda c: c.add("world"), "'world' already"),
    "no name": (lambda c: c.add(""), "name of a link.*''"),
    "a number for a name": (lambda c: c.add(7), "name of a link.*7"),
    # -- inertia
    "negative mass": (lambda c: Inertia(-1.0), "-1"),
    "mass NaN": (lambda c: Inertia(NAN), "nan"),
    "infinite mass": (lambda c: Inertia(INF), "inf"),
    "centre of mass NaN": (lambda c: Inertia(1.0, (0, NAN, 0)), "centre of mass is not finite"),
    "flat centre of mass": (lambda c: Inertia(1.0, (0, 0)), "centre of mass must be 3 numbers"),
    "tensor not symmetric": (lambda c: Inertia(1.0, tensor=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric.*2"),
    "negative moment": (lambda c: Inertia(1.0, tensor=np.diag([1, 1, -3])), "negative principal moment -3"),
    "negative moment off the diagonal": (
        lambda c: Inertia(1.0, tensor=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]), "negative principal moment -1"),
    "tensor NaN": (lambda c: Inertia(1.0, tensor=np.diag([1, NAN, 1])), "tensor is not finite"),
    "tensor of a wrong size": (lambda c: Inertia(1.0, tensor=np.eye(2)), "3x3"),
    "a mass for an inertia": (lambda c: c.add("leg", inertia=3.0), "leg.*Inertia.*3.0"),
    # -- poses, joints, gravity
    "position NaN": (lambda c: Pose(position=(0, NAN, 0)), "position.*not finite"),
    "rotation NaN": (lambda c: Pose(rotation=(NAN, 0, 0, 0)), "rotation.*not finite"),
    "rotation of zero length": (lambda c: Pose(rotation=(0, 0, 0, 0)), "zero length"),
    "rotation of three numbers": (lambda c: Pose(rotation=(1, 0, 0)), "must be 4 numbers"),
    "words for a position": (lambda c: Pose(position="here"), "3 numbers, not 'here'"),
    "axis of zero length": (lambda c: Joint.revolute((0, 0, 0)), "revolute joint has zero length"),
    "axis NaN": (lambda c: Joint.prismatic((NAN, 0, 1)), "prismatic joint is not finite"),
    "gravity NaN": (lambda c: Chain(gravity=(0, 0, NAN)), "gravity is not finite"),
    "gravity a number": (lambda c: Chain(gravity=9.81), "gravity must be 3 numbers"),
    "an axis for a joint": (lambda c: c.add("leg", joint=(0, 0, 1)), "leg.*Joint"),
    "a point for a pose": (lambda c: c.add("leg", at=(0, 0, 1)), "leg.*Pose"),
    "a word for a grip's joint": (lambda c: c.connect("arm", "rail", "ball", state=c.state), "arm and rail.*'ball'"),
    "a point for the place of a grip": (
        lambda c: c.connect("arm", "rail", at=(0, 0, 1), state=c.state), "arm and rail.*Pose"),
    "a point for the place on the second": (lambda c: c.connect("arm", "rail", to=(0, 0, 1)), "arm and rail.*Pose"),
    "nowhere to connect": (lambda c: c.connect("arm", "rail"), "arm with rail.*state"),
    "a word for a state": (lambda c: c.connect("arm", "rail", state="now"), "state.*'now'"),
    "negative softness": (lambda c: c.connect("arm", "rail", state=c.state, stiffness=-1.0), "arm and rail.*negative"),
    "softness NaN": (lambda c: c.connect("arm", "rail", state=c.state, damping=NAN), "arm and rail.*finite"),
    "spring NaN": (lambda c: c.spring("arm", "rail", stiffness=NAN), "arm and rail.*not finite"),
    "negative spring": (lambda c: c.spring("arm", "rail", rest=-1.0), "arm and rail.*-1"),
    "spring end NaN": (lambda c: c.spring("arm", "rail", at=(0, 0, NAN)), "on arm.*not finite"),
    # -- motions
    "a motion on a parent": (lambda c: c.add("b", "arm", Joint.free(), motion=lambda t: Pose()), "b.*on the world"),
    "a motion of a hinge": (lambda c: c.add("b", joint=Joint.revolute((1, 0, 0)), motion=lambda t: Pose()), "b.*free"),
    "a motion that is none": (lambda c: c.add("b", joint=Joint.free(), motion=7), "b.*7"),
    "a motion of points": (lambda c: c.add("b", joint=Joint.free(), motion=lambda t: (0, 0, t)), "b.*Pose"),
    "one key": (lambda c: Motion([0], [[0, 0, 0]], [[1, 0, 0, 0]]), "two times"),
    "keys out of order": (lambda c: Motion([0, 2, 1], np.zeros((3, 3)), np.eye(4)[[0, 0, 0]]), "later than"),
    "key NaN": (lambda c: Motion([0, 1], [[0, 0, 0], [0, 0, NAN]], np.eye(4)[[0, 0]]), "not finite"),
    "keys of different number": (lambda c: Motion([0, 1], np.zeros((3, 3)), np.eye(4)[[0, 0]]), "2 times"),
    # -- states
    "angle of a ball joint": (lambda c: c.state.set("arm", angle=1.0), "arm: a spherical joint has no place.*angle"),
    "position of a slide": (lambda c: c.state.set("rail", position=(1, 0, 0)), "rail: a prismatic joint.*position"),
    "slide of a free joint": (lambda c: c.state.set("seat", slide=1.0), "seat: a free joint.*slide"),
    "rotation of a slide": (lambda c: c.state.set("rail", rotation=(1, 0, 0, 0)), "rail: a prismatic joint.*rotation"),
    "too few velocities": (lambda c: c.state.set("seat", velocity=(1, 2, 3)), "velocity of seat must be 6 numbers"),
    "too many velocities": (lambda c: c.state.set("rail", velocity=(1, 2)), "velocity of rail must be 1 numbers"),
    "velocity NaN": (lambda c: c.state.set("rail", velocity=NAN), "velocity of rail is not finite"),
    "position of seat NaN": (lambda c: c.state.set("seat", position=(0, 0, NAN)), "position of seat"),
    "rotation of arm zero": (lambda c: c.state.set("arm", rotation=(0, 0, 0, 0)), "rotation of arm"),
    "slide in words": (lambda c: c.state.set("rail", slide="far"), "slide of rail"),
    "state of a virtual link": (lambda c: c.state.set("grip", rotation=(1, 0, 0, 0)), "grip is a virtual link"),
    "state of the world": (lambda c: c.state.set("world", position=(0, 0, 0)), "world"),
    "joint pose of a link": (lambda c: c.state.joint_pose("arm"), "arm is not a connection"),
    "q NaN": (lambda c: [c.spoil(c.state.q), c.forward()], "arm.*not finite.*nan"),
    "v NaN": (lambda c: [c.spoil(c.state.v), c.forward()], "arm.*not finite.*nan"),
    "v infinite": (lambda c: [c.spoil(c.state.v, INF, 9), c.run(0.1)], "rail.*not finite.*inf"),
    "pose of a state with NaN": (lambda c: [c.spoil(c.state.q), c.state.pose("seat")], "arm.*not finite"),
    "twist of a state with NaN": (lambda c: [c.spoil(c.state.v), c.state.twist("seat")], "arm.*not finite"),
    "connecting in a state with NaN": (
        lambda c: [c.spoil(c.state.q), c.connect("arm", "rail", state=c.state)], "arm.*not finite"),
    "cutting in a state with NaN": (lambda c: [c.spoil(c.state.v), c.cut("arm", c.state)], "arm.*not finite"),
    "quaternion of length two": (lambda c: [c.spoil(c.state.q, 2.0, 7), c.forward()], "arm.*length one.*2.0"),
    "q of a wrong size": (lambda c: [c.put("q", np.zeros(3)), c.forward()], "state.q must be 19"),
    "v of one number": (lambda c: [c.put("v", np.zeros(1)), c.forward()], "state.v must be 16"),
    "v in words": (lambda c: [c.put("v", "fast"), c.forward()], "state.v must be 16.*'fast'"),
    "time NaN": (lambda c: [c.put("time", NAN), c.forward()], "state.time.*nan"),
    "time in words": (lambda c: [c.put("time", "now"), impact(c.chain, c.state)], "state.time.*'now'"),
    "no state": (lambda c: impact(c.chain, None), "expected a state.*None"),
    # -- forces
    "tau NaN": (lambda c: c.forward(tau=np.full(16, NAN)), "tau is not finite"),
    "tau of a wrong size": (lambda c: c.forward(tau=[1, 2]), "tau must be 16 numbers"),
    "tau in words": (lambda c: c.forward(tau="much"), "tau.*'much'"),
    "wrench NaN": (lambda c: c.forward(wrenches={"arm": number(NAN)}), "wrench on arm is not finite"),
    "wrench of three numbers": (lambda c: c.forward(wrenches={"arm": (0, 0, 1)}), "wrench on arm.*6"),
    "wrench on nobody": (lambda c: c.forward(wrenches={"ghost": number(0)}), "'ghost'"),
    "wrench on a grip": (lambda c: c.forward(wrenches={"grip": number(0)}), "grip.*virtual"),
    "wrench on the world": (lambda c: c.forward(wrenches={"world": number(0)}), "world"),
    "wrenches in a list": (lambda c: c.forward(wrenches=[number(0)]), "link: .moment; force"),
    "qdd NaN": (lambda c: c.inverse(np.full(16, NAN)), "qdd is not finite"),
    "qdd of a wrong size": (lambda c: c.inverse(np.zeros(3)), "qdd must be 16 numbers"),
    "too many independent": (lambda c: c.loops(independent=range(13)), "columns must be independent, not 13"),
    "independent columns that are none": (lambda c: c.loops(independent=[*range(9), 99]), "independent"),
    # -- simulations
    "zero step": (lambda c: c.run(1.0, 0.0), "step must be a positive.*0.0"),
    "negative step": (lambda c: c.run(1.0, -0.1), "step must be a positive.*-0.1"),
    "step NaN": (lambda c: c.run(1.0, NAN), "step must be a positive.*nan"),
    "step in words": (lambda c: Stepper(c.chain, c.state, "small"), "step.*small"),
    "negative duration": (lambda c: c.run(-1.0), "duration.*-1.0"),
    "duration NaN": (lambda c: c.run(NAN), "duration.*nan"),
    "endless": (lambda c: c.run(INF), "duration.*inf"),
    "unknown integrator": (lambda c: c.run(1.0, integrator="verlet"), "'verlet'.*rkmk4"),
    "no integrator": (lambda c: c.run(1.0, integrator=None), "None.*rkmk4"),
    "an open loop": (
        lambda c: [c.connect("rail", "world", name="far", to=Pose(position=(9, 0, 0))), c.run(1.0)],
        "far is open by 9"),
    "an event that is none": (lambda c: c.run(1.0, events=["cut"]), "'cut'"),
    "an event at NaN": (lambda c: Cut(NAN, c.grip), "grip.*nan"),
    "an event at no time": (lambda c: Connect(None, "arm", "seat"), "arm seat.*None"),
    "an event in words": (lambda c: Cut("soon", c.grip), "grip.*'soon'"),
    "an event on a number": (lambda c: Cut(1.0, 5), "Cut: 5 is not a link"),
    "an event with a bad joint": (lambda c: Connect(1.0, "arm", "seat", joint="ball"), "arm seat.*'ball'"),
    "an event with a bad place": (lambda c: Connect(1.0, "arm", "seat", at=(0, 0, 0)), "arm seat.*Pose"),
    "an event on an unknown link": (lambda c: c.run(1.0, events=[Cut(0.01, "ghost")]), "'ghost'"),
    "a reaction NaN": (lambda c: Reaction(c.grip, above=NAN), "Reaction grip.*nan"),
    "a negative reaction": (lambda c: Reaction(c.grip, above=10.0, moment=-1.0), "Reaction grip.*-1.0"),
    "a reaction of a link": (
        lambda c: c.run(1.0, events=[Cut(Reaction("arm", 1.0), "arm")]), "arm is not a connection"),
    "a range NaN": (lambda c: Travel("rail", NAN, 1.0), "Travel rail.*nan"),
    "a range upside down": (lambda c: Travel("rail", 1.0, -1.0), "Travel rail.*1.0 to -1.0"),
    "travel of a ball joint": (
        lambda c: c.run(1.0, events=[Cut(Travel("arm", 0, 1), "arm")]), "arm has a spherical joint"),
    "an instant that was not recorded": (lambda c: c.run(0.0).state(5), "instant 5"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", BAD)
def test_wrong_input_is_named(case, wrong):
    """And nothing but the wrong thing is refused: afterwards the chain and a new state of it work."""
    act, says = BAD[wrong]
    with pytest.raises(ValueError, match=re.compile(says, re.DOTALL)) as caught:
        act(case)
    assert type(caught.value) is ValueError, "numpy's own error came through"
    check_pointers(case.chain)
    for grip in case.chain.connections:
        case.chain.cut(grip)
    assert np.isfinite(dynamics.forward_dynamics(case.chain, case.chain.state()).qdd).all()
    assert len(simulate(case.chain, case.chain.state(), 0.02, 0.01)) == 3


ELSEWHERE = {
    "tau NaN in a run": (lambda c: c.run(0.1, tau=np.full(16, NAN)), "tau is not finite"),
    "tau of a wrong size in a run": (lambda c: c.run(0.1, tau=[1.0]), "tau must be 16"),
    "wrench NaN in a run": (lambda c: c.run(0.1, wrenches={"arm": number(NAN)}), "wrench on arm"),
    "wrench on a grip in a run": (lambda c: c.run(0.1, wrenches={"grip": number(1)}), "grip.*virtual"),
    "duration in words": (lambda c: c.run("long"), "duration.*long"),
    "no duration": (lambda c: c.run(None), "duration.*None"),
    "no state in a run": (lambda c: simulate(c.chain, None, 1.0), "state.*None"),
    "no events": (lambda c: c.run(1.0, events=None), "events.*None"),
    "no mass": (lambda c: Inertia(None), "mass.*None"),
    "actuators that are none": (lambda c: c.loops(actuated=[99]), "99"),
    "weights that are none": (
        lambda c: c.inverse(np.zeros(16), actuated=[0, 1], weights=[0.0, 1.0]), "weight"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("wrong", ELSEWHERE)
def test_wrong_input_elsewhere(case, wrong):
    act, says = ELSEWHERE[wrong]
    with pytest.raises(ValueError, match=re.compile(says, re.DOTALL)):
        act(case)


# -- cycles ------------------------------------------------------------------------------------------------------------


def test_the_description_cannot_make_a_cycle(case):
    """A link's parent is in the chain before it, and only cut() changes it: to the world. Loops are virtual links."""
    chain, state = case.chain, case.state
    with pytest.raises(ValueError, match="'ouroboros'"):
        chain.add("ouroboros", "ouroboros")
    for first, second in (("arm", "rail"), ("rail", "arm"), ("seat", "arm"), ("arm", "seat")):
        chain.connect(first, second, Joint.spherical(), state=state)
    check_pointers(chain)
    for link in [*chain.links, *chain.connections]:
        line = [link]
        while line[-1] is not chain.world:
            line.append(line[-1].parent)
            assert len(line) <= 1 + len(chain.links) + 1
    assert [link.parent.name for link in chain.links] == ["world", "seat", "seat", "world"]


def test_a_cycle_made_by_hand_is_found(case):
    seat, arm = case.seat, case.arm
    seat.take_off()
    seat.hang_on(arm)
    with pytest.raises(ValueError, match="do not reach every link"):
        check_pointers(case.chain)
