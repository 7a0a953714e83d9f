# SPDX-License-Identifier: GPL-3.0-or-later
"""The source motion as numbers: what the channels and poses that a simulation does not write are, frame by frame.

Where F-curves alone decide, they are evaluated directly. Where constraints, drivers, NLA tracks or moving parents
have a say, the scene is stepped through the frames once and put back.
"""

from contextlib import contextmanager

import numpy as np

from . import actions

FEW = 8  # times: evaluating so many is quicker than reading all keys
APART = 0.01  # frames: where keys lie closer, it is for Blender to say which one counts
TRANSFORMS = ("location", "rotation_", "scale", "delta_")


class Source:
    """What animates an object now, by channel."""

    def __init__(self, scene, owner):
        self.scene, self.owner = scene, owner
        self.motion = actions.motion_of(owner)
        self.curves, self.keyed, self.driven, self.layered = {}, set(), set(), set()
        for curve in self.motion.curves() if self.motion else ():
            if not actions.is_muted(curve):
                self.curves[curve.data_path, curve.array_index] = curve
                self.keyed.add(curve.data_path)
        animation = owner.animation_data
        if animation:
            self.driven = {(one.data_path, one.array_index) for one in animation.drivers if not one.mute}
            tracks = [track for track in animation.nla_tracks if not track.mute] if animation.use_nla else []
            self.layered = {path for track in tracks for path in strip_paths(track.strips)}
        self.blended = self.layered | {path for path, _ in self.driven}

    def animated(self, path):
        return path in self.keyed or path in self.blended

    def times(self, frames):
        """Scene frames to the time that actions are read at: they differ under time remapping."""
        render = self.scene.render
        return np.asarray(frames, dtype=float) * (render.frame_map_old / render.frame_map_new)

    def channels(self, paths, frames, bones=(), step=False):
        """Values (F, n) of the channels over frames, (1, n) where nothing moves them; poses of bones; world matrices.

        The scene is stepped if a channel needs it or if asked to; poses (F, 4, 4) in armature space and world
        (F, 4, 4) come only with it, otherwise there are no poses and the world matrix (1, 4, 4) is the current one.
        """
        stepped = [path for path in paths if path in self.blended] if len(frames) else []
        values = {path: self.from_curves(path, frames) for path in paths if path not in stepped}
        if not len(frames) or not (step or stepped):
            return values, {}, np.array(self.owner.matrix_world, dtype=float)[None]
        values.update({path: [] for path in stepped})
        world, poses = [], {name: [] for name in bones}
        with frame_kept(self.scene):
            for frame in frames:
                go_to(self.scene, frame)
                world.append(np.array(self.owner.matrix_world))
                for path in stepped:
                    values[path].append(self.value(path))
                for name in bones:
                    poses[name].append(np.array(self.owner.pose.bones[name].matrix))
        values.update({path: np.array(values[path]) for path in stepped})
        return values, {name: np.array(pose, dtype=float) for name, pose in poses.items()}, np.array(world, dtype=float)

    def from_curves(self, path, frames):
        value = self.value(path)
        if path not in self.keyed:
            return value[None]
        values, times = np.tile(value, (len(frames), 1)), self.times(frames)
        for index in range(len(value)):
            curve = self.curves.get((path, index))
            if curve:
                values[:, index] = curve_values(curve, times)
        return values

    def value(self, path):
        value = self.owner.path_resolve(path)
        return np.array([value] if isinstance(value, (bool, int, float)) else value[:], dtype=float)


def curve_values(curve, times):
    """Values of an F-curve at the given times: read off at once where it has a key at each of them."""
    points = curve.keyframe_points
    if len(points) >= len(times) > FEW and not curve.modifiers:
        keys = np.empty((len(points), 2), dtype=np.float32)
        points.foreach_get("co", keys.ravel())
        rows = np.minimum(np.searchsorted(keys[:, 0], times), len(keys) - 1)
        if (keys[rows, 0] == times).all() and (np.diff(keys[:, 0]) > APART).all():
            return keys[rows, 1]
    return [curve.evaluate(time) for time in times]


def strip_paths(strips):
    """Data paths that the strips of an NLA track animate, nested ones included."""
    for strip in strips:
        yield from strip_paths(strip.strips)
        if strip.action and not strip.mute:
            for curve in actions.strip_motion(strip).curves():
                yield curve.data_path


@contextmanager
def frame_kept(scene):
    """Step through frames inside; the scene is back where it was afterwards, whatever happens."""
    current, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(current, subframe=subframe)


def go_to(scene, frame):
    """Show a frame, whole or not."""
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=float(frame) - whole)


def moves(scene, owner):
    """Whether the object itself may move from frame to frame, by anything but its own pose."""
    source = Source(scene, owner)
    return (any(path.startswith(TRANSFORMS) for path in source.keyed | source.blended)
            or any(not constraint.mute for constraint in owner.constraints) or follows_parent(scene, owner))


def follows_parent(scene, owner):
    """Whether the object's parent may move it: a bone or a vertex may always, an object where it moves itself."""
    return owner.parent is not None and (owner.parent_type != "OBJECT" or moves(scene, owner.parent))
