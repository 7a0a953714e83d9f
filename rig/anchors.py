# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are in the source motion: poses of objects and bones at chosen frames, in metres, scale left out."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..dynamics import Motion, Pose
from .bones import orthonormal
from .channels import quaternion_from_matrix
from .errors import RigError
from .sample import frame_kept, go_to
from .switch import is_showing_result, playing, show_result, show_source

MARGIN = 2  # frames that a motion is known beyond the range, so that its ends are not bent


class Place(NamedTuple):
    """An object, or a bone of it."""

    owner: object
    bone: str = ""

    def __str__(self):
        return f"{self.bone} of {self.owner.name}" if self.bone else self.owner.name


def pose_now(place, depsgraph):
    """World pose as it looks now."""
    seen = place.owner.evaluated_get(depsgraph)
    matrix = np.array(seen.matrix_world, dtype=float)
    if place.bone:
        matrix = matrix @ np.array(seen.pose.bones[place.bone].matrix, dtype=float)
    if not np.isfinite(matrix).all():
        raise RigError(f"The place of {place} is not a number; look at its keys and drivers")
    metre = depsgraph.scene.unit_settings.scale_length
    return Pose(matrix[:3, 3] * metre, quaternion_from_matrix(orthonormal(matrix[:3, :3])))


def look(scene, depsgraph, wanted):
    """{place: {frame: Pose}} for {place: frames}. The scene is stepped through all frames once and put back."""
    by_frame = {}
    for place, frames in wanted.items():
        for frame in frames:
            by_frame.setdefault(float(frame), []).append(place)
    seen = {place: {} for place in wanted}
    with frame_kept(scene):
        for frame in sorted(by_frame):
            go_to(scene, frame)
            for place in by_frame[frame]:
                seen[place][frame] = pose_now(place, depsgraph)
    return seen


def motion_frames(frames):
    """The frames at which something that moves as keyed is looked at."""
    return range(frames[0] - MARGIN, frames[-1] + MARGIN + 1)


def motion(poses, seconds):
    """A smooth motion through poses at frames, one frame lasting the given time."""
    frames = sorted(poses)
    return Motion(
        [frame * seconds for frame in frames],
        [poses[frame].position for frame in frames], [poses[frame].rotation for frame in frames])


@contextmanager
def showing(owners, result=False):
    """Inside, all objects play their source, or their result where they have one; afterwards what they did before."""
    switched = []
    try:
        for owner in owners:
            before = is_showing_result(owner)
            if result and not before and playing(owner).result:
                show_result(owner)
                switched.append((owner, show_source))
            elif not result and playing(owner).showing == "RESULT":
                show_source(owner)
                if before:
                    switched.append((owner, show_result))
        yield
    finally:
        for owner, switch_back in switched:
            switch_back(owner)
