# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to a figure: every bone's part, joint, limits, mass and shape, guessed well and remembered.

What was guessed is stored beside the settings (`trapeze_guess`), so that guessing again can tell what a person has
changed since, and leaves that alone.
"""

import json
from dataclasses import dataclass

import bpy
import numpy as np

from .actions import Motion
from .body import Body
from .guess import bone_settings
from .skeleton import check_armature

PREFIX = "trapeze_"
MIRROR = {"axis": (1, -1, -1), "centre": (-1, 1, 1), "spread": (1, 1, 1, -1, -1, 1)}


def set_up(owner, scene, mass=None, keep=True):
    """Make the armature object a figure, or bring one up to date. Returns the Body that was guessed from.

    mass in kilograms, or None to guess it; keep what a person has changed since the last time, or guess all anew.
    """
    figure = owner.trapeze.figure
    body = Body(owner, scene, figure.body, figure.shape)
    known = _stored(figure.guess) if keep and owner.trapeze.role == "FIGURE" else {}
    changed = "mass" in known and not np.isclose(known["mass"], figure.mass, rtol=1e-6)
    owner.trapeze.role = "FIGURE"
    figure.mass = mass or (figure.mass if changed else body.mass)
    figure.guess = json.dumps({"mass": body.mass, "kind": body.kind, "height": body.height})
    for bone, settings in zip(owner.pose.bones, bone_settings(body, figure.mass), strict=True):
        _settle(bone, settings, keep)
    return body


def spread_mass(owner):
    """Spread a new total mass over the bones whose mass was not changed by hand."""
    for bone in owner.pose.bones if owner.trapeze.role == "FIGURE" else ():
        known = _stored(bone.trapeze_guess)
        if "share" in known and "mass" not in changes(bone):
            bone.trapeze_mass = known["share"] * owner.trapeze.figure.mass
            bone.trapeze_guess = json.dumps({**known, "mass": bone.trapeze_mass})


def changes(bone):
    """Names of the settings of a pose bone that a person has changed since they were guessed."""
    known = _stored(bone.trapeze_guess)
    return {name for name, value in known.items() if name != "share" and _value(bone, name) != value}


def remove(owner):
    """Take everything off the armature that makes it a figure. It plays its source again."""
    check_armature(owner)
    figure = owner.trapeze.figure
    if figure.showing == "RESULT" and figure.source:
        Motion(figure.source, figure.source_slot).assign(owner)
    elif figure.showing == "RESULT" and owner.animation_data:
        owner.animation_data.action = None
    for bone in owner.pose.bones:
        for name in _names(bone):
            bone.property_unset(name)
    for setting in figure.bl_rna.properties:
        if setting.identifier not in ("rna_type", "name"):
            figure.property_unset(setting.identifier)
    owner.trapeze.role = "NONE"


def copy_settings(source, targets, names):
    """Give some settings of a pose bone to others, by their names without the prefix; mirrored to its opposite."""
    for bone in targets:
        mirrored = bone.name == bpy.utils.flip_name(source.name) != source.name
        settings = {name: _value(source, name) for name in names}
        if settings.get("follows") == bone.name:
            settings["follows"] = ""  # the one that the others follow
        for name, value in (_mirrored(settings) if mirrored else settings).items():
            setattr(bone, PREFIX + name, value)


def _mirrored(settings):
    """The settings for the opposite bone: seen in a mirror, turns about Y and Z run backwards, and X points back."""
    flipped = dict(settings)
    for name in ("swing_z", "twist"):
        lower, upper = f"{name}_lower", f"{name}_upper"
        if lower in settings:
            flipped[lower], flipped[upper] = -settings[upper], -settings[lower]
    if "follows" in settings:
        flipped["follows"] = bpy.utils.flip_name(settings["follows"])
    for name, signs in MIRROR.items():
        if name in settings:
            flipped[name] = [sign * value for sign, value in zip(signs, settings[name])]
    return flipped


@dataclass
class Summary:
    """What a figure consists of."""

    kind: str  # human, quadruped or creature
    height: float  # metres
    links: int
    merged: int
    ignored: int
    mass: float  # kilograms, of all bones that take part
    driven: bool  # whether constraints of the rig move links: its controls are not simulated


def summary(owner):
    """What the panel says about a figure."""
    known = _stored(owner.trapeze.figure.guess)
    bones = owner.pose.bones
    parts = [bone.trapeze_part for bone in bones]
    mass = sum(bone.trapeze_mass for bone, part in zip(bones, parts) if part != "IGNORED")
    driven = any(part == "LINK" and len(bone.constraints) for bone, part in zip(bones, parts))
    return Summary(
        known.get("kind", "creature"), known.get("height", 0.0), parts.count("LINK"), parts.count("MERGED"),
        parts.count("IGNORED"), mass, driven)


def _settle(bone, settings, keep):
    """Write what was guessed, except over what a person has changed, and remember it as Blender keeps it."""
    mine = changes(bone) if keep else set()
    share = settings.pop("share", None)
    guess = {}
    for name, value in settings.items():
        before = _value(bone, name)
        if before != _plain(value):
            setattr(bone, PREFIX + name, value)
        guess[name] = _value(bone, name)
        if name in mine and before != guess[name]:
            setattr(bone, PREFIX + name, before)
    if share is not None:
        guess["share"] = share
    bone.trapeze_guess = json.dumps(guess)


def _value(bone, name):
    return _plain(getattr(bone, PREFIX + name))


def _plain(value):
    return value if isinstance(value, str | bool | float | int) else list(value)


def _stored(text):
    return json.loads(text) if text else {}


def _names(bone):
    return [setting.identifier for setting in bone.bl_rna.properties if setting.identifier.startswith(PREFIX)]
