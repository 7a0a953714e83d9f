# SPDX-License-Identifier: GPL-3.0-or-later
"""Details in the Properties editor: of a bone in Bone, of a figure, prop or grip in Physics, of the solver in Scene."""

from bpy.types import Panel

from . import settings
from .sidebar import copy_buttons


class Details:
    bl_space_type, bl_region_type, bl_label = "PROPERTIES", "WINDOW", "Trapeze"


def shown_bone(context):
    """The pose bone that the Bone tab shows; None in Edit Mode and for armatures that are no figures."""
    owner, bone = context.object, context.bone
    if owner is None or bone is None or owner.type != "ARMATURE" or owner.trapeze.role != "FIGURE":
        return None
    return owner.pose.bones.get(bone.name)


class BONE_PT_trapeze(Details, Panel):
    bl_context = "bone"

    @classmethod
    def poll(cls, context):
        return shown_bone(context) is not None

    def draw(self, context):
        settings.bone_settings(self.layout, shown_bone(context))
        copy_buttons(self.layout)


class PHYSICS_PT_trapeze(Details, Panel):
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.trapeze.role != "NONE"

    def draw(self, context):
        owner = context.object
        if owner.trapeze.role == "FIGURE":
            settings.figure_summary(self.layout, owner)
            settings.figure_settings(self.layout, owner)
            settings.field_settings(self.layout, owner)
        elif owner.trapeze.role == "PROP":
            settings.prop_settings(self.layout, owner)
            if owner.trapeze.prop.motion == "DYNAMIC":
                settings.field_settings(self.layout, owner)
        elif owner.trapeze.role == "PUSH":
            settings.push_settings(self.layout, owner)
        else:
            settings.grip_settings(self.layout, owner)


class SCENE_PT_trapeze(Details, Panel):
    bl_context, bl_options = "scene", {"DEFAULT_CLOSED"}

    def draw(self, context):
        settings.range_settings(self.layout, context.scene)
        settings.solver_settings(self.layout, context.scene)


class SCENE_PT_trapeze_overlay(Details, Panel):
    bl_context, bl_label, bl_parent_id = "scene", "Overlay", "SCENE_PT_trapeze"

    def draw_header(self, context):
        self.layout.prop(context.scene.trapeze, "show_overlay", text="")

    def draw(self, context):
        settings.overlay_settings(self.layout, context.scene)


CLASSES = BONE_PT_trapeze, PHYSICS_PT_trapeze, SCENE_PT_trapeze, SCENE_PT_trapeze_overlay
