# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of each bone that follow from what the body is: part, mass, shape, joint and limits.

Settings are dictionaries of what Blender stores on the pose bone, without the prefix; besides, `share` of the total
mass.
"""

import numpy as np

from .anthropometry import CENTRES
from .body import DENSITY
from .limits import HINGES, HUMAN, bone_ranges, hinge, human_ball, joint_from_ranges, limb_axes
from .shapes import capsule_radius


def bone_settings(body, total):
    """Settings of every bone of the body, for the given total mass."""
    return [_settings(body, bone, total) for bone in range(len(body.parts))]


def _settings(body, bone, total):
    part, share = body.parts[bone], float(body.shares[bone])
    if part == "IGNORED":
        return {"part": part, "mass": 0.0}
    settings = {"part": part, "mass": share * total, "share": share, **_shape(body, bone)}
    if part == "LINK" and body.parents[bone] >= 0:
        settings.update(_joint(body, bone))
    return settings


def _shape(body, bone):
    """Shape, radius and centre in the bone's frame, in Blender units of the armature."""
    axes, length = body.skeleton.axes[bone], body.lengths[bone]
    skin = body.skins.get(bone)
    if skin is not None:
        spread = axes.T @ skin.spread @ axes
        return {
            "shape": "MESH",
            "radius": capsule_radius(length, skin.volume),
            "centre": tuple(axes.T @ (skin.centre - body.skeleton.heads[bone])),
            "spread": tuple(spread[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)])}
    volume = body.shares[bone] * body.mass / DENSITY / body.metre**3
    along = 0.5
    split = any(body.anatomy.continues(child) for child in body.anatomy.children[bone])
    if body.kind == "human" and not split and not body.anatomy.continues(bone):
        along = CENTRES[body.proportions].get(body.anatomy[bone].part, along)
    return {
        "shape": "CAPSULE",
        "radius": capsule_radius(length, volume),
        "centre": tuple(axes.T @ (body.segments[bone] * along))}


def _joint(body, bone):
    name, axes = body.anatomy[bone], body.skeleton.axes[bone]
    along = body.segments[bone] / body.lengths[bone]
    own = joint_from_ranges(bone_ranges(body.owner.pose.bones[bone]))
    if own.get("joint") in ("FIXED", "HINGE"):
        return own
    if name.part in HINGES and body.kind != "creature":
        before = body.skeleton.heads[bone] - body.skeleton.heads[_segment_start(body, bone)]
        before = before / max(np.linalg.norm(before), 1e-12)
        bending = None
        if body.kind == "human":
            forward = body.frame[2]
            bending = np.cross(along, forward if name.part == "forearm" else -forward)
        found = hinge(axes, before, along, bending, HINGES[name.part])
        return {**found, **_own_range(own, found["axis"])}
    if own:
        return own
    part = "neck" if name.part == "head" else name.part
    if body.kind == "human" and part in HUMAN:
        limb = axes @ limb_axes(axes.T @ body.segments[bone])
        return human_ball(part, name.side, limb, along, body.frame[1], body.frame[2], _count(body, part))
    return {"joint": "BALL", "use_limits": False}


def _own_range(own, axis):
    """The rig's own range about the bone axis that the hinge lies on, where it gives one."""
    number = int(np.argmax(np.abs(axis)))
    name = ("swing_x", "twist", "swing_z")[number]
    lower, upper = own.get(f"{name}_lower", -np.pi), own.get(f"{name}_upper", np.pi)
    if upper - lower > 2.0 * np.pi - 1e-3 or abs(axis[number]) < 0.9:
        return {}
    if axis[number] < 0.0:
        lower, upper = -upper, -lower
    return {"hinge_lower": lower, "hinge_upper": upper}


def _segment_start(body, bone):
    """The first bone of the segment before: a thigh may be split into several."""
    parent = body.parents[bone]
    while body.anatomy.continues(parent):
        parent = body.parents[parent]
    return parent


def _count(body, part):
    """How many links share the range of a spine or of a neck with its head."""
    parts = {"spine": ("spine",), "neck": ("neck", "head")}.get(part, ())
    links = [bone for one in parts for bone in body.anatomy.named(one) if body.parts[bone] == "LINK"]
    return max(len(links), 1)
