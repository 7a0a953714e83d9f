# SPDX-License-Identifier: GPL-3.0-or-later
"""How heavy it is for a joint to move: what the strength of a muscle, a frequency, is turned into a stiffness with.

A joint moves everything beyond it, unless that is held by a grip: ankles of planted feet and shoulders of hands on a
bar move the rest of the body instead. The larger of both counts where a grip is ever at work. It is that of the rest
pose, so that a muscle is as strong in one pose as in another, whatever frame a simulation starts at.
"""

import numpy as np

from ..dynamics import natural
from .channels import matrix_from_quaternion

UNIT = 1.0 / (2.0 * np.pi)  # Hz: the frequency at which a stiffness is the inertia


def held_links(read):
    """Links that a grip holds at some time."""
    ends = [end for one in read.holds for end in (one.first, one.second)]
    return {read.links[end.place] for end in ends if end.place in read.links}


def felt_weight(read, link, held):
    """Inertia that the joint of a link feels (kg m^2, about its axis or the mean of three; kg of a root)."""
    chain, state = read.chain, read.chain.state()
    weight = natural(chain, state, link, UNIT)[0]
    if link.parent is chain.world:
        return weight
    beyond = _beyond(chain, link)
    if not beyond & held:
        return weight
    top = link
    while top.parent is not chain.world:
        top = top.parent
    pose = state.pose(link)
    inertia = sum((_about(state, one, pose.position) for one in _beyond(chain, top) - beyond), np.zeros((3, 3)))
    if link.joint.freedoms == 3:
        return max(weight, float(np.trace(inertia)) / 3.0)
    axis = matrix_from_quaternion(np.array(pose.rotation)) @ np.array(link.joint.axis)
    return max(weight, float(axis @ inertia @ axis))


def _beyond(chain, link):
    """The link and everything that hangs on it."""
    found = {link}
    for one in chain.links:  # parents come before children
        if one.parent in found:
            found.add(one)
    return found


def _about(state, link, point):
    """Inertia (3, 3) of a link about a point, world axes."""
    pose, inertia = state.pose(link), link.inertia
    turn = matrix_from_quaternion(np.array(pose.rotation))
    arm = np.array(pose.position) + turn @ np.array(inertia.com) - np.array(point)
    return turn @ inertia.tensor @ turn.T + inertia.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
