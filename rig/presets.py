# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles and friction for many bones at once.

The friction is that of a relaxed human joint as identified in paper 004: viscous alone, 1.56 N m s/rad at the knee of
an adult, no added inertia, no Coulomb friction, all of the weight felt. Other joints get it in proportion to the mass
beyond them: a knee moves 4 kg.
"""

import bpy

KNEE_FRICTION = 1.56  # N m s/rad
KNEE_MASS = 4.0  # kg beyond the knee of an adult of 70 kg

# name: description, settings. The strengths are natural frequencies in hertz.
PRESETS = {
    "RAG_DOLL": ("Rag Doll", "No muscle at all: gravity, momentum and grips decide", {"muscle": "LIMP"}),
    "RELAXED": (
        "Relaxed", "Gives way and returns slowly to the keyed pose",
        {"muscle": "DRIVEN", "strength": 1.0, "damping_ratio": 0.7}),
    "ATHLETIC": (
        "Athletic", "Follows the keyed pose and cushions blows",
        {"muscle": "DRIVEN", "strength": 4.0, "damping_ratio": 1.0}),
    "GYMNAST": (
        "Gymnast", "Follows the keyed pose closely against the whole weight of the body",
        {"muscle": "DRIVEN", "strength": 10.0, "damping_ratio": 1.0}),
    "STIFF": (
        "Stiff", "Hardly gives way at all", {"muscle": "DRIVEN", "strength": 40.0, "damping_ratio": 1.0})}


def with_opposites(bones):
    """The bones and those on the other side of the body."""
    found = {bone.name: bone for bone in bones}
    for bone in bones:
        other = bone.id_data.pose.bones.get(bpy.utils.flip_name(bone.name))
        if other:
            found[other.name] = other
    return list(found.values())


def joints(bones):
    """Those of the bones that have a joint to act in."""
    return [bone for bone in bones if bone.trapeze_part == "LINK" and bone.trapeze_joint != "FIXED"]


def apply_preset(bones, name):
    """Give the bones the muscles of a preset; a torque limit set by hand stays."""
    for bone in bones:
        for setting, value in PRESETS[name][2].items():
            setattr(bone, f"trapeze_{setting}", value)


def apply_friction(bones):
    """Give the joints the friction of a relaxed human."""
    for bone in bones:
        bone.trapeze_virtual_inertia = bone.trapeze_coulomb_friction = bone.trapeze_gravity_compensation = 0.0
        bone.trapeze_viscous_friction = KNEE_FRICTION * mass_beyond(bone) / KNEE_MASS


def mass_beyond(bone):
    """Kilograms of a bone and of everything that hangs on it."""
    parts = [bone, *bone.children_recursive]
    return sum(one.trapeze_mass for one in parts if one.trapeze_part != "IGNORED")


def muscle_count(owner):
    """What the panel says about the muscles of a figure: how many joints are driven, keyed and limp."""
    modes = [bone.trapeze_muscle for bone in joints(owner.pose.bones) if bone.parent]
    counts = {label: modes.count(mode) for mode, label in (("DRIVEN", "driven"), ("KEYED", "keyed"), ("LIMP", "limp"))}
    return ", ".join(f"{count} {label}" for label, count in counts.items() if count)


def muscle_hints(owner):
    """What will not do what it looks like, in sentences short enough for the sidebar."""
    modes = {bone.trapeze_muscle for bone in joints(owner.pose.bones) if bone.parent}
    found = []
    if owner.trapeze.figure.strength == 0.0 and "DRIVEN" in modes:
        found.append("All Muscles is 0: driven is limp")
    if modes & {"DRIVEN", "KEYED"} and not (owner.animation_data and owner.animation_data.action):
        found.append("No keys: muscles hold this pose")
    return found
