# SPDX-License-Identifier: GPL-3.0-or-later
"""Any calls in any order, sensible or not: nothing but ValueError comes back, and the chain stays whole and usable.

Hypothesis looks for the sequence that nobody thought of, and shrinks what it finds to a few lines.
"""

import os
import warnings

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

import dynamics
from dynamics import Chain, Connect, Cut, Inertia, Joint, Pose, Reaction, SimulationDiverged, Travel, simulate
from dynamics.chain import check_pointers

NAN, INF = float("nan"), float("inf")
NOTHING = multiple()  # what a rule adds to its bundle when the call was refused

odd = st.sampled_from([NAN, INF, -INF, 1e300, -1.0, 0.0, 1e-300, None, "x", (), [1.0]])
numbers = st.floats(-2.0, 2.0)
scalars = numbers | odd
names = st.sampled_from(["a", "b", "c", "world", "a~b", "", "nobody"])


def vectors(size):
    usual = st.lists(numbers, min_size=size, max_size=size)
    return usual | st.lists(scalars, min_size=size, max_size=size) | st.lists(numbers, max_size=7) | odd


def made(build, *arguments):
    """Things whose making may be refused; then None, which must be refused in its place."""

    def attempt(parts):
        try:
            return build(*parts)
        except ValueError:
            return None

    return st.tuples(*arguments).map(attempt)


usual_vectors = st.lists(numbers, min_size=3, max_size=3)
joints = st.one_of(
    st.sampled_from([None, Joint.fixed(), Joint.spherical(), Joint.free(), "hinge"]),
    *(made(kind, usual_vectors) for kind in (Joint.revolute, Joint.prismatic, Joint.cylindrical, Joint.planar)),
)
poses = st.none() | made(Pose, usual_vectors, st.lists(numbers, min_size=4, max_size=4)) | made(Pose, vectors(3))
inertias = st.one_of(
    st.sampled_from([Inertia.box(1.0, (0.1, 0.2, 0.3)), Inertia.box(5.0, (0.3, 0.1, 0.1), (0.1, 0, 0)), None, 1.0]),
    made(lambda mass, com, size: Inertia(mass, com, np.diag(size)), st.floats(-1.0, 5.0), usual_vectors, usual_vectors),
)
motions = st.sampled_from([None, None, None, None, lambda t: Pose(position=(t, 0, 0)), lambda t: t, "x"])


def allowed(call, *arguments, **named):
    """The result, or None if it was refused as it should be; anything but ValueError is a finding."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # numbers of 1e300 overflow on the way to being refused
            return call(*arguments, **named)
    except (ValueError, SimulationDiverged) as error:
        assert str(error), "an error without a word"
        return None


class AnyCalls(RuleBasedStateMachine):
    links = Bundle("links")
    states = Bundle("states")

    @initialize(target=links)
    def start(self):
        self.chain = Chain()
        box = Inertia.box(2.0, (0.1, 0.2, 0.3))
        base = self.chain.add("base", joint=Joint.free(), inertia=box)
        return multiple(self.chain.world, base, self.chain.add("arm", base, Joint.spherical(), inertia=box))

    @rule(target=links, name=names, parent=links | names, joint=joints, at=poses, inertia=inertias, motion=motions)
    def add(self, name, parent, joint, at, inertia, motion):
        return allowed(self.chain.add, name, parent, joint, at, inertia, motion) or NOTHING

    @rule(target=states)
    def state(self):
        return self.chain.state()

    @rule(state=states, link=links | names, part=st.sampled_from(["position", "rotation", "angle", "slide"]),
          value=vectors(3) | vectors(4) | scalars, velocity=vectors(6) | vectors(3) | scalars)  # fmt: skip
    def set(self, state, link, part, value, velocity):
        allowed(state.set, link, **{part: value, "velocity": velocity})

    @rule(state=states, place=st.integers(-1, 40), value=scalars, what=st.sampled_from(["q", "v", "time"]))
    def write(self, state, place, value, what):
        """Straight into what is public: an entry, the time, or arrays of another size."""
        if what == "time":
            state.time = value
        elif place < 0:
            setattr(state, what, np.zeros(7))
        elif isinstance(value, float) and place < len(getattr(state, what)):
            getattr(state, what)[place] = value

    @rule(target=links, first=links | names, second=links | names, joint=joints, at=poses, to=poses,
          state=states | st.none(), softness=scalars)  # fmt: skip
    def connect(self, first, second, joint, at, to, state, softness):
        before = len(self.chain.connections)
        grip = allowed(self.chain.connect, first, second, joint, at, to, state, stiffness=softness)
        assert len(self.chain.connections) == before + (grip is not None)
        return grip or NOTHING

    @rule(first=links, second=links, joint=joints, state=states)
    def connect_where_they_are(self, first, second, joint, state):
        allowed(self.chain.connect, first, second, joint, state=state)

    @rule(link=consumes(links) | names, state=states | st.none())
    def cut(self, link, state):
        before = [link.parent for link in self.chain.links], len(self.chain.connections)
        if allowed(lambda: self.chain.cut(link, state) or True) is None:
            assert before == ([link.parent for link in self.chain.links], len(self.chain.connections)), "half a cut"

    @rule(first=links, second=links | names, at=vectors(3), law=st.tuples(scalars, scalars, scalars))
    def spring(self, first, second, at, law):
        allowed(self.chain.spring, first, second, at, (0, 0, 1), *law)

    @rule(link=links | names, state=states)
    def look(self, link, state):
        for ask in (state.pose, state.twist, state.coordinates, state.joint_pose):
            answer = allowed(ask, link)
            if isinstance(answer, np.ndarray):
                assert np.isfinite(answer).all() or np.abs(state.v).max() > 1e150

    @rule(state=states, tau=vectors(9) | st.none(), link=links | names, wrench=vectors(6))
    def evaluate(self, state, tau, link, wrench):
        allowed(dynamics.forward_dynamics, self.chain, state, tau, {link: wrench})
        allowed(dynamics.inverse_dynamics, self.chain, state, tau)
        allowed(dynamics.impact, self.chain, state)
        allowed(dynamics.closed_loop, self.chain, state)
        allowed(dynamics.mass_matrix, self.chain, state)

    @rule(state=states, step=st.sampled_from([0.01, 0.002]) | scalars, integrator=st.sampled_from(
          ["midpoint", "rkmk4", "semi_implicit", "euler", "leapfrog", None]), first=links | names, second=links | names,
          when=scalars, limit=scalars)  # fmt: skip
    def simulate(self, state, step, integrator, first, second, when, limit):
        if isinstance(step, float) and 0.0 < step < 1e-3:
            return  # 0.02 s in steps of 1e-300 s would take a while
        events = [
            allowed(Connect, when, first, second, Joint.spherical()),
            allowed(Cut, when, first),
            allowed(lambda: Cut(Reaction(first, limit), first)),
            allowed(lambda: Cut(Travel(second, limit, 1.0), second)),
        ]
        allowed(simulate, self.chain, state, 0.02, step, integrator, [event for event in events if event])

    @invariant()
    def pointers_agree(self):
        check_pointers(self.chain)
        check_pointers(self.chain.copy())

    @invariant()
    def usable(self):
        """A new state can always be made and looked at, and the chain can still be changed."""
        state = self.chain.state()
        for link in self.chain.links:
            assert np.isfinite(state.twist(link)).all()
        grip = self.chain.connect("base", self.chain.world, state=state, name="probe")
        self.chain.cut(grip)


AnyCalls.TestCase.settings = settings(
    max_examples=150, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # a change is not to blame for what chance finds on its way in
)  # fmt: skip
test_any_calls = AnyCalls.TestCase
