# SPDX-License-Identifier: GPL-3.0-or-later
"""Thin out the keys of a result so that what is seen stays within a tolerance.

A tolerance is about the pose, not about channels: no bone may turn by more than the angle, no end of a bone may move by
more than the distance, from where the simulation put it. Errors of the bones above add up, so each bone starts with
the whole tolerance, the poses are compared, and where they differ too much the bones that lead there get less.
"""

from collections import defaultdict
from itertools import pairwise

import numpy as np

from . import channels
from .reduce import thin
from .solve import Channels, Pose, channel_paths

CONSTANT, BEZIER, FREE = 0, 2, 0
ROUNDS = 12


class Track:
    """The written curves of one property, which share their keys."""

    def __init__(self, owner, path, mode, metre, curves):
        """mode: rotation mode, or "" for a location; metre: how many metres one unit of a location is."""
        self.path, self.mode, self.metre, self.curves = path, mode, metre, curves
        keys = {index: read_keys(curve) for index, curve in curves.items()}
        self.times = np.unique(np.concatenate([points[:, 0] for points in keys.values()]))
        value = np.array(owner.path_resolve(path)[:], dtype=float)
        self.values = np.tile(value, (len(self.times), 1))
        for index, points in keys.items():
            same = len(points) == len(self.times)
            self.values[:, index] = points[:, 1] if same else [curves[index].evaluate(time) for time in self.times]
        held = [points[points[:, 2] == CONSTANT, 0] for points in keys.values()]
        self.breaks = np.flatnonzero(np.isin(self.times[:-1], np.concatenate(held)))  # the curve jumps after them
        self.share = 1.0  # of the tolerance

    def reduce(self, angle, distance):
        tolerance = self.share * (angle if self.mode else distance / self.metre)
        edges = [0, *(self.breaks + 1), len(self.times)]
        self.pieces = [
            (first, thin(self.times[first:last], self.values[first:last], tolerance, self.error))
            for first, last in pairwise(edges)]
        self.thinned = np.concatenate([piece.values for _, piece in self.pieces])

    def error(self, fitted, wanted):
        if not self.mode:
            return np.linalg.norm(fitted - wanted, axis=-1)
        return turn_between(channels.to_matrix(self.mode, fitted), channels.to_matrix(self.mode, wanted))

    def write(self):
        """Exchange the keys of the curves."""
        kept = np.concatenate([first + piece.kept for first, piece in self.pieces])
        times = self.times[kept]
        before, after = np.diff(times, prepend=times[0]) / 3.0, np.diff(times, append=times[-1]) / 3.0
        interpolation = np.where(np.isin(kept, self.breaks), CONSTANT, BEZIER)
        for index, curve in self.curves.items():
            left = np.concatenate([piece.left[:, index] for _, piece in self.pieces])
            right = np.concatenate([piece.right[:, index] for _, piece in self.pieces])
            points = curve.keyframe_points
            points.clear()
            points.add(len(kept))
            for name in ("handle_left_type", "handle_right_type"):
                points.foreach_set(name, np.full(len(kept), FREE, dtype=np.intc))
            points.foreach_set("interpolation", interpolation.astype(np.intc))
            for name, place, value in (("co", times, self.values[kept, index]), ("handle_left", times - before, left),
                                       ("handle_right", times + after, right)):
                points.foreach_set(name, np.stack([place, value], -1).astype(np.float32).ravel())
            curve.update()


def thin_result(scene, owner, motion, written, angle, distance):
    """Thin out the written channels [(path, index)] of a result that the object plays; radians and metres.

    Returns the number of keys before and after.
    """
    metre = np.cbrt(abs(owner.matrix_world.determinant())) * scene.unit_settings.scale_length
    curves = defaultdict(dict)
    for curve in motion.curves():
        if (curve.data_path, curve.array_index) in written and len(curve.keyframe_points) > 2:
            curves[curve.data_path][curve.array_index] = curve
    bones = list(owner.pose.bones) if owner.type == "ARMATURE" else []
    holders = {path: holder for holder in [*bones, owner] for path in channel_paths(holder)[:2]}
    tracks = {}
    for path, own in curves.items():
        if path in holders:
            turns = not path.endswith("location")
            tracks[path] = Track(owner, path, holders[path].rotation_mode if turns else "", metre, own)
    before = count_keys(curves)
    settle(bones, tracks, angle, distance, metre)
    for track in tracks.values():
        track.write()
    return before, count_keys(curves)


def settle(bones, tracks, angle, distance, metre):
    """Reduce all tracks until every bone is within the tolerances."""
    todo = list(tracks.values())
    figure = Figure(bones, tracks) if bones and tracks else None
    for round_number in range(ROUNDS + 1):
        for track in todo:
            track.reduce(angle, distance)
        over = figure.over(angle, distance / metre) if figure else {}
        less = {}
        for name, ratio in over.items():
            for path in figure.leading[name]:
                less[path] = min(less.get(path, 1.0), max(0.3, 0.8 / ratio))
        todo = []
        for path, factor in less.items():
            tracks[path].share *= factor if round_number < ROUNDS - 1 else 0.0  # in the end, every key
            todo.append(tracks[path])
        if not todo:
            return


class Figure:
    """The bones of a thinned armature, to compare poses with and without all keys."""

    def __init__(self, bones, tracks):
        self.tracks = tracks
        self.paths = {bone.name: channel_paths(bone) for bone in bones}
        chains = {bone.name: [bone.name, *(parent.name for parent in bone.parent_recursive)] for bone in bones}
        moved = {name for name, paths in self.paths.items() if any(path in tracks for path in paths)}
        taking = {one for name in moved for one in chains[name]}
        self.bones = sorted((bone for bone in bones if bone.name in taking), key=lambda bone: len(chains[bone.name]))
        self.leading = {  # tracks that have a say in where a bone is
            name: [path for one in chains[name] for path in self.paths[one] if path in tracks] for name in moved}
        self.moved = [index for index, bone in enumerate(self.bones) if bone.name in moved]
        self.lengths = np.array([bone.bone.length for bone in self.bones])[:, None, None]
        self.times = tracks[next(iter(tracks))].times
        for track in tracks.values():
            self.times = np.intersect1d(self.times, track.times)
        self.wanted = self.pose("values")

    def pose(self, kind):
        """Axes (B, F, 3, 3) and both ends (B, F, 2, 3) of all bones from the tracks' values or thinned values."""
        offers = {}
        for bone in self.bones:
            own = [np.array(bone.path_resolve(name)[:], dtype=float)[None] for name in
                   ("location", channels.rotation_channel(bone.rotation_mode)[0], "scale")]
            for place, path in enumerate(self.paths[bone.name]):
                if path in self.tracks:
                    track = self.tracks[path]
                    own[place] = getattr(track, kind)[np.searchsorted(track.times, self.times)]
            offers[bone.name] = Channels(bone, *own, [], [], False)
        pose = Pose(self.bones, offers, {}, {}, len(self.times))
        pose.solve()
        axes, heads = pose.axes[:-1], pose.heads[:-1]
        return axes, np.stack([heads, heads + axes[..., 1] * self.lengths], 2)

    def over(self, angle, distance):
        """{bone: how many times too far} of the moved bones that are out of tolerance."""
        axes, ends = self.pose("thinned")
        turns = turn_between(axes, self.wanted[0]).max(1)
        shifts = np.linalg.norm(ends - self.wanted[1], axis=-1).max((1, 2))
        ratios = np.maximum(turns / max(angle, 1e-12), shifts / max(distance, 1e-12))
        return {self.bones[index].name: ratios[index] for index in self.moved if ratios[index] > 1.0}


def turn_between(first, second):
    """Angles (...) between rotations (..., 3, 3), good for small ones."""
    difference = first - second
    return np.sqrt(np.einsum("...ij,...ij->...", difference, difference) / 2.0)


def read_keys(curve):
    """Time, value and interpolation (k, 3) of the keys of a curve."""
    points = curve.keyframe_points
    places, kinds = np.empty(2 * len(points), dtype=np.float32), np.empty(len(points), dtype=np.intc)
    points.foreach_get("co", places)
    points.foreach_get("interpolation", kinds)
    return np.column_stack([places.reshape(-1, 2), kinds]).astype(float)


def count_keys(curves):
    return sum(len(curve.keyframe_points) for own in curves.values() for curve in own.values())
