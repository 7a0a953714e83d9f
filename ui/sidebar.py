# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab "Trapeze" in the sidebar of the 3D viewport: set up, grab and release, simulate, apply, in this order."""

from bpy.types import Panel

from ..operators import job
from ..rig.books import MUCH, rows, sentence, stored_books
from ..rig.giving import stored_giving
from ..rig.pushes import is_dynamic
from ..rig.skins import armature_of
from ..rig.switch import is_showing_result, results
from . import grips, pushes, settings
from .settings import button

LISTED = 6  # keyed joints that gave way


class Tab:
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Trapeze"


def active_figure(context):
    """The figure that is meant: the active armature, or the one that the active mesh follows."""
    owner = armature_of(context.active_object)
    return owner if owner and owner.trapeze.role == "FIGURE" else None


class TRAPEZE_PT_figure(Tab, Panel):
    bl_label = "Figure"

    def draw(self, context):
        layout = self.layout
        owner = active_figure(context)
        if owner is None:
            if armature_of(context.active_object) is None:
                layout.label(text="Select an armature", icon="INFO")
            column = layout.column()
            column.scale_y = 1.5
            button(column, "set_up", icon="OUTLINER_OB_ARMATURE")
            return
        settings.figure_summary(layout, owner)
        settings.figure_settings(layout, owner)
        row = layout.row(align=True)
        button(row, "set_up", text="Update", icon="FILE_REFRESH")
        button(row, "remove_figure", text="Remove", icon="X")


class TRAPEZE_PT_bone(Tab, Panel):
    bl_label, bl_parent_id, bl_options = "Bone", "TRAPEZE_PT_figure", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        bone = context.active_pose_bone
        return bone is not None and bone.id_data.trapeze.role == "FIGURE"

    def draw(self, context):
        layout, bone = self.layout, context.active_pose_bone
        layout.label(text=bone.name, icon="BONE_DATA")
        settings.bone_settings(layout, bone)
        copy_buttons(layout)


class TRAPEZE_PT_overlay(Tab, Panel):
    bl_label, bl_parent_id, bl_options = "Overlay", "TRAPEZE_PT_figure", {"DEFAULT_CLOSED"}
    bl_order = 1  # after everything that matters to the simulation

    def draw_header(self, context):
        self.layout.prop(context.scene.trapeze, "show_overlay", text="")

    def draw(self, context):
        settings.overlay_settings(self.layout, context.scene)


class TRAPEZE_PT_prop(Tab, Panel):
    bl_label = "Prop"

    @classmethod
    def poll(cls, context):
        owner = context.active_object
        return owner is not None and owner.type != "ARMATURE" and owner.trapeze.role in ("NONE", "PROP")

    def draw(self, context):
        layout, owner = self.layout, context.active_object
        if owner.trapeze.role == "PROP":
            settings.prop_settings(layout, owner)
        row = layout.row(align=True)
        for motion, icon in (("STATIC", "PINNED"), ("ANIMATED", "ACTION"), ("DYNAMIC", "PHYSICS")):
            now = owner.trapeze.role == "PROP" and owner.trapeze.prop.motion == motion
            chosen = button(row, "set_prop", text=motion.capitalize(), icon=icon, depress=now)
            if chosen:
                chosen.motion = motion


class TRAPEZE_PT_grips(Tab, Panel):
    bl_label = "Grips"

    def draw(self, context):
        row = self.layout.row(align=True)
        row.scale_y = 1.3
        button(row, "grab", icon="VIEW_PAN")
        button(row, "release", icon="UNLINKED")
        grips.draw_list(self.layout, context)


class TRAPEZE_PT_forces(Tab, Panel):
    bl_label, bl_options = "Forces", {"DEFAULT_CLOSED"}

    def draw(self, context):
        button(self.layout, "add_push", icon="FORCE_FORCE")
        pushes.draw_list(self.layout, context)
        owner = active_figure(context) or context.active_object
        if owner and (owner.trapeze.role == "FIGURE" or is_dynamic(owner)):
            settings.field_settings(self.layout, owner)


class TRAPEZE_PT_simulate(Tab, Panel):
    bl_label = "Simulate"

    def draw(self, context):
        column = self.layout.column()
        column.scale_y = 1.5
        if job.running:
            progress = job.running.progress
            column.progress(factor=progress, text=f"{progress:.0%}, Esc cancels" if progress else "Getting ready")
        else:
            button(column, "simulate", icon="PLAY")
        settings.range_settings(self.layout, context.scene)


class TRAPEZE_PT_solver(Tab, Panel):
    bl_label, bl_parent_id, bl_options = "Solver", "TRAPEZE_PT_simulate", {"DEFAULT_CLOSED"}

    def draw(self, context):
        settings.solver_settings(self.layout, context.scene)


class TRAPEZE_PT_result(Tab, Panel):
    bl_label = "Result"

    def draw(self, context):
        layout, scene = self.layout, context.scene.trapeze
        now = showing(context.scene)
        row = layout.row(align=True)
        for show, icon in (("SOURCE", "KEYFRAME_HLT"), ("RESULT", "PHYSICS")):
            button(row, "show_source_result", text=show.capitalize(), icon=icon, depress=show == now).show = show
        books = stored_books(context.scene) if now else None
        if books:
            column = layout.column(align=True)
            much = books.share > MUCH
            column.alert = much
            column.label(text=sentence(books), icon="ERROR" if much else "CHECKMARK")
            if much:
                column.label(text="Use more substeps", icon="BLANK1")
        gave_way = stored_giving(context.scene) if now else []
        if gave_way:
            column = layout.column(align=True)
            column.label(text="Keyed joints gave way to grips:", icon="INFO")
            for one in gave_way[:LISTED]:
                column.label(text=one, icon="BLANK1")
            if len(gave_way) > LISTED:
                column.label(text=f"and {len(gave_way) - LISTED} more", icon="BLANK1")
        column = settings.split(layout)
        column.prop(scene, "use_reduction")
        tolerances = column.column(align=True)
        tolerances.active = scene.use_reduction
        tolerances.prop(scene, "tolerance_angle")
        tolerances.prop(scene, "tolerance_distance")
        button(layout, "apply", icon="CHECKMARK")


class TRAPEZE_PT_energy(Tab, Panel):
    bl_label, bl_parent_id, bl_options = "Energy", "TRAPEZE_PT_result", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return showing(context.scene) is not None and stored_books(context.scene) is not None

    def draw(self, context):
        column = self.layout.column(align=True)
        for name, joules in rows(stored_books(context.scene)):
            row = column.row()
            row.label(text=name)
            value = row.row()
            value.alignment = "RIGHT"
            value.label(text=f"{joules:.4g} J")


def showing(scene):
    """Which motion plays; None before the first simulation."""
    owners = results(scene)
    return ("RESULT" if any(is_showing_result(owner) for owner in owners) else "SOURCE") if owners else None


def copy_buttons(layout):
    """Buttons that hand settings from the active bone to others."""
    column = layout.column(align=True)
    chosen = button(column, "copy_to_selected", text="Copy Joint to Selected", icon="COPYDOWN")
    if chosen:
        chosen.what, chosen.opposite = "JOINT", False
    chosen = button(column, "copy_to_selected", text="Copy to Opposite Bone", icon="MOD_MIRROR")
    if chosen:
        chosen.what, chosen.opposite = "LINK", True


CLASSES = (
    TRAPEZE_PT_figure, TRAPEZE_PT_bone, TRAPEZE_PT_overlay, TRAPEZE_PT_prop, TRAPEZE_PT_grips, TRAPEZE_PT_forces,
    TRAPEZE_PT_simulate, TRAPEZE_PT_solver, TRAPEZE_PT_result, TRAPEZE_PT_energy)
