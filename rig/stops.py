# SPDX-License-Identifier: GPL-3.0-or-later
"""From the limits and the friction of a bone to the stop and the impedance of its joint.

A joint cannot start beyond a stop: where the source does, as captured motion may, the range is widened to hold it.
"""

import numpy as np

from ..dynamics import BallLimit, HingeLimit, Impedance

NEAR = 0.003  # rad: a joint that rests in its stop is this far beyond it
WIDER = 1.001


def impedance(bone):
    """What the joint of a pose bone feels like."""
    return Impedance(
        bone.trapeze_virtual_inertia, bone.trapeze_viscous_friction, bone.trapeze_coulomb_friction,
        bone.trapeze_gravity_compensation)


def stop(link, poses):
    """The limit of a LinkDescription, and whether it had to be widened; (None, False) if there is none.

    poses   coordinates that must lie inside: angles (n, 1) of a hinge, quaternions (n, 4) of a ball
    """
    if link.limits is None:
        return None, False
    return _hinge(link.limits, poses) if link.joint == "HINGE" else _ball(link.limits, poses)


def _hinge(limits, angles):
    lower, upper = _around_rest(limits.hinge)
    low, high = np.min(angles), np.max(angles)
    widened = (lower, upper) != limits.hinge or low < lower - NEAR or high > upper + NEAR
    lower, upper = (low if low < lower - NEAR else lower), (high if high > upper + NEAR else upper)
    return HingeLimit(float(lower), float(upper)), bool(widened)


def _ball(limits, quaternions):
    # the limb's Y x X is its -Z: turns about Z count backwards
    asked = limits.twist, limits.swing_x, (-limits.swing_z[1], -limits.swing_z[0])
    twist_span, *swings = (_around_rest(span) for span in asked)
    widened = (twist_span, *swings) != asked
    axis, across = limits.axes[:, 1], limits.axes[:, 0]
    twist, swing = swing_and_twist(np.atleast_2d(quaternions), axis)
    low, high = twist.min(), twist.max()
    if low < twist_span[0] - NEAR or high > twist_span[1] + NEAR:
        widened, twist_span = True, (min(low, twist_span[0]), max(high, twist_span[1]))
    middle = np.array([0.5 * (lower + upper) for lower, upper in swings])
    half = np.maximum([0.5 * (upper - lower) for lower, upper in swings], 1e-3)
    away = np.stack([swing @ across, swing @ np.cross(axis, across)], axis=-1) - middle
    reach = np.linalg.norm(away / half, axis=-1)
    worst = np.argmax(reach)
    if (half < np.pi).any() and np.linalg.norm(away[worst]) * (1.0 - 1.0 / max(reach[worst], 1e-9)) > NEAR:
        widened, half = True, half * reach[worst] * WIDER
        swings = [(min(m - h, 0.0), max(m + h, 0.0)) for m, h in zip(middle, half)]
    return BallLimit(
        tuple(map(float, twist_span)), tuple((float(a), float(b)) for a, b in swings), tuple(axis), tuple(across)
    ), bool(widened)


def swing_and_twist(quaternions, axis):
    """Angles (n,) of the twist about an axis, and rotation vectors (n, 3) of the swing that follows it."""
    w, vector = quaternions[:, 0], quaternions[:, 1:]
    along = vector @ axis
    twist = np.remainder(2.0 * np.arctan2(along, w) + np.pi, 2.0 * np.pi) - np.pi
    cos, sin = np.cos(0.5 * twist)[:, None], np.sin(0.5 * twist)[:, None] * axis
    # swing = rotation * conjugate(twist)
    real = w * cos[:, 0] + np.sum(vector * sin, axis=1)
    parts = cos * vector - w[:, None] * sin - np.cross(vector, sin)
    parts, real = np.where(real[:, None] < 0.0, -parts, parts), np.abs(real)
    size = np.linalg.norm(parts, axis=1)
    scale = np.where(size < 1e-12, 2.0, 2.0 * np.arctan2(size, real) / np.maximum(size, 1e-12))
    return twist, scale[:, None] * parts


def _around_rest(span):
    """A range that holds the rest pose too."""
    return min(span[0], 0.0), max(span[1], 0.0)
