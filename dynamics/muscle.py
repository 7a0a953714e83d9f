# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts in a joint: muscles, friction, lifted weight and stops. Descriptions only; kernels/acting.py does the work.

A joint without a muscle is limp. The torque of a joint is a vector in the link frame, like its velocity.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .joint import FREE, REVOLUTE, SPHERICAL
from .kernels.stops import HINGE, SWING, TWIST
from .mimic import multipliers
from .pose import check_vector


@dataclass(eq=False)
class Driven:
    """Follows a goal with a spring and a damper.

    goal           joint motion (see motion.JointMotion; Motion for a free root), a function of time, or None: stay here
    stiffness      N m/rad (N/m for slides);  damping   N m s/rad
    limit          N m: never pulls harder; 0 has no limit
    feed_forward   function of time that gives a torque on top, such as FeedForward.of(link), or None
    gain           how much of its strength it uses: a number, or a function of time
    """

    stiffness: float
    damping: float
    goal: Any = None
    limit: float = 0.0
    feed_forward: Any = None
    gain: Any = 1.0

    def __post_init__(self):
        numbers = check_vector((self.stiffness, self.damping, self.limit), 3, "strength of a muscle")
        if (numbers < 0.0).any():
            raise ValueError(f"stiffness, damping and limit of a muscle cannot be negative: {numbers.tolist()}")


@dataclass(eq=False)
class Keyed:
    """The joint moves exactly as its goal, whatever torque that takes."""

    goal: Any


@dataclass(frozen=True)
class Impedance:
    """What a joint feels like (004, first part), the same about each of its axes.

    inertia    kg m^2 added;  viscous   N m s/rad;  coulomb   N m
    lift       share of the weight beyond the joint that is carried for it
    """

    inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    lift: float = 0.0

    def __post_init__(self):
        numbers = check_vector((self.inertia, self.viscous, self.coulomb, self.lift), 4, "impedance")
        if (numbers < 0.0).any() or self.lift > 1.0:
            raise ValueError(f"impedance cannot be negative, nor lift more than the weight: {numbers.tolist()}")


NO_IMPEDANCE = Impedance()  # one for all: structure changes in mid-run make and compare many


@dataclass(frozen=True)
class HingeLimit:
    """A hinge turns from lower to upper (rad). stiffness and damping are those of the stop; 0 chooses firm ones."""

    lower: float
    upper: float
    stiffness: float = 0.0
    damping: float = 0.0
    kinds = (HINGE,)

    def numbers(self):
        _check_range("hinge", self.lower, self.upper)
        return [self.lower, self.upper] + [0.0] * 10


@dataclass(frozen=True)
class BallLimit:
    """A ball joint twists about `axis` within a range, and swings across it within an ellipse through two ranges (rad).

    axis     the bone's direction in the link frame;  across   the axis of the first swing
    swings   ((lower, upper) about `across`, (lower, upper) about axis x across)
    """

    twist: tuple = (-np.pi, np.pi)
    swings: tuple = ((-np.pi, np.pi), (-np.pi, np.pi))
    axis: tuple = (0.0, 1.0, 0.0)
    across: tuple = (1.0, 0.0, 0.0)
    stiffness: float = 0.0
    damping: float = 0.0

    @property
    def kinds(self):
        """Its stops: full turns need none."""
        twists = self.twist[1] - self.twist[0] < 2.0 * np.pi
        swings = min(self.swings[0][1] - self.swings[0][0], self.swings[1][1] - self.swings[1][0]) < 2.0 * np.pi
        return (TWIST,) * twists + (SWING,) * swings

    def numbers(self):
        for name, (lower, upper) in (("twist", self.twist), ("swing", self.swings[0]), ("swing", self.swings[1])):
            _check_range(name, lower, upper)
        return [*self.twist, *self.swings[0], *self.swings[1], *self.axis, *self.across]


def _check_range(name, lower, upper):
    if not (np.isfinite(lower) and np.isfinite(upper) and lower <= 0.0 <= upper):
        raise ValueError(f"the range of a {name} must go from a number below zero to one above, not {lower} to {upper}")


@dataclass(eq=False)
class Acting:
    """All that acts in one joint; kept with its link."""

    muscle: Any = None
    impedance: Impedance = NO_IMPEDANCE
    limit: Any = None

    def check(self, link):
        """Raise if it does not fit the link's joint."""
        kind, name = link.joint.kind, link.name
        if self.muscle is not None and not isinstance(self.muscle, Driven | Keyed):
            raise ValueError(f"link {name}: {self.muscle!r} is neither Driven nor Keyed")
        if self.muscle is not None and link.joint.freedoms == 0:
            raise ValueError(f"link {name}: a fixed joint has no place for a muscle")
        if isinstance(self.limit, HingeLimit) and kind != REVOLUTE:
            raise ValueError(f"link {name}: a hinge limit does not fit its {link.joint.name} joint")
        if isinstance(self.limit, BallLimit) and kind != SPHERICAL:
            raise ValueError(f"link {name}: a ball limit does not fit its {link.joint.name} joint")
        if self.limit is not None:
            self.limit.numbers()
        return self

    @property
    def is_idle(self):
        return not isinstance(self.muscle, Driven) and self.impedance == NO_IMPEDANCE and self.limit is None


def natural(chain, state, link, frequency, damping_ratio=1.0):
    """Stiffness and damping that make a joint swing about its goal at a frequency (Hz), whatever it has to move.

    Taken from the inertia of everything beyond the joint in the present pose, so that the same numbers suit a finger
    and a hip. A free root gets them for its mass. A joint that others mimic moves them too.
    """
    from .forward import mass_matrix

    place, state = state.places(link)[1], state.copy()
    if any(isinstance(other.acting.muscle, Keyed) for other in chain.links):
        # keyed joints have no place in the mass matrix
        state.chain = chain = chain.copy()
        for other in chain.links:
            chain.act(other)
    G = multipliers(chain).matrix
    felt = np.diag(G.T @ mass_matrix(chain, state) @ G)
    # a mimic joint feels what its leader feels, through the factor
    inertia = felt[np.abs(G[place]).argmax(axis=1)] / np.square(G[place]).sum(axis=1)
    weight = float(inertia[3:].mean() if chain.find(link).joint.kind == FREE else inertia.mean())
    rate = 2.0 * np.pi * frequency
    return weight * rate**2, 2.0 * damping_ratio * weight * rate
