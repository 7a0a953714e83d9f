# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast things move in the source motion at the start frame, from poses at frames around it.

A motion that goes on through the start frame is differenced across it. One that begins or ends there stands still on
one side, and differencing across would halve its speed: the difference is then taken on the moving side alone, with
three poses, which is of second order too. A jump to another pose within one frame, such as the rest pose in front of
captured motion, is no velocity; that side does not count either.
"""

import numpy as np

from ..dynamics.pose import conjugate, quaternion_product
from .anchors import look

NEAR = 0.5  # frames
STILL = 2e-6  # metres, radians: what single precision makes of a thing that does not move
JUMP, FAR = 10.0, 0.1  # a frame that moves things this many times as far as the next one, and at least so far
# frames from the start, and the weight of each displacement in the derivative
ACROSS = {-NEAR: -0.5 / NEAR, NEAR: 0.5 / NEAR}
AHEAD = {1.0: 2.0, 2.0: -0.5}
BEHIND = {-1.0: -2.0, -2.0: 0.5}
SCHEMES = {(True, True): ACROSS, (False, True): AHEAD, (True, False): BEHIND, (False, False): {}}


def source_twists(scene, depsgraph, groups, start, seconds):
    """{place: world twist [angular; linear]} at the start frame, and the groups that jump there.

    groups: dictionaries {place: pose at the start}; what is in one group starts and stops together
    """
    near = _displacements(scene, depsgraph, groups, start, ACROSS)
    moving = [group for group in groups if any(_size(near, group, offset) > STILL for offset in ACROSS)]
    wide = _displacements(scene, depsgraph, moving, start, {**AHEAD, **BEHIND})
    twists, jumping = {}, []
    for group in groups:
        counts = [False, False]
        for side, (offset, one, two) in enumerate(((-NEAR, -1.0, -2.0), (NEAR, 1.0, 2.0))):
            if group in moving and _size(near, group, offset) > STILL:
                counts[side] = not _jumps(wide, group, one, two)
                if not counts[side] and group not in jumping:
                    jumping.append(group)
        scheme = SCHEMES[tuple(counts)]
        for place in group:
            moved = {**near[place], **wide.get(place, {})}
            twists[place] = sum((weight * moved[offset] for offset, weight in scheme.items()), np.zeros(6)) / seconds
    return twists, jumping


def _size(moved, group, offset):
    """How far the furthest of a group has moved or turned."""
    return max(np.abs(moved[place][offset]).max() for place in group)


def _jumps(moved, group, one, two):
    """Whether the frame next to the start moves the group much further than the one after that."""
    further = max(np.abs(moved[place][two] - moved[place][one]).max() for place in group)
    return _size(moved, group, one) > max(FAR, JUMP * further)


def _displacements(scene, depsgraph, groups, start, offsets):
    """{place: {offset: [rotation vector; shift] from the start}}."""
    starts = {place: pose for group in groups for place, pose in group.items()}
    if not starts:
        return {}
    seen = look(scene, depsgraph, {place: [start + offset for offset in offsets] for place in starts})
    return {
        place: {offset: _displacement(starts[place], seen[place][start + offset]) for offset in offsets}
        for place in starts}


def _displacement(start, pose):
    turn = quaternion_product(pose.rotation, conjugate(start.rotation))
    turn = turn if turn[0] >= 0.0 else -turn
    sine = np.linalg.norm(turn[1:])
    factor = 2.0 if sine < 1e-12 else 2.0 * np.arctan2(sine, turn[0]) / sine
    return np.concatenate([factor * turn[1:], pose.position - start.position])


def set_velocity(state, link, axis, twist, above):
    """Give a joint the velocity that its link has beside what it hangs on; what it cannot do is left out.

    twist, above: world twists of the link and of its parent; axis: of a hinge, in the link's frame
    """
    if link.joint.freedoms == 0:
        return
    back = state.pose(link).matrix.T
    spin = back @ (twist[:3] - above[:3])
    if link.joint.freedoms == 6:
        state.set(link, velocity=np.concatenate([spin, back @ twist[3:]]))
    else:
        state.set(link, velocity=spin if link.joint.freedoms == 3 else [spin @ axis])
