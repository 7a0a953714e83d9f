# SPDX-License-Identifier: GPL-3.0-or-later
"""Which channels bring bones and objects to given poses, past inheritance, rotation modes and locks.

Rotations first, all bones at once: each bone's local rotation follows from its own and its parent's rotation. Where a
lock, a driver or a scale makes a bone end up elsewhere than wanted, the bones below are solved once more against what
it really does. Then the places, parents first: a location is written only where the bone would miss its place without.
"""

from dataclasses import dataclass

import numpy as np

from . import channels
from .bones import SCALED, Rest, orthonormal

PLACE = 4e-7  # of the largest coordinate, at least a metre: what single precision leaves of a place


@dataclass
class Track:
    """Channels of one property over the frames, of which some numbers are to be written."""

    path: str
    group: str
    values: np.ndarray  # (F, n)
    indices: list
    freed: bool = False  # constraints or drivers had the bone before the simulation


@dataclass
class Channels:
    """What a bone or an object has to offer: its properties over the frames, and which numbers of them are fixed."""

    owner: object  # pose bone or object
    location: np.ndarray  # (F or 1, 3)
    rotation: np.ndarray  # (F or 1, 3 or 4)
    scale: np.ndarray  # (F or 1, 3)
    fixed_location: list  # numbers that may not be written
    fixed_rotation: list
    by_angles: bool  # the locks of a quaternion or axis are meant as locks of angles

    @classmethod
    def read(cls, owner, values, driven):
        """From the values {path: (F or 1, n)} of the source and the driven channels {(path, index)}."""
        paths = channel_paths(owner)
        locks = [False] * 3 if is_sealed(owner) else owner.lock_location
        fixed = [index for index in range(3) if locks[index] or (paths[0], index) in driven]
        return cls(owner, *(values[path] for path in paths), fixed, *rotation_locks(owner, driven))

    @property
    def free(self):
        return not self.fixed_rotation and not self.by_angles


def rotation_locks(owner, driven):
    """Numbers of the rotation property that may not be written, and whether the locks are meant for angles instead.

    The locks of a quaternion or axis-angle rotation are on its four numbers only if the owner says so.
    """
    path, size = owner.path_from_id(rotation_name(owner)), channels.rotation_channel(owner.rotation_mode)[1]
    locks = [False] * 3 if is_sealed(owner) else list(owner.lock_rotation)
    by_angles = size == 4 and not owner.lock_rotations_4d and any(locks)
    if size == 4:
        first = owner.lock_rotation_w and not is_sealed(owner)
        locks = [first, *locks] if owner.lock_rotations_4d else [False] * 4
    fixed = [index for index in range(size) if locks[index] or (path, index) in driven]
    if fixed == [1, 2, 3] and owner.rotation_mode == "QUATERNION":
        fixed = [0, 1, 2, 3]  # what is left has no rotation to give
    return fixed, by_angles


def is_sealed(owner):
    """Whether everything is locked: a bone that hands should keep off, as Rigify's are, not one that cannot move."""
    return all(owner.lock_location) and all(owner.lock_rotation)


def turns_freely(owner, driven):
    return rotation_locks(owner, driven) == ([], False)


def rotation_name(owner):
    return channels.rotation_channel(owner.rotation_mode)[0]


def channel_paths(owner):
    """Data paths of location, rotation and scale of a pose bone or object, in its rotation mode."""
    return [owner.path_from_id(name) for name in ("location", rotation_name(owner), "scale")]


def solve_rotation(one, matrices):
    """Rotation channels (F, n) and rotations (F, 3, 3) of one bone that cannot turn freely, as near as it can get."""
    mode, size = one.owner.rotation_mode, one.rotation.shape[-1]
    held = np.broadcast_to(one.rotation, (len(matrices), size))
    if one.by_angles:
        locked = list(one.owner.lock_rotation)
        current = channels.continuous_angles("XYZ", channels.to_matrix(mode, held), np.zeros(3))
        matrices = turned(matrices, "XYZ", locked, current)[1]
    if size == 3:
        return turned(matrices, mode, [index in one.fixed_rotation for index in range(3)], held)
    values = channels.to_channels(mode, matrices, held[0])
    fixed = np.isin(np.arange(4), one.fixed_rotation)
    if one.fixed_rotation == [1, 2, 3]:  # an axis with a free angle: the part of the rotation about it
        values[:, 0] = channels.angle_about(held[:, 1:], matrices, held[0, 0])
    elif mode == "QUATERNION":
        rest = np.sqrt(np.maximum(1.0 - np.sum(held[:, fixed] ** 2, -1, keepdims=True), 0.0))
        values *= rest / np.maximum(np.linalg.norm(values[:, ~fixed], axis=-1, keepdims=True), 1e-12)
    values[:, fixed] = held[:, fixed]
    return values, channels.to_matrix(mode, values)


def turned(matrices, order, locked, held):
    """Angles and rotations nearest to the given ones while the locked angles stay as held."""
    start = np.where(locked, held, channels.continuous_angles(order, matrices, held[0]))
    angles = channels.within_locks(order, matrices, locked, start)
    return angles, channels.to_matrix(order, angles)


class Pose:
    """The bones of one armature over all frames."""

    def __init__(self, bones, offers, given, wanted, count):
        """bones, parents first; offers {name: Channels} of those that are not given; given {name: (F, 4, 4)} poses;
        wanted {name: (axes (F, 3, 3), heads (F, 3))} in armature space; count of frames."""
        self.bones, self.count = bones, count
        names = [bone.name for bone in bones]
        number = {name: index for index, name in enumerate(names)}
        self.names, self.given, self.wanted = names, given, wanted
        self.offers = [offers.get(name) for name in names]
        self.parents = np.array([number.get(bone.parent.name, -1) if bone.parent else -1 for bone in bones])
        self.rest = Rest([bone.bone for bone in bones])
        # one row more than bones: the last is the armature itself, the parent of bones without one
        self.axes = np.empty((len(bones) + 1, count, 3, 3))
        self.heads = np.zeros((len(bones) + 1, count, 3))
        self.axes[-1] = np.eye(3)
        self.rotations = {}

    def solve(self):
        self.turn()
        self.place()

    def turn(self):
        """Rotation channels of all bones, and the axes that Blender will make of them."""
        for index, name in enumerate(self.names):
            if name in self.given:
                self.axes[index] = self.given[name][:, :3, :3]
            elif name in self.wanted:
                self.axes[index] = self.wanted[name][0]
            else:
                self.axes[index] = self.turn_some(np.array([index]))[0]
        todo = np.array([index for index, name in enumerate(self.names) if name not in self.given], dtype=int)
        while len(todo):
            axes = self.turn_some(todo)
            missed = np.abs(axes - self.axes[todo]).max(axis=(1, 2, 3)) > SCALED
            self.axes[todo[missed]] = axes[missed]
            todo = np.flatnonzero(np.isin(self.parents, todo[missed]))

    def turn_some(self, some):
        """Axes (n, F, 3, 3) of some bones below their parents as they are now; solves their rotation channels."""
        parents = self.axes[self.parents[some]]
        turn, last = self.rest.turn(some, parents)
        straight = self.rest.straight(some, turn, parents)
        rotation = np.empty((len(some), self.count, 3, 3))
        free = {}
        for row, index in enumerate(some):
            name, offer = self.names[index], self.offers[index]
            if name not in self.wanted:
                rotation[row] = channels.to_matrix(offer.owner.rotation_mode, offer.rotation)
            elif offer.free:
                free.setdefault(offer.owner.rotation_mode, []).append(row)
            else:
                local = np.swapaxes(straight[row], -1, -2) @ self.wanted[name][0]
                self.rotations[name], rotation[row] = solve_rotation(offer, local)
        for mode, rows in free.items():
            target = np.stack([self.wanted[self.names[some[row]]][0] for row in rows])
            rotation[rows] = np.swapaxes(straight[rows], -1, -2) @ target
            near = np.stack([self.offers[some[row]].rotation[0] for row in rows])
            values = channels.to_channels(mode, np.swapaxes(rotation[rows], 0, 1), near)
            self.rotations.update({self.names[some[row]]: values[:, place] for place, row in enumerate(rows)})
        scale = last * np.stack([np.broadcast_to(self.offers[index].scale, (self.count, 3)) for index in some])
        return turn @ rotation * scale[..., None, :]

    def place(self):
        """Locations of the bones that need one, and where the heads of all bones come to be."""
        self.locations = {}
        reach = max((np.abs(heads).max() for _, heads in self.wanted.values()), default=1.0)
        for index, name in enumerate(self.names):
            if name in self.given:
                self.heads[index] = self.given[name][:, :3, 3]
                continue
            parent = self.parents[index]
            base, shift = self.rest.place(index, self.axes[parent], self.heads[parent])
            location = np.zeros((1, 3)) if self.rest.connected[index] else self.offers[index].location
            head = base + (shift @ location[..., None])[..., 0]
            if name in self.wanted and not self.rest.connected[index]:
                miss = self.wanted[name][1] - head
                if np.abs(miss).max() > PLACE * max(1.0, reach):
                    location = location + np.linalg.solve(shift, miss[..., None])[..., 0]
                    location[:, self.offers[index].fixed_location] = self.offers[index].location[
                        :, self.offers[index].fixed_location]
                    self.locations[name] = location
                    head = base + (shift @ location[..., None])[..., 0]
            self.heads[index] = head

    def tracks(self, freed):
        """The channels to write."""
        for name in self.wanted:
            offer = self.offers[self.names.index(name)]
            location, rotation, _ = channel_paths(offer.owner)
            free = [index for index in range(3) if index not in offer.fixed_location]
            if name in self.locations and free:
                yield Track(location, name, self.locations[name], free, name in freed)
            free = [index for index in range(offer.rotation.shape[-1]) if index not in offer.fixed_rotation]
            if free and not (offer.by_angles and all(offer.owner.lock_rotation)):
                yield Track(rotation, name, self.rotations[name], free, name in freed)

    def missed(self, names):
        """{bone: (distance in armature units, angle)} of the named bones that do not reach their pose."""
        result = {}
        for index, name in enumerate(self.names):
            if name in names:
                axes, heads = self.wanted[name]
                distance = np.linalg.norm(self.heads[index] - heads, axis=-1).max()
                offer = self.offers[index]
                angle = 0.0 if offer.free else angle_between(self.axes[index], axes)
                if distance > 1e-5 or angle > 1e-5:
                    result[name] = float(distance), float(angle)
        return result


def angle_between(first, second):
    """The largest angle between two rotations (F, 3, 3)."""
    trace = np.einsum("fij,fij->f", orthonormal(first), second)
    return np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)).max()
