# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's bone arithmetic over many frames at once: how a bone's pose follows from its parent's and its channels.

In armature space, with R and s the rotation and scale channels, t the location channels:

    axes of the bone   A = turn R diag(s) diag(last)
    head of the bone   p = base + shift t

`turn`, `last`, `base` and `shift` follow from the parent's axes and head, from the rest pose, and from what the bone
is set to inherit. Arrays have bones first, then frames: axes (B, F, 3, 3), heads (B, F, 3); one frame stands for all
where nothing moves.
"""

import numpy as np
from mathutils import Matrix

SCALED = 1e-6  # a scale that differs from one by less is a rounding error
ROUNDING = 2e-7  # of single precision


class Rest:
    """What the rest pose and the inheritance settings of some bones say, stacked."""

    def __init__(self, bones):
        self.bones = bones
        self.rooted = np.array([bone.parent is None for bone in bones], dtype=bool)
        offsets = np.array([rest_offset(bone) for bone in bones]).reshape(-1, 1, 4, 4)
        self.axes, self.head = offsets[..., :3, :3], offsets[..., :3, 3]
        self.still = np.array([bone.matrix_local.to_3x3() for bone in bones]).reshape(-1, 1, 3, 3)
        self.inherits = np.array([bone.use_inherit_rotation for bone in bones], dtype=bool)
        self.simple = self.rooted | (self.inherits & np.array([bone.inherit_scale == "FULL" for bone in bones]))
        self.local = np.array([bone.use_local_location for bone in bones], dtype=bool)
        self.crooked = np.abs(np.swapaxes(self.axes, -1, -2) @ self.axes - np.eye(3)).max((1, 2, 3)) > ROUNDING
        self.connected = np.array([bone.use_connect for bone in bones], dtype=bool) & ~self.rooted

    def turn(self, some, parents):
        """turn (n, F, 3, 3) and last (n, F, 3) of the bones numbered `some`, whose parents have the given axes."""
        turn = parents @ self.axes[some]
        turn[~self.inherits[some]] = self.still[some][~self.inherits[some]]
        last = np.ones((len(some), 1, 3))
        odd = np.flatnonzero(~self.simple[some])
        odd = odd[is_scaled(parents[odd])] if len(odd) else odd
        if len(odd):
            last = np.ones(turn.shape[:-1])
            for row in odd:
                turn[row], last[row] = inherit_scale(self.bones[some[row]], parents[row])
        return turn, last

    def straight(self, some, turn, parents):
        """The rotations nearest to `turn` (n, F, 3, 3): one itself unless a scale or crooked rest axes are in it."""
        scaled, crooked = is_scaled(parents), self.crooked[some]
        if scaled.any() or crooked.any():
            turn = turn.copy()
            crooked &= ~scaled
            bent = turn[crooked]
            turn[crooked] = bent @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(bent, -1, -2) @ bent)  # one Newton step
            turn[scaled] = orthonormal(turn[scaled])
        return turn

    def place(self, one, axes, head):
        """base (F, 3) and shift (F, 3, 3) of one bone, below a parent with the given axes (F, 3, 3) and head (F, 3)."""
        base = axes @ self.head[one, 0] + head
        return base, axes @ self.axes[one, 0] if self.local[one] else axes


def rest_offset(bone):
    """The bone's rest pose in the frame of its parent, from the same numbers that Blender multiplies."""
    offset = np.eye(4)
    if bone.parent is None:
        offset[:] = bone.matrix_local
        return offset
    offset[:3, :3] = bone.matrix
    offset[:3, 3] = bone.head
    offset[1, 3] += bone.parent.length
    return offset


def inherit_scale(bone, parents):
    """turn (F, 3, 3) and last (F, 3), by Blender itself, of a bone that does not simply take on its parent's scale."""
    turn, last = np.empty_like(parents), np.ones(parents.shape[:-1])
    for frame, parent in enumerate(parents):
        turn[frame] = bone.convert_local_to_pose(
            Matrix.Identity(4), bone.matrix_local, parent_matrix=Matrix(parent.tolist()).to_4x4(),
            parent_matrix_local=bone.parent.matrix_local).to_3x3()
    if bone.inherit_scale == "ALIGNED":
        last = np.linalg.norm(turn, axis=-2)
        turn = turn / last[:, None, :]
    return turn, last


def is_scaled(axes):
    """Which bones (B,) are scaled at any frame."""
    return (np.abs(np.einsum("...ij,...ij->...j", axes, axes) - 1.0) > 2.0 * SCALED).any(axis=(1, 2))


def orthonormal(matrix):
    """The rotation nearest to a matrix: what is left of it without scale and shear."""
    left, _, right = np.linalg.svd(matrix)
    return left * np.sign(np.linalg.det(left @ right))[..., None, None] @ right
