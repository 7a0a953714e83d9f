# SPDX-License-Identifier: GPL-3.0-or-later
"""Give bones muscles and friction: presets for the selected bones or for the whole figure."""

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Operator

from ..rig.presets import PRESETS, apply_friction, apply_preset, joints, with_opposites
from .setup import armatures


def figures(context):
    return [owner for owner in armatures(context) if owner.trapeze.role == "FIGURE"]


class ForBones:
    """An operator for bones: the selected ones in Pose Mode, otherwise all of the selected figures."""

    symmetric: BoolProperty(
        name="Both Sides", description="Change the bones on the other side of the body too", default=True)
    whole: BoolProperty(
        name="Whole Figure", description="Change all bones of the figure, whatever is selected", default=False)

    @classmethod
    def poll(cls, context):
        if not figures(context):
            cls.poll_message_set("Select a figure")
            return False
        return True

    def execute(self, context):
        if context.mode == "POSE" and not self.whole:
            bones = [bone for bone in context.selected_pose_bones if bone.id_data.trapeze.role == "FIGURE"]
            bones = with_opposites(bones) if self.symmetric else bones
        else:
            bones = [bone for owner in figures(context) for bone in owner.pose.bones]
        bones = joints(bones)
        if not bones:
            self.report({"WARNING"}, "No joint is selected; select bones that are links, or choose Whole Figure")
            return {"CANCELLED"}
        self.change(bones)
        self.report({"INFO"}, f"{len(bones)} joints changed")
        return {"FINISHED"}


class TRAPEZE_OT_muscle_preset(ForBones, Operator):
    """Give the selected bones, or in Object Mode the whole figure, the muscles of a preset"""

    bl_idname, bl_label, bl_options = "trapeze.muscle_preset", "Muscle Preset", {"REGISTER", "UNDO"}

    preset: EnumProperty(
        name="Preset", description="Which muscles the bones get",
        items=[(name, label, description) for name, (label, description, _) in PRESETS.items()])

    def change(self, bones):
        apply_preset(bones, self.preset)


class TRAPEZE_OT_human_friction(ForBones, Operator):
    """Give the selected bones, or in Object Mode the whole figure, the friction of relaxed human joints"""

    bl_idname, bl_label, bl_options = "trapeze.human_friction", "Human Friction", {"REGISTER", "UNDO"}

    def change(self, bones):
        apply_friction(bones)


CLASSES = TRAPEZE_OT_muscle_preset, TRAPEZE_OT_human_friction
