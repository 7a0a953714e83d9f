# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves a thing that a grip is tied to: a link of a figure, a prop, the keys of an animated thing, or nothing."""

from .anchors import Place
from .errors import RigError
from .grips import End


class Ends:
    """Finds ends among the things that take part.

    bones   {(figure, bone): name of the link that the bone is or moves with}
    props   dynamic props
    """

    def __init__(self, depsgraph, bones, props):
        self.depsgraph, self.bones, self.props = depsgraph, bones, props

    def find(self, owner, bone, grip):
        """The End that an object and a bone mean. An object that hangs on another one moves with it."""
        if owner.name not in self.depsgraph.scene.objects:
            raise RigError(f"{owner.name}, which {grip.name} holds on to, is not in the scene; choose something else")
        asked, bone = owner, bone if owner.type == "ARMATURE" else ""
        while owner is not None:
            role = owner.trapeze.role
            if role == "FIGURE":
                return self._link(owner, bone, grip, asked)
            if bone:
                return self._bone(owner, bone, grip)
            if owner in self.props:
                return End(Place(owner), moves=True)
            if role == "PROP":
                animated = owner.trapeze.prop.motion == "ANIMATED"
                return End(Place(owner), given=True) if animated else End()
            bone = owner.parent_bone if owner.parent_type == "BONE" else ""
            owner = owner.parent
        return End()

    def _link(self, owner, bone, grip, asked):
        if not bone:
            raise RigError(f"{grip.name} holds {asked.name} of the figure {owner.name}; choose which bone of it")
        if bone not in owner.pose.bones:
            raise RigError(f"{owner.name} has no bone {bone}, which {grip.name} holds; choose another one in the grip")
        if (owner, bone) not in self.bones:
            raise RigError(
                f"{bone} of {owner.name} takes no part in the simulation, but {grip.name} holds it; "
                "choose a bone that is a link, or set its part to Link")
        return End(Place(owner, self.bones[owner, bone]), moves=True)

    def _bone(self, owner, bone, grip):
        """A bone of an armature that is no figure moves as it is keyed."""
        if bone not in owner.pose.bones:
            raise RigError(f"{owner.name} has no bone {bone}, which {grip.name} holds; choose another one in the grip")
        return End(Place(owner, bone), given=True)
