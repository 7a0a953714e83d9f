# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes: Empties whose arrow strikes a bone or a prop at a frame.

The arrow's direction and the Empty's place count as the source has them at that frame. The place is taken as a point of
the bone: wherever physics has carried the figure by then, it is struck there, in the arrow's direction.
"""

from dataclasses import dataclass

import numpy as np
from mathutils import Matrix

from ..dynamics import Pose, Push
from .anchors import Place
from .channels import matrix_from_quaternion
from .errors import RigError
from .hold import Target, link_bone, nearest_link, new_empty

BACKWARDS = Matrix.Rotation(-np.pi / 2.0, 4, "X")  # of a figure that faces the front view: its arrow points along Y


@dataclass
class Blow:
    """One push that takes place."""

    push: object  # the Empty
    place: Place  # what it strikes
    frame: float

    def event(self, links, poses, clock):
        """The event in the chain; poses {place: {frame: Pose}} of the source."""
        arrow = poses[Place(self.push)][self.frame]
        direction = matrix_from_quaternion(np.array(arrow.rotation))[:, 2]
        at = poses[self.place][self.frame].inverse() @ Pose(position=arrow.position)
        return Push(clock(self.frame), links[self.place], self.push.trapeze.push.strength * direction, at.position)


def pushes(scene):
    """The pushes of the scene, in the order in which they strike."""
    found = [owner for owner in scene.objects if owner.trapeze.role == "PUSH"]
    return sorted(found, key=lambda owner: (owner.trapeze.push.frame, owner.name))


def is_dynamic(owner):
    """Whether it is a prop that physics moves."""
    return owner.trapeze.role == "PROP" and owner.trapeze.prop.motion == "DYNAMIC"


def add_push(scene, owner, bone, frame, strength):
    """A new push on a bone or a dynamic prop at a frame, in its middle, pointing backwards. Raises RigError."""
    if owner.trapeze.role == "FIGURE":
        if not bone:
            raise RigError(f"Choose a bone of {owner.name} in Pose Mode")
        bone = link_bone(Target(owner, nearest_link(owner, bone)))
    elif not is_dynamic(owner):
        raise RigError(f"{owner.name} is not simulated; use Set Up Figure first, or make it a dynamic prop")
    push = new_empty(scene, Target(owner, bone), "Push", "SINGLE_ARROW")
    push.matrix_world = push.matrix_world @ BACKWARDS
    push.trapeze.role = "PUSH"
    settings = push.trapeze.push
    settings.target, settings.bone, settings.frame, settings.strength = owner, bone, frame, strength
    return push


def read_blows(owners, frames, bones, props, scene):
    """What the given pushes strike during the frames, and warnings. Raises RigError.

    bones   {(figure, bone): name of the link that the bone is or moves with};  props   dynamic props
    """
    blows, warnings = [], []
    for push in owners:
        settings = push.trapeze.push
        place = _struck(push, settings, bones, props, scene)
        if not settings.strength > 0.0:
            raise RigError(f"{push.name} has no strength; give it some, or delete it")
        if frames[0] <= settings.frame < frames[-1]:
            blows.append(Blow(push, place, float(settings.frame)))
        else:
            warnings.append(
                f"{push.name} strikes at frame {settings.frame:g}, outside of the simulated frames "
                f"{frames[0]} to {frames[-1]}")
    return blows, warnings


def _struck(push, settings, bones, props, scene):
    owner, bone = settings.target, settings.bone
    if owner is None:
        raise RigError(f"{push.name} strikes nothing; choose an object for it, or delete it")
    if owner.name not in scene.objects:
        raise RigError(f"{owner.name}, which {push.name} strikes, is not in the scene; choose something else")
    if owner in props:
        return Place(owner)
    if owner.trapeze.role != "FIGURE":
        raise RigError(
            f"{owner.name}, which {push.name} strikes, is not simulated; make it a dynamic prop or choose a figure")
    if not bone or bone not in owner.pose.bones:
        what = f"has no bone {bone}" if bone else "has many bones"
        raise RigError(f"{owner.name} {what}; choose the bone that {push.name} strikes")
    if (owner, bone) not in bones:
        raise RigError(
            f"{bone} of {owner.name} takes no part in the simulation, but {push.name} strikes it; "
            "choose a bone that is a link, or set its part to Link")
    return Place(owner, bones[owner, bone])


def push_text(push):
    """What it strikes, how hard and when."""
    settings = push.trapeze.push
    what = settings.bone or (settings.target.name if settings.target else "nothing")
    return f"{what}, {settings.strength:.4g} N s at frame {settings.frame:g}"
