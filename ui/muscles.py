# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of the figure and of its bones, in the sidebar and in the Bone properties.

Hold Alt while changing a field of a bone to change it for all selected bones.
"""

from bpy.types import Panel

from ..rig.mimic import problem
from ..rig.presets import muscle_count, muscle_hints
from .properties_editor import Details, shown_bone
from .settings import button, split
from .sidebar import Tab, active_figure


def keyable(layout):
    """A column of fields that can be keyed: they are read at every frame."""
    column = split(layout)
    column.use_property_decorate = True
    return column


def figure_muscles(layout, owner):
    """What moves the root, and how strong the figure is as a whole."""
    figure = owner.trapeze.figure
    column = keyable(layout)
    column.prop(figure, "root")
    if figure.root == "DRIVEN":
        column.prop(figure, "root_strength", text="Strength (Hz)")
    column.prop(figure, "strength", text="All Muscles")
    split(layout).prop(figure, "use_limits")


def summary(layout, owner):
    """How many joints act how, and what is probably not meant."""
    layout.label(text=muscle_count(owner), icon="CON_ROTLIKE")
    for hint in muscle_hints(owner):
        layout.label(text=hint, icon="INFO")


def preset_buttons(layout):
    column = layout.column(align=True)
    column.operator_menu_enum("trapeze.muscle_preset", "preset", icon="PRESET")
    button(column, "human_friction", icon="MOD_SMOOTH")


def bone_muscle(layout, bone):
    column = keyable(layout)
    column.prop(bone, "trapeze_muscle")
    if bone.trapeze_muscle != "LIMP":
        driven = column.column()
        driven.active = bone.trapeze_muscle == "DRIVEN"
        driven.prop(bone, "trapeze_strength", text="Strength (Hz)")
        driven.prop(bone, "trapeze_damping_ratio")
        driven.prop(bone, "trapeze_torque_limit", text="Torque Limit")
        driven.prop(bone, "trapeze_use_feed_forward")
        if bone.trapeze_muscle == "DRIVEN" and bone.trapeze_strength == 0.0:
            column.label(text="Strength 0 is limp", icon="INFO")


def bone_friction(layout, bone):
    """What the joint feels like. Short labels, since the sidebar is narrow; units are in the tooltips."""
    column = split(layout)
    column.prop(bone, "trapeze_viscous_friction", text="Viscous Friction")
    column.prop(bone, "trapeze_coulomb_friction", text="Dry Friction")
    column.prop(bone, "trapeze_virtual_inertia", text="Virtual Inertia")
    column.prop(bone, "trapeze_gravity_compensation", text="Carried Weight")


def bone_mimic(layout, bone):
    """Which other hinge the joint turns with."""
    if bone.trapeze_joint != "HINGE":
        return
    column = split(layout)
    column.prop_search(bone, "trapeze_follows", bone.id_data.pose, "bones")
    if bone.trapeze_follows:
        column.prop(bone, "trapeze_follow_factor")
        column.prop(bone, "trapeze_follow_offset")
        wrong = problem(bone)
        if wrong:
            layout.label(text=wrong, icon="ERROR")


def copy_buttons(layout):
    """Buttons that hand muscle and friction of the active bone to others."""
    row = layout.row(align=True)
    for text, opposite, icon in (("Copy to Selected", False, "COPYDOWN"), ("To Opposite", True, "MOD_MIRROR")):
        chosen = button(row, "copy_to_selected", text=text, icon=icon)
        if chosen:
            chosen.what, chosen.opposite = "MUSCLE", opposite


def draw_bone(layout, bone):
    layout.label(text=bone.name, icon="BONE_DATA")
    if bone.trapeze_part != "LINK" or bone.trapeze_joint == "FIXED":
        layout.label(text="It has no joint to act in", icon="INFO")
        return
    bone_muscle(layout, bone)
    bone_friction(layout, bone)
    bone_mimic(layout, bone)
    copy_buttons(layout)


class TRAPEZE_PT_muscles(Tab, Panel):
    bl_label, bl_parent_id, bl_options = "Muscles", "TRAPEZE_PT_figure", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return active_figure(context) is not None

    def draw(self, context):
        summary(self.layout, active_figure(context))
        figure_muscles(self.layout, active_figure(context))
        preset_buttons(self.layout)
        bone = context.active_pose_bone
        if bone is not None and bone.id_data == active_figure(context):
            draw_bone(self.layout, bone)


class BONE_PT_trapeze_muscle(Details, Panel):
    bl_context, bl_label, bl_parent_id = "bone", "Muscle", "BONE_PT_trapeze"

    @classmethod
    def poll(cls, context):
        return shown_bone(context) is not None

    def draw(self, context):
        draw_bone(self.layout, shown_bone(context))


CLASSES = TRAPEZE_PT_muscles, BONE_PT_trapeze_muscle
