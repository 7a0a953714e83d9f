# SPDX-License-Identifier: GPL-3.0-or-later
"""Push a bone or a prop at the current frame."""

from bpy.props import FloatProperty
from bpy.types import Operator

from ..rig.pushes import add_push, push_text
from .setup import Reporting


class TRAPEZE_OT_add_push(Reporting, Operator):
    """Push the active bone or prop at this frame, along the arrow of a new Empty: turn and move it as you like"""

    bl_idname, bl_label, bl_options = "trapeze.add_push", "Add Push", {"REGISTER", "UNDO"}

    strength: FloatProperty(
        name="Strength (N s)",
        description="Impulse in newton seconds: 70 set a body of 70 kilograms in motion with one metre per second",
        min=0.01, soft_max=500.0, default=30.0, precision=1)

    @classmethod
    def poll(cls, context):
        if context.mode == "POSE" and context.active_pose_bone is not None:
            return True
        if context.mode == "OBJECT" and context.active_object is not None and context.active_object.type != "EMPTY":
            return True
        cls.poll_message_set("Choose a bone in Pose Mode, or a dynamic prop in Object Mode")
        return False

    def run(self, context):
        scene, bone = context.scene, context.active_pose_bone if context.mode == "POSE" else None
        owner = bone.id_data if bone else context.active_object
        if bone is None and owner.type == "ARMATURE" and owner.data.bones.active:
            bone = owner.data.bones.active
        frame = scene.frame_current + scene.frame_subframe
        push = add_push(scene, owner, bone.name if bone else "", frame, self.strength)
        scene.trapeze.push_index = scene.objects.find(push.name)
        self.report({"INFO"}, f"Pushes {push_text(push)}")
        return {"FINISHED"}


CLASSES = (TRAPEZE_OT_add_push,)
