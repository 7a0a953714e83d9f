# SPDX-License-Identifier: GPL-3.0-or-later
"""From the settings of bones over time to what acts in their joints: stops, friction, muscles, and their changes.

Limp figures are not looked at frame by frame. Where a bone is driven or keyed, or may become so by keys of its
settings, the source is stepped through once: it gives the goals, and the settings as they are at each frame. A new
mode, damping ratio or torque limit takes effect at its frame. A strength that changes over time does so smoothly: the
muscle has the stiffness and damping of its greatest strength, and a gain with the square of the share of it. Where a
driven bone feeds forward, all figures are looked at, since the torques depend on everything that moves.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..dynamics import Act, Driven, Impedance, Keyed
from .anchors import Place, showing
from .errors import RigError
from .feed_forward import source_torques
from .goals import Watched, goal_frames
from .sample import Source, frame_kept, go_to
from .stops import impedance, stop
from .weights import felt_weight, held_links

LIMP, DRIVEN, KEYED = "LIMP", "DRIVEN", "KEYED"
BONE = (
    "trapeze_muscle", "trapeze_strength", "trapeze_damping_ratio", "trapeze_torque_limit", "trapeze_use_feed_forward")
ROOT = ("root", "root_strength")
NAMED = 4  # bones in a sentence


@dataclass
class Setting:
    """A value that may change from frame to frame."""

    owner: object  # pose bone or settings of the figure
    name: str
    animated: bool
    values: list

    @classmethod
    def of(cls, source, owner, name):
        return cls(owner, name, source.animated(owner.path_from_id(name)), [getattr(owner, name)])

    def look(self):
        self.values.append(getattr(self.owner, self.name))

    def over(self, count):
        """Values at all frames."""
        return self.values[-count:] if self.animated else self.values * count


@dataclass
class Joint:
    """What is set for one joint."""

    number: int  # of its link in the figure
    mode: Setting
    strength: Setting
    ratio: Setting | None = None  # roots have only mode and strength
    limit: Setting | None = None
    feed: Setting | None = None

    @property
    def settings(self):
        return [one for one in (self.mode, self.strength, self.ratio, self.limit, self.feed) if one]

    @property
    def acts(self):
        """Whether anything but limp may happen."""
        return self.mode.animated or self.mode.values[0] not in (LIMP, "FREE")

    @property
    def feeds(self):
        """Whether the torques of the source may be asked for."""
        driven = self.mode.animated or self.mode.values[0] == DRIVEN
        return driven and self.feed is not None and (self.feed.animated or self.feed.values[0])


def add_muscles(read, scene, depsgraph):
    """Let stops, friction and muscles act in the joints of all figures; their changes become events of the scene."""
    acts = []
    with showing(read.owners):
        go_to(scene, read.frames[0])
        asked = [_joints(figure, scene) for figure in read.figures]
        feeds = any(joint.feeds for joints, _ in asked for joint in joints)
        watched = [
            _watch(read, figure, *wishes, scene, depsgraph) if feeds or wishes[0] else None
            for figure, wishes in zip(read.figures, asked, strict=True)]
        torques = source_torques(read, watched, scene, depsgraph) if feeds else {}
        for figure, wishes, seen in zip(read.figures, asked, watched, strict=True):
            acts += _add_figure(read, figure, *wishes, seen, torques)
    loosen = [Act(time, muscles) for time, muscles in _by_time(acts, keyed=False)]
    tighten = [Act(time, muscles) for time, muscles in _by_time(acts, keyed=True)]
    # at the same moment: a joint gives way before a hand takes hold, and is held only after one let go
    read.events = [*loosen, *read.events, *tighten]


def _add_figure(read, figure, joints, power, watched, torques):
    links = [read.links[Place(figure.owner, one.name)] for one in figure.links]
    plans = {
        joint.number: _plan(read, joint, links[joint.number], watched, power, torques.get(links[joint.number]))
        for joint in joints}
    widened = []
    for number, (one, link) in enumerate(zip(figure.links, links, strict=True)):
        plan = plans.get(number)
        if plan and link.follows is not None and any(isinstance(muscle, Keyed) for _, muscle in plan):
            leader = figure.owner.pose.bones[one.name].trapeze_follows
            raise RigError(f"{one.name} follows {leader} and cannot be keyed too; make it limp or driven")
        poses = [read.state.coordinates(link)[0]] if one.parent >= 0 else None
        limit, wider = None, False
        if one.limits and figure.owner.trapeze.figure.use_limits:
            keyed = plan and any(isinstance(muscle, Keyed) for _, muscle in plan)
            if keyed:
                poses = np.vstack([*poses, watched.turns(number, link)])
            asked, limit = read.stops.get(link.name, (None, None))
            if keyed or asked != one.limits.spans:  # what goes on from an earlier run meets the stops it had there
                limit, wider = stop(one, poses)
            read.stops[link.name] = one.limits.spans, limit
        widened += [one.name] * wider
        bone = figure.owner.pose.bones[one.name]
        _act(read.chain, link, plan[0][1] if plan else None, impedance(bone) if one.parent >= 0 else None, limit)
    if widened:
        read.warnings.append(f"The limits of {_listed(widened)} are widened to hold the keyed and the rest pose")
    return [(time, links[number], muscle) for number, plan in plans.items() for time, muscle in plan[1:]]


def _act(chain, link, muscle, impedance, limit):
    """Say what acts, where it is anything or was."""
    now = muscle is not None or limit is not None or impedance not in (None, Impedance())
    if link.joint.freedoms and (now or not link.acting.is_idle or link.acting.muscle is not None):
        chain.act(link, muscle, impedance, limit)


def _joints(figure, scene):
    """The joints of a figure that may act, and the figure's strength."""
    source, settings, found = Source(scene, figure.owner), figure.owner.trapeze.figure, []
    for number, one in enumerate(figure.links):
        if one.joint == "FREE":
            joint = Joint(number, *(Setting.of(source, settings, name) for name in ROOT))
        else:
            bone = figure.owner.pose.bones[one.name]
            joint = Joint(number, *(Setting.of(source, bone, name) for name in BONE))
        if one.joint != "FIXED" and joint.acts:
            found.append(joint)
    return found, Setting.of(source, settings, "strength")


def _watch(read, figure, joints, power, scene, depsgraph):
    """Step through the source: poses of the links, values of the settings that change."""
    watched = Watched(figure)
    changing = [one for joint in joints for one in joint.settings if one.animated] + [power] * power.animated
    with frame_kept(scene):
        for frame in goal_frames(read.frames):
            go_to(scene, frame)
            watched.look(depsgraph, frame)
            for one in changing:
                one.look()
    watched.finish(read.frames[0])
    return watched


def _plan(read, joint, link, watched, power, torque):
    """[(time, muscle)] of a joint, from the start on; torque is what the source motion takes."""
    frames = goal_frames(read.frames)
    goal = watched.goal(joint.number, link, read.seconds)
    modes = [DRIVEN if mode == DRIVEN else KEYED if mode == KEYED else LIMP for mode in joint.mode.over(len(frames))]
    ratios = joint.ratio.over(len(frames)) if joint.ratio else [1.0] * len(frames)
    limits = joint.limit.over(len(frames)) if joint.limit else [0.0] * len(frames)
    feeds = joint.feed.over(len(frames)) if joint.feed else [False] * len(frames)
    strengths = np.multiply(joint.strength.over(len(frames)), power.over(len(frames)))
    most = float(strengths.max())
    rate = 2.0 * np.pi * most
    weight = felt_weight(read, link, held_links(read)) if DRIVEN in modes and most > 0.0 else 0.0
    gain = 1.0
    if np.ptp(strengths) > 0.0:
        gain = partial(_gain, np.array(frames) * read.seconds, strengths / most)
    plan, before = [], None
    for frame, *law in zip(frames, modes, ratios, limits, feeds):
        if law != before and read.frames[0] <= frame < read.frames[-1]:
            mode, ratio, limit, feed = before = law
            muscle = None
            if mode == KEYED:
                muscle = Keyed(goal)
            elif mode == DRIVEN and weight > 0.0:
                stiffness, damping = weight * rate**2, 2.0 * ratio * weight * rate
                muscle = Driven(stiffness, damping, goal, limit, torque if feed else None, gain)
            plan.append((read.clock(frame), muscle))
    return plan


def _gain(times, shares, time):
    return float(np.interp(time, times, shares)) ** 2


def _by_time(acts, keyed):
    """{time: {link: muscle}} in rising order, of the changes to or from exactly keyed joints."""
    found = {}
    for time, link, muscle in acts:
        if isinstance(muscle, Keyed) == keyed:
            found.setdefault(time, {})[link] = muscle
    return sorted(found.items())


def _listed(names):
    """Some names in a sentence."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
