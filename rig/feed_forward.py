# SPDX-License-Identifier: GPL-3.0-or-later
"""The torques that the source motion takes, by inverse dynamics, for driven bones that feed them forward.

Everything that is simulated moves as in the source, and the grips that hold at a time carry what roots need. From one
grab or release to the next the structure is the same: such intervals are computed one by one, one evaluation a frame,
and their tables joined. Soft grips carry like hard ones. Stops, breaking grips, pushes and force fields are not
foreseen.
"""

from itertools import pairwise

import numpy as np

from ..dynamics import feed_forward
from ..dynamics.feed_forward import Torque
from .anchors import Place, look, motion, motion_frames
from .stops import impedance

SAME = 1e-3  # frames: switches that are closer come at once
BRIEF = 1e-6  # of a frame: how long the torques take to change at a grab or release


def source_torques(read, watched, scene, depsgraph):
    """{link: Torque} of all joints of the figures, over the frames of the simulation.

    watched   what the figures do in the source, in their order
    """
    goals, chain = _goals(read, watched, scene, depsgraph), _bare(read)
    frames = _look_at_holds(read, scene, depsgraph)
    tables = []
    for start, end in pairwise(_changes(read)):
        held = chain.copy()
        for one, (at, to) in zip(read.holds, frames, strict=True):
            if one.start < 0.5 * (start + end) < one.end:
                ends = [read.links[side.place] if side.place else held.world for side in (one.first, one.second)]
                # axes of what is held: hands that tilt in the source still turn about one bar
                held.connect(*reversed(ends), one.joint, to, at, name=one.name)
        inside = [frame for frame in read.frames if start < frame < end]
        tables.append(feed_forward(held, goals, [read.clock(frame) for frame in [start, *inside, end - BRIEF]]))
    times = np.concatenate([table.times for table in tables])
    return {
        link: Torque(times, np.concatenate([table.torques[link] for table in tables])) for link in tables[0].torques}


def _changes(read):
    """First and last frame, and those in between at which a grip takes hold or lets go, in rising order."""
    found, last = [float(read.frames[0])], float(read.frames[-1])
    for frame in sorted(frame for one in read.holds for frame in (one.start, one.end)):
        if found[-1] + SAME < frame < last - SAME:
            found.append(frame)
    return [*found, last]


def _bare(read):
    """A copy of the chain without connections, with the friction of the bones; what it had from an earlier run goes."""
    chain = read.chain.copy()
    for grip in list(chain.connections):
        chain.cut(grip)
    for figure in read.figures:
        for one, link in zip(figure.links, figure.members, strict=True):
            if one.parent >= 0 and link.joint.freedoms:
                chain.act(link, None, impedance(figure.owner.pose.bones[one.name]))
    return chain


def _goals(read, watched, scene, depsgraph):
    """{link: motion} of everything that is simulated."""
    goals = {
        link: seen.goal(number, link, read.seconds) for figure, seen in zip(read.figures, watched, strict=True)
        for number, link in enumerate(figure.members) if link.joint.freedoms}
    places = {Place(prop.owner): motion_frames(read.frames) for prop in read.props}
    poses = look(scene, depsgraph, places)
    return goals | {prop.link: motion(poses[Place(prop.owner)], read.seconds) for prop in read.props}


def _look_at_holds(read, scene, depsgraph):
    """The joint frames of all holds in their two ends, as the source has them."""
    wanted = {}
    for one in read.holds:
        for place, frame in one.wanted(read.frames[0]).items():
            wanted.setdefault(place, set()).add(frame)
    poses = look(scene, depsgraph, wanted)
    return [one.frames(poses, read.frames[0]) for one in read.holds]
