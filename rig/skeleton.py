# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an armature at rest, as arrays, and the tree they form once controls and helpers are left out.

Deforming bones often hang on controls: Rigify's DEF-thigh.L has ORG-spine for a parent, which stands for DEF-spine.
The tree that is wanted joins deforming bones only, as the body is joined. Lengths are Blender units in the space of
the armature.
"""

from functools import cached_property

import numpy as np

from .bones import orthonormal
from .errors import RigError

COINCIDE = 1e-4  # of the size of the rig: bones closer than this lie on each other
UNEVEN = 1e-4  # relative difference of scales that is more than rounding
FOLLOWS = {"COPY_TRANSFORMS", "CHILD_OF", "ARMATURE"}


def check_armature(owner):
    """Raise what keeps the object from being a figure."""
    if owner is None or owner.type != "ARMATURE":
        raise RigError(f"{owner.name if owner else 'Nothing'} is not an armature; select the armature of the character")
    if owner.library is not None:
        raise RigError(f"{owner.name} is linked from another file; make a library override of it first")
    if owner.override_library is not None and owner.override_library.is_system_override:
        raise RigError(f"{owner.name} is a locked library override; make it editable in the Outliner first")
    if owner.mode == "EDIT" or owner.data.is_editmode:
        raise RigError(f"{owner.name} is in Edit Mode; leave it first")
    if not owner.data.bones:
        raise RigError(f"{owner.name} has no bones; add some in Edit Mode")


def uniform_scale(owner, matrix):
    """Size of the axes of an object's world matrix, which must be the same for all and not mirrored."""
    axes = np.array(matrix, dtype=float)[:3, :3]
    sizes = np.linalg.norm(axes, axis=0)
    if not np.isfinite(axes).all() or sizes.min() <= 1e-9:
        raise RigError(f"{owner.name} has a scale of zero; give it a size")
    skew = np.abs(axes.T @ axes / np.outer(sizes, sizes) - np.eye(3)).max()
    if sizes.max() > (1.0 + UNEVEN) * sizes.min() or skew > UNEVEN:
        raise RigError(f"{owner.name} is scaled unevenly; apply its scale (Object > Apply > Scale)")
    if np.linalg.det(axes) < 0.0:
        raise RigError(f"{owner.name} is mirrored by a negative scale; apply its scale (Object > Apply > Scale)")
    return float(sizes.mean())


class Skeleton:
    """Rest pose and hierarchy of all bones of an armature."""

    def __init__(self, owner):
        check_armature(owner)
        bones = owner.data.bones
        self.owner = owner
        self.names = [bone.name for bone in bones]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.parents = [self.index[bone.parent.name] if bone.parent else -1 for bone in bones]
        self.heads, self.tails = self._read("head_local", 3), self._read("tail_local", 3)
        # Blender hands matrices over column by column.
        self.axes = orthonormal(self._read("matrix_local", 16).reshape(-1, 4, 4).transpose(0, 2, 1)[:, :3, :3])
        self.deform = np.array([bone.use_deform for bone in bones])
        self.lengths = np.linalg.norm(self.tails - self.heads, axis=1)
        points = np.concatenate([self.heads, self.tails])
        self.size = float(np.linalg.norm(np.ptp(points, axis=0)))

    def _read(self, name, width):
        values = np.empty(len(self.names) * width, dtype=np.float32)
        self.owner.data.bones.foreach_get(name, values)
        return values.astype(float).reshape(-1, width)

    @cached_property
    def _followed(self):
        """What each bone's constraints make it follow: {bone: [(kind of constraint, bone followed)]}."""
        followed = {}
        for bone in self.owner.pose.bones:
            for constraint in bone.constraints:
                if constraint.type in FOLLOWS and not constraint.mute:
                    targets = constraint.targets if constraint.type == "ARMATURE" else [constraint]
                    for target in targets:
                        if target.target == self.owner and target.subtarget in self.index:
                            pair = constraint.type, self.index[target.subtarget]
                            followed.setdefault(self.index[bone.name], []).append(pair)
        return followed

    def tree(self, taking):
        """Parents among the bones that take part (a boolean per bone); -1 for roots and for bones that do not.

        From each bone upwards, past everything that takes no part, to the first bone that does or that another one
        stands for: one that lies on it, or copies its transforms.
        """
        stands = self._stand_ins(taking)
        parents = [-1] * len(self.names)
        for bone in np.flatnonzero(taking):
            parents[bone] = self._walk(bone, taking, stands)
        for bone in np.flatnonzero(taking):
            if self._circular(bone, parents):
                parents[bone] = self._walk(bone, taking, {})
        return parents

    def _stand_ins(self, taking):
        stands = {}
        step = max(self.size * COINCIDE, 1e-9)
        places = np.round(np.concatenate([self.heads, self.tails], axis=1) / step).astype(np.int64)
        here = {tuple(places[bone]): int(bone) for bone in np.flatnonzero(taking)}
        for bone in np.flatnonzero(~taking):
            if tuple(places[bone]) in here:
                stands[int(bone)] = here[tuple(places[bone])]
        for bone, pairs in self._followed.items():
            for kind, target in pairs:
                if kind == "COPY_TRANSFORMS" and taking[bone] and not taking[target]:
                    stands.setdefault(target, bone)
        return stands

    def _walk(self, bone, taking, stands):
        seen = {bone}
        above = self._above(bone)
        while above >= 0 and above not in seen:
            seen.add(above)
            if taking[above]:
                return above
            if stands.get(above, bone) != bone:
                return stands[above]
            above = self._above(above)
        return -1

    def _above(self, bone):
        """The parent, or what a constraint makes of a bone without one."""
        if self.parents[bone] >= 0:
            return self.parents[bone]
        return next((target for kind, target in self._followed.get(bone, ()) if kind != "COPY_TRANSFORMS"), -1)

    @staticmethod
    def _circular(bone, parents):
        seen = set()
        while bone >= 0 and bone not in seen:
            seen.add(bone)
            bone = parents[bone]
        return bone >= 0

    def ends(self, parents):
        """Where the segment of each bone ends: at its tail, or where that points nowhere, amid its children's heads.

        Bones imported from game engines often have tails across the limb.
        """
        ends = self.tails.copy()
        children = {}
        for bone, parent in enumerate(parents):
            if parent >= 0:
                children.setdefault(parent, []).append(bone)
        for bone, below in children.items():
            heads = self.heads[below]
            if np.linalg.norm(heads - self.tails[bone], axis=1).min() > 0.1 * self.lengths[bone]:
                apart = heads[np.linalg.norm(heads - self.heads[bone], axis=1) > 0.1 * self.lengths[bone]]
                if len(apart):
                    ends[bone] = apart.mean(axis=0)
        return ends
