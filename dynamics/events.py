# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in mid-run: connections, cuts and pushes, at a time or when a condition comes true."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .chain import Link
from .joint import PRISMATIC, REVOLUTE, Joint
from .pose import Pose, check_vector


@dataclass(eq=False)
class Connect:
    """Join two links at `time`; can itself be named as what a later Cut opens."""

    time: float
    first: Any
    second: Any
    joint: Joint = field(default_factory=Joint.fixed)
    at: Pose = field(default_factory=Pose)
    to: Pose | None = None
    name: str | None = None
    ease: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    link: Link | None = field(default=None, init=False)  # the virtual link, once it exists

    def __post_init__(self):
        _need_time(self.time, self)
        _need_end(self.first, self)
        _need_end(self.second, self)
        for value, kind in ((self.joint, Joint), (self.at, Pose), (Pose() if self.to is None else self.to, Pose)):
            if not isinstance(value, kind):
                raise ValueError(f"{_named(self)}: expected a {kind.__name__}, not {value!r}")

    def apply(self, chain, state):
        self.link = chain.connect(
            self.first, self.second, self.joint, self.at, self.to, state, self.name,
            self.ease, self.stiffness, self.damping,
        )  # fmt: skip
        return self.link


@dataclass(eq=False)
class Cut:
    """Open a connection or cut a tree joint, at a time or when a condition comes true.

    when     seconds, or Reaction(...), Travel(...), or a function of the state that turns from negative to positive
    target   a link, a virtual link, a name, or the Connect that will have made it
    """

    when: Any
    target: Any

    def __post_init__(self):
        _need_end(self.target, self, Connect)
        if not hasattr(self.when, "measure") and not callable(self.when):
            _need_time(self.when, self)

    @property
    def time(self):
        return float(self.when) if isinstance(self.when, int | float | np.number) else None

    def apply(self, chain, state):
        if self.link is None:
            raise ValueError(f"{_named(self)}: what it opens does not exist yet")
        link = chain.find(self.link)
        chain.cut(link, state)
        return link

    @property
    def link(self):
        return self.target.link if isinstance(self.target, Connect) else self.target


@dataclass(eq=False)
class Act:
    """Change what acts in joints at `time`: {link: Driven, Keyed or None for limp}. Pose and velocity go on as they
    are.
    """

    time: float
    muscles: dict

    link = None

    def apply(self, chain, state):
        for link, muscle in self.muscles.items():
            acting = chain.find(link).acting
            chain.act(link, muscle, acting.impedance, acting.limit)


@dataclass(eq=False)
class Push:
    """Strike a link at `time`: velocities jump, connections hold, poses stay.

    impulse, moment   N s, N m s, world axes
    at                the point that is struck, in the link's frame
    """

    time: float
    target: Any
    impulse: Any
    at: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)

    def __post_init__(self):
        _need_time(self.time, self)
        _need_end(self.target, self)
        for name in ("impulse", "at", "moment"):
            setattr(self, name, check_vector(getattr(self, name), 3, f"{_named(self)}: {name}"))

    @property
    def link(self):
        return self.target


@dataclass(eq=False)
class Reaction:
    """True when a connection has to hold with more than `above` newtons (and `moment` newton metres, if given)."""

    grip: Any
    above: float
    moment: float | None = None

    def __post_init__(self):
        _need_end(self.grip, self, Connect)
        for limit in (self.above, 0.0 if self.moment is None else self.moment):
            if not isinstance(limit, int | float | np.number) or not limit >= 0.0:
                raise ValueError(f"{_named(self)}: a limit must be a number that is not negative, not {limit!r}")

    def measure(self, chain, state, reaction):
        """Negative while the condition is false."""
        grip = chain.find(_linked(self.grip))
        wrench = reaction.get(grip)
        if wrench is None:
            raise ValueError(f"{grip.name} is not a connection, so it has no reaction")
        excess = np.linalg.norm(wrench[3:]) - self.above
        return excess if self.moment is None else max(excess, np.linalg.norm(wrench[:3]) - self.moment)


@dataclass(eq=False)
class Travel:
    """True when a one-axis joint (of the tree or of a connection) leaves the range from lower to upper (m or rad)."""

    joint: Any
    lower: float
    upper: float

    def __post_init__(self):
        _need_end(self.joint, self, Connect)
        numbers = all(isinstance(limit, int | float | np.number) for limit in (self.lower, self.upper))
        if not numbers or not self.lower <= self.upper:
            raise ValueError(f"{_named(self)}: there is no range from {self.lower!r} to {self.upper!r}")

    def measure(self, chain, state, reaction):
        link = chain.find(_linked(self.joint))
        if link.joint.kind not in (REVOLUTE, PRISMATIC):
            raise ValueError(f"{link.name} has a {link.joint.name} joint; Travel watches revolute and prismatic joints")
        if link.real is None:
            value = state.coordinates(link)[0][0]
        else:
            relative = state.joint_pose(link)
            axis = np.asarray(link.joint.axis)
            if link.joint.kind == PRISMATIC:
                value = relative.position @ axis
            else:
                value = 2.0 * np.arctan2(relative.rotation[1:] @ axis, relative.rotation[0])
                value = (value + np.pi) % (2.0 * np.pi) - np.pi
        return max(self.lower - value, value - self.upper)


def _linked(target):
    return target.link if isinstance(target, Connect) else target


def _need_time(time, event):
    if not isinstance(time, int | float | np.number) or not np.isfinite(time):
        raise ValueError(f"{_named(event)}: {time!r} is not a time in seconds")


def _need_end(end, event, *more):
    if not isinstance(end, (Link, str, *more)):
        raise ValueError(f"{_named(event)}: {end!r} is not a link")


def _named(event):
    """An event or condition in a message: what it is and which links it names."""
    ends = [getattr(event, name, None) for name in ("first", "second", "target", "grip", "joint")]
    names = [end if isinstance(end, str) else end.name for end in ends if isinstance(end, Link | str | Connect)]
    return " ".join([type(event).__name__, *(str(name) for name in names)])


def measure(when, chain, state, reaction):
    """How far a condition is from coming true: negative before, positive after."""
    if hasattr(when, "measure"):
        watched = _linked(getattr(when, "grip", getattr(when, "joint", None)))
        if watched not in chain:
            return -np.inf  # the connection does not exist yet, or no more
        return when.measure(chain, state, reaction)
    return float(when(state))
