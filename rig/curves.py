# SPDX-License-Identifier: GPL-3.0-or-later
"""A result action: the source's own curves where nothing was simulated, new ones in bulk where something was.

The source is copied, so every curve that stays keeps its keys, handles and modifiers. Constraints and drivers cannot
be beaten by keys on the same bone; constraints are muted by a key of their own, with the bone's keys holding still
until then so that nothing is blended between the two.
"""

import bpy
import numpy as np

from . import actions
from .errors import RigError

CONSTANT, LINEAR = 0, 1
COLOUR = {3: "AUTO_RGB", 4: "AUTO_YRGB"}


def build_action(source, frames, lead, tracks, muted):
    """The action in which the tracks play; removed again if it cannot be finished.

    lead: scene frames before the first one, at which the written channels follow the source
    muted: constraints that must not act from the first frame on
    """
    name = f"{source.motion.action.name if source.motion else source.owner.name} Trapeze"
    switches = [switch_path(constraint, source.driven) for constraint in muted]
    before, _, _ = source.channels([track.path for track in tracks] + [path for path, _ in switches], lead)
    if source.motion and (source.motion.slot or not actions.SLOTTED):
        motion = source.motion.copy(name)
    else:
        motion = actions.new_motion(name, source.owner)
    try:
        tidy(motion.action)
        make_room(motion, {(track.path, index) for track in tracks for index in track.indices}
                  | {(path, 0) for path, _ in switches})
        for track in tracks:
            write_track(motion, track, source.times(lead), before[track.path], source.times(frames))
        for path, value in switches:
            write_switch(motion, path, value, source.times(lead), before[path], source.times(frames[:1]))
    except BaseException:
        bpy.data.actions.remove(motion.action)
        raise
    return motion


def tidy(action):
    """What a copied action should not take over from the source as a data-block."""
    action.use_fake_user = False
    action.use_frame_range = action.use_cyclic = False
    if action.asset_data:
        action.asset_clear()


def make_room(motion, written):
    """Take out the curves that are written anew, and see that nothing silences the new ones."""
    modes = {f"{path.rpartition('.')[0]}.rotation_mode" for path, _ in written if ".rotation_" in path}
    for curve in list(motion.curves()):
        if (curve.data_path, curve.array_index) in written or curve.data_path in modes:
            motion.remove(curve)
    motion.open_groups()


def write_track(motion, track, lead, before, times):
    """One key per frame for every written number of a property."""
    if len(before) < len(lead):  # the source is still: its last key before the simulation says it all
        lead = lead[-1:]
    keys = np.empty((len(lead) + len(times), 2), dtype=np.float32)
    keys[:, 0] = np.concatenate([lead, times])
    interpolation = np.full(len(keys), LINEAR, dtype=np.intc)
    if track.freed and len(lead):
        interpolation[len(lead) - 1] = CONSTANT
    for index in track.indices:
        keys[:len(lead), 1] = before[:, index]
        keys[len(lead):, 1] = track.values[:, index]
        curve = motion.add(track.path, index, track.group)
        curve.color_mode = COLOUR[track.values.shape[1]]
        fill(curve, keys, interpolation)


def write_switch(motion, path, value, lead, before, first):
    """A switch that is thrown at the first frame."""
    keys = [(first[0], value)]
    if len(lead):
        keys.insert(0, (lead[-1], before[-1, 0]))
    curve = motion.add(path, 0, path.split('"')[1])
    fill(curve, np.array(keys, dtype=np.float32), np.full(len(keys), CONSTANT, dtype=np.intc))


def fill(curve, keys, interpolation):
    """Give an empty F-curve its keys (n, 2) at once."""
    points = curve.keyframe_points
    points.add(len(keys))
    points.foreach_set("co", keys.ravel())
    points.foreach_set("interpolation", interpolation)
    curve.update()


def switch_path(constraint, driven):
    """The channel that takes a constraint out, and its value; a driven channel would not listen to keys."""
    for name, value in (("mute", 1.0), ("influence", 0.0)):
        path = constraint.path_from_id(name)
        if (path, 0) not in driven:
            return path, value
    raise RigError(
        f"Constraint {constraint.name} in {constraint.id_data.name} has drivers on its influence and its mute switch; "
        "remove one of them so that a simulated bone can be freed from it")
