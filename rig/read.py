# SPDX-License-Identifier: GPL-3.0-or-later
"""From a Blender scene to a chain, its state at the start frame, and what happens to it.

All figures and props of the scene come into one chain. Poses are read as they look, with constraints, drivers and
parents at work, from the source motion: results of earlier simulations are switched off meanwhile. A frame of the scene
lasts fps_base / fps seconds; the time of frame f is f times that.
"""

from dataclasses import dataclass, field

import numpy as np

from ..dynamics import Chain, Inertia, Joint, Pose
from .actions import is_muted, motion_of
from .anchors import Place, look, motion, motion_frames, showing
from .channels import quaternion_from_matrix
from .ends import Ends
from .errors import RigError
from .fields import read_field
from .grips import hold, read_holds
from .intervals import grips
from .links import read_links
from .mimic import add_mimics
from .muscles import add_muscles
from .props import prop_inertia
from .pushes import pushes, read_blows
from .sample import frame_kept, go_to
from .stored import go_on
from .switch import lost_source
from .velocity import set_velocity, source_twists

JOINTS = {"FREE": Joint.free(), "BALL": Joint.spherical(), "FIXED": Joint.fixed()}


@dataclass
class Figure:
    owner: object
    links: list  # LinkDescriptions
    members: list  # their links in the chain


@dataclass
class Prop:
    owner: object
    link: object


@dataclass
class Scene:
    """Everything that a simulation needs, and where its result goes."""

    chain: Chain
    frames: range
    seconds: float  # of one frame
    substeps: int
    integrator: str
    metre: float  # metres per Blender unit
    figures: list = field(default_factory=list)
    props: list = field(default_factory=list)
    state: object = None
    events: list = field(default_factory=list)
    links: dict = field(default_factory=dict)  # {Place: link of the chain}
    holds: list = field(default_factory=list)
    blows: list = field(default_factory=list)
    winds: object = None  # force fields of the scene, as simulate() takes them
    stops: dict = field(default_factory=dict)  # {name of a link: (the range asked for, its stop)}
    warnings: list = field(default_factory=list)
    continued: bool = False  # whether it starts from the last result instead of the source

    def clock(self, frame):
        """Time of a frame, in seconds."""
        return frame * self.seconds

    @property
    def solver(self):
        """What simulate() wants to know besides chain and state."""
        return {
            "duration": self.clock(len(self.frames) - 1), "step": self.seconds / self.substeps,
            "integrator": self.integrator, "events": self.events, "field": self.winds}

    @property
    def owners(self):
        return [one.owner for one in [*self.figures, *self.props]]


def read_scene(context):
    """The scene of the context, ready to be simulated. Nothing in the file is changed. Raises RigError."""
    depsgraph = context.evaluated_depsgraph_get()
    scene = depsgraph.scene
    read = _begin(scene)
    figures, props = taking_part(depsgraph)
    if not figures and not props:
        raise RigError("There is nothing to simulate; select an armature and use Set Up Figure")
    for owner in [*figures, *props]:
        _check_parents(owner, {*figures, *props})
        _check_source(owner, read)
    with frame_kept(scene), showing([*figures, *props], read.continued):
        go_to(scene, read.frames[0])
        _add_figures(read, figures, depsgraph)
        _add_props(read, props, depsgraph)
        _find_holds(read, scene, depsgraph)
        _look_around(read, scene, depsgraph)
    return read


def _begin(scene):
    settings, render = scene.trapeze, scene.render
    start, end = frame_range(scene)
    if end <= start:
        raise RigError(f"There are no frames to simulate from {start} to {end}; give the range an end after its start")
    metre = scene.unit_settings.scale_length
    gravity = np.array(scene.gravity, dtype=float) * metre if scene.use_gravity else np.zeros(3)
    read = Scene(
        Chain(gravity), range(start, end + 1), render.fps_base / render.fps, settings.substeps,
        settings.integrator.lower(), metre, continued=settings.use_stored)
    if 0.0 < np.linalg.norm(gravity) < 1.0:
        read.warnings.append(
            f"Gravity is only {np.linalg.norm(gravity):.3g} m/s² at this unit scale; "
            "9.81 divided by the scale is that of the Earth")
    return read


def frame_range(scene):
    """First and last frame of a simulation."""
    owner = scene if scene.trapeze.use_scene_range else scene.trapeze
    return owner.frame_start, owner.frame_end


def taking_part(depsgraph):
    """Figures and dynamic props that are simulated: what is disabled in viewports or excluded is not."""
    there = [owner for owner in depsgraph.view_layer.objects if _takes_part(owner, depsgraph)]
    figures = [owner for owner in there if owner.trapeze.role == "FIGURE"]
    props = [owner for owner in there if owner.trapeze.role == "PROP" and owner.trapeze.prop.motion == "DYNAMIC"]
    return figures, props


def _takes_part(owner, depsgraph):
    return not owner.hide_viewport and owner.evaluated_get(depsgraph).is_evaluated


def _check_parents(owner, simulated):
    above = owner.parent
    while above is not None:
        if above in simulated:
            raise RigError(
                f"{owner.name} is parented to {above.name}, which is simulated too; "
                "clear its parent and join them with a grip")
        above = above.parent


def _check_source(owner, read):
    """A source that is gone cannot be read; one that is muted does not move anything, which is worth a word."""
    lost = "" if read.continued else lost_source(owner)
    if lost:
        raise RigError(
            f"{lost}, the source motion of {owner.name}, was deleted; switch to Source and give it an action again")
    source = motion_of(owner)
    curves = list(source.curves()) if source else []
    if curves and all(is_muted(curve) for curve in curves):
        read.warnings.append(f"All keys of {owner.name} in {source.action.name} are muted; it starts as it looks")


def _add_figures(read, owners, depsgraph):
    for owner in owners:
        links, members = read_links(owner, depsgraph), []
        for one in links:
            root = one.parent < 0
            joint = Joint.revolute(one.axis) if one.joint == "HINGE" else JOINTS[one.joint]
            at = Pose() if root else Pose(one.at_position, quaternion_from_matrix(one.at_rotation))
            try:
                inertia = Inertia(one.mass, one.com, one.tensor)
            except ValueError as error:
                raise RigError(f"{one.name} of {owner.name}: {error}") from error
            members.append(read.chain.add(
                f"{owner.name_full}/{one.name}", None if root else members[one.parent], joint, at, inertia))
            read.links[Place(owner, one.name)] = members[-1]
        read.figures.append(Figure(owner, links, members))


def _add_props(read, owners, depsgraph):
    for owner in owners:
        link = read.chain.add(
            f"{owner.name_full}/", joint=Joint.free(), inertia=Inertia(*prop_inertia(owner, depsgraph)))
        read.links[Place(owner)] = link
        read.props.append(Prop(owner, link))


def _find_holds(read, scene, depsgraph):
    bones = {
        (figure.owner, bone): link.name for figure in read.figures for link in figure.links for bone in link.bones}
    owners = [grip for grip in grips(scene) if _takes_part(grip, depsgraph)]
    ends = Ends(depsgraph, bones, {prop.owner for prop in read.props})
    read.holds, warnings = read_holds(scene, owners, read.frames, ends.find)
    owners = [push for push in pushes(scene) if _takes_part(push, depsgraph)]
    read.blows, late = read_blows(owners, read.frames, bones, ends.props, scene)
    read.warnings += warnings + late


def _look_around(read, scene, depsgraph):
    """Where grips and animated things are when, where everything starts, and how fast."""
    start = float(read.frames[0])
    wanted = {}
    for one in read.holds:
        for place, frame in one.wanted(start).items():
            wanted.setdefault(place, set()).add(frame)
        for end in (one.first, one.second):
            if end.given:
                wanted[end.place].update(map(float, motion_frames(read.frames)))
    for one in read.blows:
        for place in (Place(one.push), one.place):
            wanted.setdefault(place, set()).add(one.frame)
    for prop in read.props:
        wanted.setdefault(Place(prop.owner), set()).add(start)
    poses = look(scene, depsgraph, wanted)
    _add_given(read, poses)
    _place(read, poses, start)
    if scene.trapeze.use_source_velocity or read.continued:
        _set_velocities(read, scene, depsgraph, poses)
    kept = go_on(scene, read) if read.continued else ()
    add_mimics(read)
    read.events = hold(
        read.chain, read.state, read.holds, read.links, poses, start, read.clock, read.metre, kept)
    read.events += [one.event(read.links, poses, read.clock) for one in read.blows]
    fields = [owner for owner in depsgraph.view_layer.objects if _takes_part(owner, depsgraph)]
    read.winds, warnings = read_field(read, scene, depsgraph, fields)
    read.warnings += warnings
    add_muscles(read, scene, depsgraph)


def _add_given(read, poses):
    """Links for what moves as keyed and is held."""
    for one in read.holds:
        for end in (one.first, one.second):
            if end.given and end.place not in read.links:
                name = f"{end.place.owner.name_full}/{end.place.bone}"
                frames = {frame: poses[end.place][frame] for frame in map(float, motion_frames(read.frames))}
                read.links[end.place] = read.chain.add(name, joint=Joint.free(), motion=motion(frames, read.seconds))


def _place(read, poses, start):
    """The state in which every link is where it looks to be."""
    read.state = read.chain.state()
    read.state.time = read.clock(start)
    for figure in read.figures:
        for one, link in zip(figure.links, figure.members, strict=True):
            if one.joint == "FREE":
                read.state.set(link, position=one.position, rotation=quaternion_from_matrix(one.rotation))
            elif one.joint == "HINGE":
                read.state.set(link, angle=one.turn)
            elif one.joint == "BALL":
                read.state.set(link, rotation=one.turn)
    for prop in read.props:
        pose = poses[Place(prop.owner)][start]
        read.state.set(prop.link, position=pose.position, rotation=pose.rotation)


def _set_velocities(read, scene, depsgraph, poses):
    start = float(read.frames[0])
    groups = [
        {Place(figure.owner, one.name): read.state.pose(link) for one, link in zip(figure.links, figure.members)}
        for figure in read.figures]
    groups += [{Place(prop.owner): poses[Place(prop.owner)][start]} for prop in read.props]
    twists, jumping = source_twists(scene, depsgraph, groups, start, read.seconds)
    read.warnings += [
        f"{next(iter(group)).owner.name} jumps to another pose at frame {read.frames[0]}; that is no velocity"
        for group in jumping]
    for figure in read.figures:
        for one, link in zip(figure.links, figure.members, strict=True):
            above = np.zeros(6) if one.parent < 0 else twists[Place(figure.owner, figure.links[one.parent].name)]
            set_velocity(read.state, link, one.axis, twists[Place(figure.owner, one.name)], above)
    for prop in read.props:
        set_velocity(read.state, prop.link, None, twists[Place(prop.owner)], np.zeros(6))
