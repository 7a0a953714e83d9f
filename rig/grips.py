# SPDX-License-Identifier: GPL-3.0-or-later
"""From grip Empties to what they do in a chain: connections at the start, events that take hold and let go later.

The Empty's axes are the joint's axes. Its place in what takes hold is fixed: the Empty is usually parented to it; if it
is not, the place in the source motion at the moment of the grab counts.
"""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Connect, Cut, Joint, Reaction, Travel
from .anchors import Place
from .errors import RigError
from .intervals import intervals, is_muted

Z = (0.0, 0.0, 1.0)
JOINTS = {
    "BALL": Joint.spherical(), "FIXED": Joint.fixed(), "HINGE": Joint.revolute(Z), "SLIDER": Joint.prismatic(Z),
    "CYLINDER": Joint.cylindrical(Z), "PLANE": Joint.planar(Z)}


@dataclass
class End:
    """What one end of a grip is tied to."""

    place: Place | None = None  # what it is a part of and moves with; None for the world
    moves: bool = False  # whether physics can move that
    given: bool = False  # whether it moves as keyed


@dataclass
class Hold:
    """One time that a grip holds."""

    grip: object  # the Empty
    name: str  # of the connection in the chain
    start: float  # scene frames
    end: float
    first: End
    second: End

    @property
    def joint(self):
        return JOINTS[self.grip.trapeze.grip.joint]

    def wanted(self, first_frame):
        """{place: frame} of what must be known of the source: where the grip is when it is made, and what it joins."""
        frame = max(self.start, float(first_frame))
        places = [Place(self.grip), self.first.place, self.second.place]
        return {place: frame for place in places if place is not None}

    def frames(self, poses, first_frame):
        """The joint frame in either end, as the source has it."""
        seen = {place: poses[place][frame] for place, frame in self.wanted(first_frame).items()}
        here = seen[Place(self.grip)]
        return [seen[end.place].inverse() @ here if end.place else here for end in (self.first, self.second)]


def read_holds(scene, owners, frames, find_end):
    """All times that the given grips hold during the frames, and warnings.

    find_end(object, bone, grip)   the End that a setting means
    """
    holds, warnings = [], []
    for grip in owners:
        numbered = enumerate(intervals(scene, grip, frames), start=1)
        spans = {
            f"{grip.name}#{number}": (start, end) for number, (start, end) in numbered
            if start < frames[-1] and end > frames[0]}
        if is_muted(grip):
            warnings.append(f"The keys of {grip.name} are muted: it {'holds all the time' if spans else 'never holds'}")
        if spans:
            ends = _ends(grip, grip.trapeze.grip, find_end)
            holds += [Hold(grip, name, *span, *ends) for name, span in spans.items()]
    return holds, warnings


def _ends(grip, settings, find_end):
    if settings.first_object is None:
        raise RigError(f"{grip.name} has nothing that takes hold; choose its first object, or delete the grip")
    if settings.second_object is None and not settings.use_world:
        raise RigError(f"{grip.name} has no target; choose its second object, or let it hold on to the world")
    first = find_end(settings.first_object, settings.first_bone, grip)
    second = End() if settings.use_world else find_end(settings.second_object, settings.second_bone, grip)
    if first.place is not None and first.place == second.place:
        raise RigError(f"Both ends of {grip.name} are {first.place}; a grip joins two different things")
    if not (first.moves or second.moves):
        raise RigError(f"Neither end of {grip.name} can move; make one of them a figure or a dynamic prop")
    return first, second


def hold(chain, state, holds, links, poses, first_frame, clock, metre, kept=()):
    """Make the connections that hold at the start; returns the events of all others, and of letting go.

    links {place: link}, poses {place: {frame: Pose}} of the source, clock(frame) in seconds
    kept   names of connections that the chain has already, since it goes on from an earlier run
    """
    cuts, connects, conditions = [], [], []
    for one in holds:
        settings = one.grip.trapeze.grip
        at, to = one.frames(poses, first_frame)
        ends = [links[end.place] if end.place else chain.world for end in (one.first, one.second)]
        law = {"joint": one.joint, "at": at, "name": one.name}
        if settings.hold == "SOFT":
            law |= {"stiffness": settings.stiffness, "damping": settings.damping}
        if one.start > first_frame:
            if settings.close_frames > 0.0:
                law |= {"to": to, "ease": clock(settings.close_frames)}
            grip = Connect(clock(one.start), *ends, **law)
            connects.append(grip)
        elif one.name in kept:
            grip = chain[one.name]
        else:
            grip = chain.connect(*ends, state=state, **law)
        if np.isfinite(one.end):
            cuts.append(Release(clock(one.end), grip))
        if settings.break_force > 0.0:
            conditions.append(Cut(Reaction(grip, above=settings.break_force), grip))
        if settings.use_travel and settings.joint in ("SLIDER", "CYLINDER"):
            conditions.append(Cut(Slide(grip, settings.travel_lower * metre, settings.travel_upper * metre), grip))
    # at the same moment in this order: what is let go of does not feel the jolt of what is taken hold of
    return [*cuts, *connects, *conditions]


class Release(Cut):
    """Let go at a time, unless the grip broke before."""

    def apply(self, chain, state):
        return super().apply(chain, state) if self.link is not None and self.link in chain else None


class Slide(Travel):
    """True when a grip slides along its axis out of its range, whether it can turn about it or not."""

    def measure(self, chain, state, reaction):
        link = self.joint.link if isinstance(self.joint, Connect) else self.joint
        slide = state.joint_pose(link).position[2]
        return max(self.lower - slide, slide - self.upper)
