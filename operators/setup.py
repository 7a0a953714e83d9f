# SPDX-License-Identifier: GPL-3.0-or-later
"""Make figures of armatures and props of objects, and give settings from one bone to others."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Operator

from ..rig.errors import RigError
from ..rig.figure import copy_settings, remove, set_up
from ..rig.props import set_motion
from ..rig.skins import armature_of

LINK = (
    "part", "mass", "shape", "radius", "centre", "spread", "joint", "axis", "use_limits", "hinge_lower", "hinge_upper",
    "swing_x_lower", "swing_x_upper", "swing_z_lower", "swing_z_upper", "twist_lower", "twist_upper")
JOINT = tuple(name for name in LINK if name not in ("part", "mass", "shape", "radius", "centre", "spread"))
MUSCLE = (
    "muscle", "strength", "damping_ratio", "torque_limit", "use_feed_forward", "virtual_inertia", "viscous_friction",
    "coulomb_friction", "gravity_compensation", "follows", "follow_factor", "follow_offset")


def armatures(context):
    """The armatures that are meant: all selected ones, or the one that the active mesh follows."""
    found = [owner for owner in context.selected_objects if owner.type == "ARMATURE"]
    active = armature_of(context.active_object)
    return found if active in found or not active else [active, *found]


class Reporting:
    """An operator that says what is wrong with the rig and changes nothing."""

    def execute(self, context):
        try:
            return self.run(context)
        except RigError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class TRAPEZE_OT_set_up(Reporting, Operator):
    """Make a figure of the armature: links, joints, masses and limits are guessed. Run again when the rig changed"""

    bl_idname, bl_label, bl_options = "trapeze.set_up", "Set Up Figure", {"REGISTER", "UNDO"}

    mass: FloatProperty(
        name="Mass (kg)", description="Mass of the whole body in kilograms; 0 guesses it from the size",
        min=0.0, soft_max=500.0, default=0.0, precision=2)
    keep: BoolProperty(
        name="Keep My Changes", description="Leave alone what was set by hand since the last time", default=True)

    @classmethod
    def poll(cls, context):
        if not armatures(context):
            cls.poll_message_set("Select the armature of a character")
            return False
        if context.mode not in ("OBJECT", "POSE"):
            cls.poll_message_set("Go to Object Mode or Pose Mode")
            return False
        return True

    def run(self, context):
        for owner in armatures(context):
            body = set_up(owner, context.scene, self.mass or None, self.keep)
            links = body.parts.count("LINK")
            self.report({"INFO"}, f"{owner.name}: {links} links, {owner.trapeze.figure.mass:.4g} kg")
        return {"FINISHED"}


class TRAPEZE_OT_remove_figure(Reporting, Operator):
    """Forget everything that was set up for the figure. The armature plays its own motion again"""

    bl_idname, bl_label, bl_options = "trapeze.remove_figure", "Remove Figure", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not any(owner.trapeze.role == "FIGURE" for owner in armatures(context)):
            cls.poll_message_set("Select a figure")
            return False
        return True

    def run(self, context):
        for owner in armatures(context):
            if owner.trapeze.role == "FIGURE":
                remove(owner)
        return {"FINISHED"}


class TRAPEZE_OT_copy_to_selected(Operator):
    """Give the settings of the active bone to the selected bones, mirrored to the bone opposite"""

    bl_idname, bl_label, bl_options = "trapeze.copy_to_selected", "Copy to Selected Bones", {"REGISTER", "UNDO"}

    what: EnumProperty(
        name="Settings", description="Which settings are copied",
        items=(
            ("JOINT", "Joint and Limits", "Joint, hinge axis and limits"),
            ("LINK", "Link", "Part, mass and shape, joint and limits"),
            ("MUSCLE", "Muscle", "Muscle, friction and gravity compensation, and which bone is followed")))
    opposite: BoolProperty(
        name="To Opposite Bone", description="Copy to the bone on the other side instead", default=False)

    @classmethod
    def poll(cls, context):
        if context.mode != "POSE" or not context.active_pose_bone:
            cls.poll_message_set("Go to Pose Mode and select bones; the active one is copied from")
            return False
        return True

    def execute(self, context):
        source = context.active_pose_bone
        targets = [bone for bone in context.selected_pose_bones if bone != source]
        if self.opposite:
            other = source.id_data.pose.bones.get(bpy.utils.flip_name(source.name))
            targets = [other] if other not in (None, source) else []
        if not targets:
            self.report({"WARNING"}, f"There is no bone to copy the settings of {source.name} to; select some more")
            return {"CANCELLED"}
        copy_settings(source, targets, {"JOINT": JOINT, "LINK": LINK, "MUSCLE": MUSCLE}[self.what])
        return {"FINISHED"}


class TRAPEZE_OT_set_prop(Reporting, Operator):
    """Say what moves the selected objects during a simulation"""

    bl_idname, bl_label, bl_options = "trapeze.set_prop", "Set as Prop", {"REGISTER", "UNDO"}

    motion: EnumProperty(
        name="Motion", description="What moves the objects during a simulation",
        items=(
            ("STATIC", "Static", "They stay where they are"),
            ("ANIMATED", "Animated", "They move as keyed, and take along what holds on to them"),
            ("DYNAMIC", "Dynamic", "Gravity, momentum and grips move them"),
            ("NONE", "No Prop", "They are nothing to Trapeze")))

    @classmethod
    def poll(cls, context):
        if not any(owner.type != "ARMATURE" and owner.trapeze.role != "GRIP" for owner in context.selected_objects):
            cls.poll_message_set("Select objects that are neither armatures nor grips")
            return False
        return True

    def run(self, context):
        for owner in context.selected_objects:
            if owner.type != "ARMATURE" and owner.trapeze.role != "GRIP":
                set_motion(owner, self.motion)
        return {"FINISHED"}


CLASSES = TRAPEZE_OT_set_up, TRAPEZE_OT_remove_figure, TRAPEZE_OT_copy_to_selected, TRAPEZE_OT_set_prop
