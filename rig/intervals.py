# SPDX-License-Identifier: GPL-3.0-or-later
"""When a grip holds: intervals of scene frames, read from the keys of its `active` switch.

Keys are read where they are, also between frames, and hold until the next one. A switch without keys counts as it is.
Where a driver or an NLA track moves the switch there are no keys to read, and it is looked at frame by frame.
"""

import math

from . import actions
from .sample import Source, frame_kept, go_to

PATH = "trapeze.grip.active"


def grips(scene):
    """The grips of the scene, by name."""
    return sorted((owner for owner in scene.objects if owner.trapeze.role == "GRIP"), key=lambda owner: owner.name)


def action_frame(scene, frame):
    """The time in actions that a scene frame shows: they differ under time remapping."""
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def active_curve(owner):
    """The F-curve of a grip's switch; None if it has no keys."""
    found = actions.motion_of(owner)
    curves = (curve for curve in found.curves() if curve.data_path == PATH) if found else ()
    return next((curve for curve in curves if len(curve.keyframe_points)), None)


def is_muted(owner):
    """Whether the grip has keys that do not count."""
    curve = active_curve(owner)
    return curve is not None and actions.is_muted(curve)


def is_blended(scene, owner):
    """Whether something else than keys moves the switch."""
    return PATH in Source(scene, owner).blended


def keyed_intervals(scene, owner):
    """[(frame of taking hold, frame of letting go)] from the keys, open ends at infinity."""
    curve = active_curve(owner)
    if curve is None or actions.is_muted(curve):
        return [(-math.inf, math.inf)] if owner.trapeze.grip.active else []
    scale = scene.render.frame_map_new / scene.render.frame_map_old
    switches = [(point.co[0] * scale, point.co[1] > 0.5) for point in curve.keyframe_points]
    return _gather([(-math.inf, switches[0][1]), *switches])


def intervals(scene, owner, frames):
    """The same for a simulation of the given frames, whatever moves the switch."""
    if not is_blended(scene, owner):
        return keyed_intervals(scene, owner)
    switches = []
    with frame_kept(scene):
        for frame in frames:
            go_to(scene, frame)
            switches.append((frame, owner.trapeze.grip.active))
    return _gather(switches)


def is_active(scene, owner, frame):
    """Whether the keys have the grip hold at a frame."""
    return any(start <= frame < end for start, end in keyed_intervals(scene, owner))


def set_active(scene, owner, frame, active):
    """Key the switch at a frame, held until the next key."""
    time = action_frame(scene, frame)
    owner.trapeze.grip.active = active
    owner.keyframe_insert(PATH, frame=time, group="Grip")
    for point in active_curve(owner).keyframe_points:
        point.interpolation = "CONSTANT"


def _gather(switches):
    """Intervals from [(frame, on)] in rising order; the last switch holds for ever."""
    found, since = [], None
    for frame, on in switches:
        if on and since is None:
            since = frame
        elif not on and since is not None:
            if frame > since:
                found.append((since, frame))
            since = None
    return found if since is None else [*found, (since, math.inf)]
