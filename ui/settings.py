# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of figures, bones, props, grips and the solver, as the sidebar and the Properties editor show them."""

import bpy

from ..rig.figure import changes, summary

KINDS = {"human": "Human", "quadruped": "Four-legged animal", "creature": "Creature"}


def button(layout, name, **more):
    """Draw an operator of Trapeze if there is one; returns its properties or None."""
    return layout.operator(f"trapeze.{name}", **more) if hasattr(bpy.types, f"TRAPEZE_OT_{name}") else None


def split(layout):
    """A column of fields with their names before them. Only what is read at every frame shows where to key it."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout.column()


def figure_settings(layout, owner):
    figure = owner.trapeze.figure
    column = split(layout)
    column.prop(figure, "mass")
    column.prop(figure, "body")
    column.prop(figure, "shape")


def figure_summary(layout, owner):
    """What the figure consists of, and what a simulation does not move."""
    found = summary(owner)
    column = layout.column(align=True)
    column.scale_y = 0.8
    column.label(text=f"{KINDS[found.kind]}, {found.height:.2f} m", icon="ARMATURE_DATA")
    bones = found.links + found.merged
    column.label(text=f"{found.links} links of {bones} bones, {found.mass:.4g} kg", icon="BONE_DATA")
    if found.driven:
        column.label(text="Simulated: the deform bones", icon="CONSTRAINT_BONE")
        column.label(text=f"Not driven: {found.ignored} controls and helpers", icon="BLANK1")


def bone_settings(layout, bone):
    """The link and the joint of a pose bone."""
    column = split(layout)
    column.prop(bone, "trapeze_part")
    if bone.trapeze_part == "IGNORED":
        return
    column.prop(bone, "trapeze_mass")
    column.prop(bone, "trapeze_shape")
    if bone.trapeze_shape == "CAPSULE":
        column.prop(bone, "trapeze_radius")
    column.prop(bone, "trapeze_centre", text="Centre")
    if bone.trapeze_part == "LINK":
        joint_settings(layout, bone)
    changed = len(changes(bone))
    if changed:
        layout.label(text=f"{changed} set by hand" if changed > 1 else "One set by hand", icon="GREASEPENCIL")


def joint_settings(layout, bone):
    column = split(layout)
    column.prop(bone, "trapeze_joint")
    if bone.trapeze_joint == "FIXED":
        return
    if bone.trapeze_joint == "HINGE":
        column.prop(bone, "trapeze_axis")
    column.prop(bone, "trapeze_use_limits")
    limits = split(layout)
    limits.active = bone.trapeze_use_limits
    for name in ("hinge",) if bone.trapeze_joint == "HINGE" else ("swing_x", "swing_z", "twist"):
        pair = limits.column(align=True)
        pair.prop(bone, f"trapeze_{name}_lower")
        pair.prop(bone, f"trapeze_{name}_upper", text="Upper")


def prop_settings(layout, owner):
    prop = owner.trapeze.prop
    column = split(layout)
    column.prop(prop, "motion")
    if prop.motion == "DYNAMIC":
        column.prop(prop, "use_volume")
        column.prop(prop, "density" if prop.use_volume else "mass")


def grip_settings(layout, owner):
    grip = owner.trapeze.grip
    column = split(layout)
    active = column.row()
    active.use_property_decorate = True
    active.prop(grip, "active")
    for end in ("first", "second"):
        if end == "second":
            column.prop(grip, "use_world")
            if grip.use_world:
                break
        column.prop(grip, f"{end}_object")
        held = getattr(grip, f"{end}_object")
        if held and held.type == "ARMATURE":
            column.prop_search(grip, f"{end}_bone", held.pose, "bones")
    column.prop(grip, "joint")
    column.prop(grip, "hold")
    if grip.hold == "SOFT":
        column.prop(grip, "stiffness")
        column.prop(grip, "damping")
    column.prop(grip, "break_force")
    column.prop(grip, "close_frames")
    if grip.joint in ("SLIDER", "CYLINDER"):
        column.prop(grip, "use_travel")
        if grip.use_travel:
            travel = column.column(align=True)
            travel.prop(grip, "travel_lower")
            travel.prop(grip, "travel_upper", text="Upper")


def push_settings(layout, owner):
    push = owner.trapeze.push
    column = split(layout)
    column.prop(push, "target")
    if push.target and push.target.type == "ARMATURE":
        column.prop_search(push, "bone", push.target.pose, "bones")
    column.prop(push, "frame")
    column.prop(push, "strength")


def field_settings(layout, owner):
    """How much of force fields a figure or a dynamic prop feels; read at every frame, so it can be keyed."""
    column = split(layout)
    column.use_property_decorate = True
    column.prop(owner.trapeze.figure if owner.trapeze.role == "FIGURE" else owner.trapeze.prop, "field_weight")


def range_settings(layout, scene):
    """Which frames are simulated, and from what."""
    settings = scene.trapeze
    column = split(layout)
    column.prop(settings, "use_scene_range")
    if not settings.use_scene_range:
        frames = column.column(align=True)
        frames.prop(settings, "frame_start")
        frames.prop(settings, "frame_end")
    column.prop(settings, "use_stored")


def solver_settings(layout, scene):
    """How the frames are simulated."""
    settings = scene.trapeze
    column = split(layout)
    column.prop(settings, "substeps")
    column.prop(settings, "integrator")
    velocity = column.column()
    velocity.active = not settings.use_stored
    velocity.prop(settings, "use_source_velocity")
    column.prop(settings, "keep_failed")


def overlay_settings(layout, scene):
    settings = scene.trapeze
    column = split(layout)
    column.active = settings.show_overlay
    for name in ("show_links", "show_joints", "show_centres", "show_pushes"):
        column.prop(settings, name)
