# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions for the joints of the reference figure, written down with numpy and scipy alone."""

import numpy as np
from scipy.spatial.transform import Rotation

from dynamics import Chain, Inertia, JointMotion, Pose
from dynamics.samples import FIGURE, FIGURE_JOINTS

FRAME = 1.0 / 24.0  # s


def wave(part, t, reach=0.35):
    """How far joint number `part` is from its starting pose: three sines of about one hertz, still at t = 0."""
    k = np.arange(3)
    rate = 2.0 * np.pi * (0.6 + 0.1 * (part % 5) + 0.15 * k)
    return reach * np.cos(part + 2.0 * k) * (1.0 - np.cos(rate * t)) * 0.5


def coordinates(part, t):
    """Angle (1) or quaternion w, x, y, z (4) of a joint of the figure at a time."""
    place = FIGURE.index(part)
    if part.joint == "hinge":
        return np.array([part.start + wave(place, t)[0]])
    turned = Rotation.from_quat(np.roll(part.start, -1)) * Rotation.from_rotvec(wave(place, t))
    return np.roll(turned.as_quat(), 1)


def key_frames(part, duration):
    """Times and values of a joint's keys, one a frame."""
    times = FRAME * np.arange(int(duration / FRAME) + 3)
    return times, np.array([coordinates(part, t) for t in times])


def keys(part, duration):
    return JointMotion(*key_frames(part, duration))


def joints():
    """The parts whose joint is not the root's."""
    return [part for part in FIGURE if part.joint != "free"]


def turned_by(first, second):
    """Angle between two quaternions (w, x, y, z), or between two angles."""
    if len(first) == 1:
        return abs(first[0] - second[0])
    one, other = (Rotation.from_quat(np.roll(q, -1)) for q in (first, second))
    return (one.inv() * other).magnitude()


def scaled_figure(scale=1.0, gravity=9.81):
    """A chain with the reference figure, lengths times `scale`, masses times its cube, and its links by name."""
    chain = Chain(gravity=(0.0, 0.0, -gravity))
    links = {}
    for part in FIGURE:
        links[part.name] = chain.add(
            part.name, links.get(part.parent), FIGURE_JOINTS[part.joint], Pose(position=scale * np.array(part.origin)),
            Inertia.box(scale**3 * part.mass, scale * np.array(part.box), scale * np.array(part.com)),
        )  # fmt: skip
    return chain, links
