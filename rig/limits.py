# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joint a bone has and how far it turns: from its locks, its IK limits and Limit Rotation, else from what it is.

Angles are radians from the rest pose. Those of a ball joint are taken about the axes of the limb: Y runs along it,
X and Z are swings. The limb's axes are the bone's own, unless the bone's Y axis runs across the limb, as in rigs
from game engines.
"""

from math import degrees, radians

import numpy as np

HINGES = {"forearm": 145.0, "shin": 140.0}  # degrees from the straight limb
SLACK = 5.0  # captured motion overstretches a little
STIFF = radians(1.0)  # a range smaller than this is a lock

# Degrees of flexion, of abduction, and of twist. Of a spine and of a neck, over all of its bones together.
HUMAN = {
    "thigh": ((-20, 115), (-30, 45), (-40, 40)),
    "upper_arm": ((-100, 100), (-100, 100), (-80, 80)),
    "clavicle": ((-20, 20), (-20, 20), (-15, 15)),
    "hand": ((-70, 70), (-40, 40), (-80, 80)),
    "foot": ((-45, 25), (-20, 20), (-25, 25)),
    "spine": ((-30, 70), (-35, 35), (-45, 45)),
    "neck": ((-55, 50), (-40, 40), (-70, 70))}


def limb_axes(segment):
    """Axes of the limb in the bone's frame, as columns, for the segment (3,) in that frame."""
    length = np.linalg.norm(segment)
    direction = segment / length if length > 0.0 else np.array([0.0, 1.0, 0.0])
    if direction[1] > 0.7:
        return np.eye(3)
    if direction[1] < -1.0 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    # The shortest turn from Y to the segment: I + K + K^2 / (1 + cos).
    x, y, z = np.cross((0.0, 1.0, 0.0), direction)
    turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + turn + turn @ turn / (1.0 + direction[1])


def bone_ranges(bone):
    """What locks, IK limits and Limit Rotation of a pose bone say: (lower, upper) about each axis, None where free."""
    ranges = []
    handsoff = all(bone.lock_rotation)  # no statement about the joint: Rigify locks all bones that are not controls
    limiting = [
        one for one in bone.constraints if one.type == "LIMIT_ROTATION" and not one.mute and one.owner_space == "LOCAL"]
    for number, axis in enumerate("xyz"):
        span = None
        if getattr(bone, f"lock_ik_{axis}") or bone.lock_rotation[number] and not handsoff:
            span = 0.0, 0.0
        elif getattr(bone, f"use_ik_limit_{axis}"):
            span = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
        for constraint in limiting:
            if getattr(constraint, f"use_limit_{axis}"):
                lower, upper = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
                span = (max(lower, span[0]), min(upper, span[1])) if span else (lower, upper)
        ranges.append(span)
    return ranges


def joint_from_ranges(ranges):
    """Joint and limits that the ranges about a bone's axes ask for, as settings of the bone; {} if they ask nothing."""
    if all(span is None for span in ranges):
        return {}
    free = [number for number, span in enumerate(ranges) if span is None or span[1] - span[0] > STIFF]
    if not free:
        return {"joint": "FIXED"}
    if len(free) == 1:
        found = {"joint": "HINGE", "axis": tuple(np.eye(3)[free[0]])}
        return {**found, **_hinge(*ranges[free[0]])} if ranges[free[0]] else found
    x, y, z = (span or (-np.pi, np.pi) for span in ranges)
    return {"joint": "BALL", **_ball(x, z, y)}


def hinge(axes, before, along, anatomical, most):
    """Settings of an elbow or a knee: axes (3, 3) of the bone, directions of the segments before and after it at rest.

    The axis is the one about which the limb is bent at rest, or, of a straight limb, the anatomical one. It points so
    that bending is positive; the range runs from the straight limb to `most` degrees.
    """
    bent = np.cross(before, along)
    bend = np.arctan2(np.linalg.norm(bent), before @ along)
    if anatomical is not None:
        anatomical = anatomical - along * (anatomical @ along)
        anatomical = anatomical / max(np.linalg.norm(anatomical), 1e-12)
    if degrees(bend) > SLACK:
        axis = bent / np.linalg.norm(bent)
        if anatomical is not None and axis @ anatomical < 0.5:
            axis, bend = anatomical, 0.0
    elif anatomical is not None:
        axis, bend = anatomical, 0.0
    else:
        axis, bend = axes[:, 0], 0.0
    span = _hinge(-bend - radians(SLACK), radians(most) - bend)
    return {"joint": "HINGE", "axis": tuple(axes.T @ axis), **span}


def human_ball(part, side, limb, along, up, forward, count):
    """Limits of a human ball joint, as settings: limb (3, 3) axes of the limb in the space of `along`, `up`, `forward`.

    `count` bones share the range of a spine or a neck.
    """
    flexion, abduction, twist = (np.radians(span) / count for span in HUMAN[part])
    towards = {"foot": up, "hand": -up}.get(part, forward)
    axis = limb.T @ np.cross(along, towards)
    size = np.hypot(axis[0], axis[2])
    if side == "R":
        abduction = -abduction[::-1]
    if size < 0.5 or max(abs(axis[0]), abs(axis[2])) < 0.85 * size:
        most = max(np.abs(flexion).max(), np.abs(abduction).max())  # oblique axes: a round cone that holds the ellipse
        return {"joint": "BALL", **_ball((-most, most), (-most, most), twist)}
    # A positive turn about flexion x along moves the limb against the flexion axis, which is how abduction is counted.
    if abs(axis[0]) >= abs(axis[2]):
        x, z = _signed(flexion, axis[0]), _signed(abduction, axis[0])
    else:
        z, x = _signed(flexion, axis[2]), _signed(abduction, -axis[2])
    return {"joint": "BALL", **_ball(x, z, twist)}


def _signed(span, sign):
    return span if sign > 0.0 else -np.asarray(span)[::-1]


def _hinge(lower, upper):
    return {"use_limits": True, "hinge_lower": float(lower), "hinge_upper": float(upper)}


def _ball(x, z, twist):
    names = "swing_x_lower", "swing_x_upper", "swing_z_lower", "swing_z_upper", "twist_lower", "twist_upper"
    return {"use_limits": True, **dict(zip(names, (float(value) for value in (*x, *z, *twist))))}
