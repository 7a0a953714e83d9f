# SPDX-License-Identifier: GPL-3.0-or-later
"""The editable description of a chain: links with parent, child, brother and real pointers (000 §IV), and its two
structure changes, connect and cut (000 §V).
"""

from dataclasses import replace
from itertools import count

import numpy as np

from .inertia import Inertia
from .joint import LOOP_ROWS, Joint
from .mimic import check_mimic
from .muscle import NO_IMPEDANCE, Acting, Keyed
from .pose import Pose, check_vector

SOFT_ARM = 0.1  # m: a soft grip resists turning like its springs at this distance, about the width of a hand

_fresh = count(1).__next__  # keys of links and stamps of structures, never used twice


class Link:
    """A rigid body and the joint to its parent; or, with `real` set, a virtual link that closes a loop.

    parent, child, brother   the tree: child is the first link hung on this one, brother the next with the same parent
    joint, at                the joint, and its frame in the parent's frame
    inertia                  mass properties; a virtual link has none
    motion                   for a link that moves as given over time: its Motion
    real, anchor             of a virtual link: the link it is a copy of, and the joint frame in that link's frame
    ease                     of a virtual link: when its joint frames began to be pulled together (s), how long that
                             takes (s), and how far its rows were open then
    acting                   what acts in the joint
    follows                  of a mimic joint: the link whose joint it follows, the factor and the offset; else None
    spring                   of a virtual link: stiffness (N/m) and damping (N s/m), or None if it holds exactly
    """

    __slots__ = (
        "acting", "anchor", "at", "brother", "child", "ease", "follows", "index", "inertia", "joint", "key", "motion",
        "name", "parent", "real", "spring",
    )  # fmt: skip

    def __init__(self, name, joint, at, inertia=None, motion=None, real=None, anchor=None, key=None):
        self.name, self.joint, self.at, self.inertia, self.motion = name, joint, at, inertia, motion
        self.real, self.anchor = real, anchor
        self.acting, self.follows = Acting(), None
        self.ease, self.spring = (0.0, 0.0, np.zeros(len(LOOP_ROWS[joint.kind]))), None
        self.parent = self.child = self.brother = None
        self.index = -1
        self.key = _fresh() if key is None else key

    # A link keeps its identity in copies of its chain, so that one made before a simulation can be used on its result.
    def __eq__(self, other):
        return isinstance(other, Link) and self.key == other.key

    def __hash__(self):
        return self.key

    def __repr__(self):
        return f"<{'virtual link' if self.real else 'link'} {self.name}>"

    @property
    def given(self):
        """The motion that the joint must follow exactly, or None: of an anchor, of a keyed joint, or of one that mimics
        a keyed joint.
        """
        if self.follows is not None:
            from .motion import Followed

            leader, factor, offset = self.leader()
            return None if leader.given is None else Followed(leader.given, factor, offset)
        return self.acting.muscle.goal if isinstance(self.acting.muscle, Keyed) else self.motion

    def leader(self):
        """The link that a mimic joint follows in the end, the factor and the offset: mimics of mimics are resolved."""
        leader, factor, offset = self.follows
        while leader.follows is not None:
            leader, more, shift = leader.follows
            factor, offset = factor * more, factor * shift + offset
        return leader, factor, offset

    def softness(self, axis):
        """Stiffness and damping of one row: along a line as given, about an axis as of springs SOFT_ARM away from it.
        """
        if self.spring is None:
            return 0.0, 0.0
        return self.spring if axis >= 3 else (self.spring[0] * SOFT_ARM**2, self.spring[1] * SOFT_ARM**2)

    def hang_on(self, parent):
        """Become the first child of `parent`."""
        self.parent, self.brother, parent.child = parent, parent.child, self

    def take_off(self):
        """Leave the parent's list of children."""
        if self.parent.child is self:
            self.parent.child = self.brother
        else:
            link = self.parent.child
            while link.brother is not self:
                link = link.brother
            link.brother = self.brother
        self.parent = self.brother = None

    def children(self):
        link = self.child
        while link is not None:
            yield link
            link = link.brother


class Spring:
    """A line spring between points of two links: pull = stiffness (length - rest) + damping * rate."""

    __slots__ = ("at", "damping", "first", "rest", "second", "stiffness", "to")

    def __init__(self, first, second, at, to, stiffness, rest, damping):
        self.first, self.second, self.at, self.to = first, second, at, to
        self.stiffness, self.rest, self.damping = stiffness, rest, damping


class Chain:
    """Everything that is simulated together: the world, figures, props, and the connections between them."""

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = check_vector(gravity, 3, "gravity")
        self.world = Link("world", Joint.fixed(), Pose(), Inertia(), key=0)
        self.links = []
        self.connections = []
        self.springs = []
        self._names = {"world": self.world}
        self._keys = {0: self.world}
        self._touch_tree()

    # -- description --------------------------------------------------------------------------------------------------

    def add(self, name, parent=None, joint=None, at=None, inertia=None, motion=None):
        """Add a link on `parent` (the world if none). `at` is the joint frame in the parent's frame.

        motion   makes the link move as given over time (see dynamics.motion); it then hangs on the world by a free
                 joint.
        """
        self._claim(name)
        joint = Joint.fixed() if joint is None else joint
        at = Pose() if at is None else at
        inertia = Inertia() if inertia is None else inertia
        for value, kind in ((joint, Joint), (at, Pose), (inertia, Inertia)):
            if not isinstance(value, kind):
                raise ValueError(f"link {name}: expected a {kind.__name__}, not {value!r}")
        parent = self.world if parent is None else self._real(parent)
        if motion is not None:
            from .motion import as_motion

            if parent is not self.world or joint != Joint.free():
                raise ValueError(f"link {name}: a link with a motion of its own hangs on the world by a free joint")
            motion = as_motion(motion, name)
        link = Link(name, joint, at, inertia, motion)
        link.index = len(self.links)
        self.links.append(link)
        self._names[name] = self._keys[link.key] = link
        link.hang_on(parent)
        self._touch_tree()
        return link

    def spring(self, first, second, at=(0, 0, 0), to=(0, 0, 0), stiffness=0.0, rest=0.0, damping=0.0):
        """Put a line spring between the point `at` of the first link and the point `to` of the second."""
        first, second = self._real(first), self._real(second)
        if first == second:
            raise ValueError(f"a spring cannot join link {first.name} with itself")
        law = check_vector((stiffness, rest, damping), 3, f"spring between {first.name} and {second.name}")
        if (law < 0).any():
            raise ValueError(f"spring between {first.name} and {second.name}: {law.tolist()} has a negative number")
        ends = [check_vector(point, 3, f"spring end on {end.name}") for end, point in ((first, at), (second, to))]
        self.springs.append(Spring(first, second, *ends, *law.tolist()))
        self._touch()
        return self.springs[-1]

    def act(self, link, muscle=None, impedance=None, limit=None):
        """Say what acts in the joint of a link: a muscle (Driven, Keyed or None for limp), friction, a stop.

        Replaces what acted there. A muscle without a goal gets its place when a simulation starts.
        """
        link = self._real(link)
        if muscle is not None and muscle.goal is not None:
            from .motion import as_goal

            muscle = replace(muscle, goal=as_goal(muscle.goal, link))
        acting = Acting(muscle, NO_IMPEDANCE if impedance is None else impedance, limit).check(link)
        if isinstance(muscle, Keyed) and link.motion is not None:
            raise ValueError(f"link {link.name} has a motion of its own already")
        if isinstance(muscle, Keyed) and link.follows is not None:
            leader = link.follows[0].name
            raise ValueError(f"link {link.name} follows {leader} and cannot be keyed: key {leader} instead")
        link.acting = acting
        self._touch()
        self.compiled_tree = None

    def mimic(self, link, of=None, factor=1.0, offset=0.0):
        """Let the joint of a link follow that of another: q = factor * q of the other + offset (003 (15)).

        Both have one axis; units are those of the two joints (rad, m). What acts in the joint goes on acting, through
        its leader. `of` may itself follow a third. None lets the joint go again.
        """
        link = self._real(link)
        if of is None:
            link.follows = None
        else:
            of = self._real(of)
            check_mimic(link, of, factor, offset)
            link.follows = of, float(factor), float(offset)
        self._touch()
        self.compiled_tree = None

    def state(self):
        """The reference pose at rest."""
        from .state import State

        return State.at_rest(self)

    # -- structure changes --------------------------------------------------------------------------------------------

    def connect(
        self, first, second, joint=None, at=None, to=None, state=None, name=None, ease=0.0, stiffness=0.0, damping=0.0
    ):
        """Join two links by a virtual link (000 §V-B): a copy of the first, hung on the second by the new joint.

        at     joint frame in the first link's frame
        to     joint frame in the second link's frame; left out, it is where `at` is now in `state`
        ease   s: pull the two joint frames together over this time, from where they are in `state`
        stiffness, damping   N/m, N s/m: hold by a spring and a damper instead of exactly
        """
        first, second = self._real(first), self._real(second)
        joint = Joint.fixed() if joint is None else joint
        at = Pose() if at is None else at
        if first is second:
            raise ValueError(f"cannot connect link {first.name} with itself")
        label = f"connection of {first.name} and {second.name}"
        for value, kind in ((joint, Joint), (at, Pose), (Pose() if to is None else to, Pose)):
            if not isinstance(value, kind):
                raise ValueError(f"{label}: expected a {kind.__name__}, not {value!r}")
        if state is not None:
            self._own(state)
        if to is None:
            if state is None:
                raise ValueError(f"connecting {first.name} with {second.name}: give `to` or the state to take it from")
            to = state.pose(second).inverse() @ state.pose(first) @ at
        ease, stiffness, damping = check_vector((ease, stiffness, damping), 3, f"ease and softness of the {label}")
        if min(ease, stiffness, damping) < 0.0:
            raise ValueError(f"{label}: ease, stiffness and damping cannot be negative")
        if ease > 0.0 and state is None:
            raise ValueError(f"{label}: easing starts from a state; give it")
        if name is None:
            name = self._unused(f"{first.name}~{second.name}")
        self._claim(name)
        grip = Link(name, joint, to, real=first, anchor=at)
        if stiffness > 0.0 or damping > 0.0:
            grip.spring = float(stiffness), float(damping)
        if ease > 0.0:
            grip.ease = state.time, float(ease), state.opening(grip, second)
        grip.hang_on(second)
        self.connections.append(grip)
        self._names[name] = self._keys[grip.key] = grip
        self._touch()
        return grip

    def cut(self, link, state=None):
        """Open a connection, or cut a tree joint: the link then hangs on the world by a free joint (000 Fig. 15).

        A given state is carried over: every link keeps its pose and its twist.
        """
        link = self.find(link)
        if link is self.world:
            raise ValueError("the world cannot be cut off")
        if link.real is not None:
            link.take_off()
            self.connections = [grip for grip in self.connections if grip is not link]
            del self._names[link.name], self._keys[link.key]
            self._touch()
            return
        if link.given is not None:
            raise ValueError(f"link {link.name} moves as given; there is no joint to cut")
        if link.parent is self.world and link.joint == Joint.free():
            raise ValueError(f"link {link.name} is free already; there is no joint to cut")
        if state is not None:
            self._own(state)
        moving = None if state is None else (state.pose(link), state.twist(link))
        kept = None if state is None else {other: state.coordinates(other) for other in self.links if other is not link}
        link.take_off()
        link.joint, link.at, link.acting, link.follows = Joint.free(), Pose(), Acting(), None
        for other in self.links:
            if other.follows is not None and other.follows[0] is link:
                other.follows = None  # there is no joint left to follow
        link.hang_on(self.world)
        self._touch_tree()
        if state is not None:
            state.rebuild(self, kept, link, *moving)

    # -- looking up ---------------------------------------------------------------------------------------------------

    def find(self, link):
        """This chain's own link for a link of it or of a copy, or for a name."""
        if isinstance(link, str):
            found = self._names.get(link)
            if found is None:
                raise ValueError(f"there is no link named {link!r} in the chain")
            return found
        if not isinstance(link, Link):
            raise ValueError(f"{link!r} is not a link")
        found = self._keys.get(link.key)
        if found is None:
            raise ValueError(f"{link!r} is not in the chain: it was cut, or belongs to another chain")
        return found

    __getitem__ = find

    def __contains__(self, link):
        return link in self._names if isinstance(link, str) else isinstance(link, Link) and link.key in self._keys

    def copy(self):
        """The same chain with links of its own; keys, names and order are kept."""
        other = Chain(self.gravity)
        twins = {0: other.world}
        for link in self.links + self.connections:
            twin = Link(link.name, link.joint, link.at, link.inertia, link.motion, None, link.anchor, link.key)
            twin.index, twin.ease, twin.spring, twin.acting = link.index, link.ease, link.spring, link.acting
            twins[link.key] = other._names[link.name] = other._keys[link.key] = twin
        for link in [self.world, *self.links, *self.connections]:
            twin = twins[link.key]
            for field in ("parent", "child", "brother", "real"):
                target = getattr(link, field)
                setattr(twin, field, None if target is None else twins[target.key])
            if link.follows is not None:
                twin.follows = (twins[link.follows[0].key], *link.follows[1:])
        other.links = [twins[link.key] for link in self.links]
        other.connections = [twins[link.key] for link in self.connections]
        other.springs = [
            Spring(twins[s.first.key], twins[s.second.key], s.at, s.to, s.stiffness, s.rest, s.damping)
            for s in self.springs
        ]
        # the same structure has the same stamps, so that states and compiled trees fit the copy
        other.stamp, other.tree_stamp, other.compiled_tree = self.stamp, self.tree_stamp, self.compiled_tree
        return other

    def _real(self, link):
        link = self.find(link)
        if link.real is not None:
            raise ValueError(f"{link.name} is a virtual link; use its real link {link.real.name}")
        return link

    def _own(self, state):
        """Raise unless it is a state that fits this chain."""
        from .state import need_state

        need_state(state, self)

    def _claim(self, name):
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a link must be a text, not {name!r}")
        if name in self._names:
            raise ValueError(f"there is a link named {name!r} already")

    def _unused(self, name):
        if name not in self._names:
            return name
        return next(f"{name}.{k}" for k in count(2) if f"{name}.{k}" not in self._names)

    def _touch(self):
        """The structure has changed: compiled data no longer fits."""
        self.stamp = _fresh()
        self.compiled = None

    def _touch_tree(self):
        """The spanning tree has changed: states no longer fit either."""
        self._touch()
        self.tree_stamp = self.stamp
        self.compiled_tree = None


def check_pointers(chain):
    """Raise if any pointer of the description contradicts another (used by tests and after structure changes)."""
    reached = []
    stack = [chain.world]
    while stack:
        link = stack.pop()
        for child in link.children():
            if child.parent is not link:
                raise ValueError(f"link {child.name} is a child of {link.name} but points to another parent")
            reached.append(child)
            stack.append(child)
    if len(reached) != len(set(reached)) or set(reached) != {*chain.links, *chain.connections}:
        raise ValueError("the pointers do not reach every link exactly once")
    for link in reached:
        if (link.real is not None) != (link in chain.connections):
            raise ValueError(f"link {link.name}: real pointer and list of connections disagree")
        if link.real is not None and (link.child is not None or chain.find(link.real) is not link.real):
            raise ValueError(f"virtual link {link.name} has children or a real link that is not in the chain")


def total_mass(chain):
    return float(np.sum([link.inertia.mass for link in chain.links]))
