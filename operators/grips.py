# SPDX-License-Identifier: GPL-3.0-or-later
"""Grab and release at the current frame."""

from bpy.types import Operator

from ..rig.errors import RigError
from ..rig.hold import Target, grab, holding, link_bone, nearest, nearest_link, release
from ..rig.intervals import is_active
from ..rig.skins import armature_of
from .setup import Reporting


def posed_bones(context):
    """Selected bones of all armatures in Pose Mode."""
    return list(context.selected_pose_bones or ()) if context.mode == "POSE" else []


def end_of_bone(bone):
    return Target(bone.id_data, nearest_link(bone.id_data, bone.name))


def end_of_object(owner):
    """An object as an end; a figure by its active bone."""
    if owner.type == "ARMATURE" and owner.data.bones.active:
        return Target(owner, nearest_link(owner, owner.data.bones.active.name))
    return Target(owner)


def one_per_link(ends):
    """One end for each link: a hand selected with its fingers, or by several of its controls, takes hold once."""
    found = {}
    for end in ends:
        link = end.owner, link_bone(end)
        if link not in found or end.bone == link[1]:
            found[link] = end
    return list(found.values())


def others(context):
    """Selected objects that are neither grips nor pushes nor posed."""
    return [
        owner for owner in context.selected_objects
        if owner.mode != "POSE" and owner.trapeze.role not in ("GRIP", "PUSH")]


def hands_and_targets(context):
    """What takes hold, and what it can take hold of: nothing for the world.

    In Pose Mode the selected bones of the active figure take hold of selected bones of other figures, or of selected
    objects. In Object Mode the selected objects take hold of the active one.
    """
    bones = posed_bones(context)
    if bones:
        hands = one_per_link([end_of_bone(bone) for bone in bones if bone.id_data == context.object])
        targets = [end_of_bone(bone) for bone in bones if bone.id_data != context.object]
        figures = {bone.id_data for bone in bones}
        things = [owner for owner in others(context) if armature_of(owner) not in figures]  # but not their own skins
        return hands, targets or [end_of_object(owner) for owner in things]
    active, chosen = context.active_object, others(context)
    if len(chosen) > 1 and active in chosen:
        return [end_of_object(owner) for owner in chosen if owner != active], [end_of_object(active)]
    return [end_of_object(owner) for owner in chosen], []


def is_keyed_but_static(owner):
    """Whether a thing moves as keyed while the simulation is going to take it for a standing one."""
    standing = owner is not None and owner.type != "ARMATURE" and owner.trapeze.role == "NONE" and not owner.parent
    return standing and owner.animation_data is not None and owner.animation_data.action is not None


class TRAPEZE_OT_grab(Reporting, Operator):
    """Take hold from this frame on: the selected bones hold the selected object, or their place in the world"""

    bl_idname, bl_label, bl_options = "trapeze.grab", "Grab", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.mode not in ("OBJECT", "POSE"):
            cls.poll_message_set("Go to Pose Mode or Object Mode")
            return False
        if not posed_bones(context) and not others(context):
            cls.poll_message_set("Select a hand in Pose Mode, and what it takes hold of")
            return False
        return True

    def run(self, context):
        scene, (hands, targets) = context.scene, hands_and_targets(context)
        if not hands:
            raise RigError("Nothing is selected that can take hold; select a hand in Pose Mode")
        pairs = [(hand, nearest(hand, targets) if targets else Target()) for hand in hands]
        grips, _ = grab(scene, pairs, scene.frame_current + scene.frame_subframe)
        for owner in {second.owner for _, second in pairs if is_keyed_but_static(second.owner)}:
            self.report({"WARNING"}, f"{owner.name} has keys but counts as static; make it an animated prop")
        self.report({"INFO"}, "; ".join(f"{first} holds {second}" for first, second in pairs))
        scene.trapeze.grip_index = scene.objects.find(grips[-1].name)
        return {"FINISHED"}


class TRAPEZE_OT_release(Reporting, Operator):
    """Let go at this frame: all grips of the selected bones and objects, and selected grips"""

    bl_idname, bl_label, bl_options = "trapeze.release", "Release", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.mode not in ("OBJECT", "POSE"):
            cls.poll_message_set("Go to Pose Mode or Object Mode")
            return False
        if not posed_bones(context) and not context.selected_objects:
            cls.poll_message_set("Select a hand that holds something, or a grip")
            return False
        return True

    def run(self, context):
        scene = context.scene
        frame = scene.frame_current + scene.frame_subframe
        bones = posed_bones(context)
        ends = [end_of_bone(bone) for bone in bones] if bones else [end_of_object(one) for one in others(context)]
        grips = holding(scene, ends, frame)
        grips += [
            one for one in context.selected_objects
            if one.trapeze.role == "GRIP" and one not in grips and is_active(scene, one, frame)]
        if not grips:
            raise RigError(f"Nothing that is selected holds anything at frame {frame:g}")
        release(scene, grips, frame)
        self.report({"INFO"}, f"Released {', '.join(grip.name for grip in grips)}")
        return {"FINISHED"}


CLASSES = TRAPEZE_OT_grab, TRAPEZE_OT_release
