# SPDX-License-Identifier: GPL-3.0-or-later
"""From the limits and the friction of a bone to the stop and the impedance of its joint.

A joint cannot start beyond a stop: where the source does, as captured motion may, the range is widened to hold it.
"""

import numpy as np

from ..dynamics import HingeLimit, Impedance

NEAR = 0.003  # rad: a joint that rests in its stop is this far beyond it


def impedance(bone):
    """What the joint of a pose bone feels like."""
    return Impedance(
        bone.trapeze_virtual_inertia, bone.trapeze_viscous_friction, bone.trapeze_coulomb_friction,
        bone.trapeze_gravity_compensation)


def stop(link, angles):
    """The limit of a LinkDescription of a hinge, and whether it had to be widened; (None, False) if there is none.

    angles   (n, 1) that must lie inside
    """
    if link.limits is None or link.joint != "HINGE":
        return None, False
    lower, upper = min(link.limits.hinge[0], 0.0), max(link.limits.hinge[1], 0.0)
    low, high = np.min(angles), np.max(angles)
    widened = (lower, upper) != link.limits.hinge or low < lower - NEAR or high > upper + NEAR
    lower, upper = (low if low < lower - NEAR else lower), (high if high > upper + NEAR else upper)
    return HingeLimit(float(lower), float(upper)), bool(widened)
