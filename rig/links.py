# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure as a plain list of links, from its bones' settings and the pose as it looks now, in metres and kilograms.

The frame of a link is the frame of its bone as evaluated, with constraints, drivers and parents at work: the origin
at the head, Y along the bone, scale and shear left out. Parents come before children.

The joint frame `at` is fixed in the parent link. Of a ball joint it is where the bone would be at rest, so that
`turn` is the rotation from the rest pose. A hinge may be posed in ways that it cannot turn: its joint frame takes
up everything but the angle about its axis. Either way at @ joint(turn) is exactly the pose as it looks.
"""

from dataclasses import dataclass, field

import numpy as np

from .bones import orthonormal
from .channels import quaternion_from_matrix
from .errors import RigError
from .limits import limb_axes
from .shapes import Shape, capsule, merge
from .skeleton import Skeleton, uniform_scale

FLAT = 1e-6  # a bone this short beside the size of the rig has no direction


@dataclass
class Limits:
    """Range of a joint in radians from the rest pose.

    A ball joint's rotation from rest is a swing after a twist: the twist about Y of `axes`, the swing a rotation vector
    across it with an X and a Z part. A hinge has only `hinge`.
    """

    hinge: tuple = (-np.pi, np.pi)
    swing_x: tuple = (-np.pi, np.pi)
    swing_z: tuple = (-np.pi, np.pi)
    twist: tuple = (-np.pi, np.pi)
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))  # of the limb in the link's frame, as columns

    @property
    def spans(self):
        return self.hinge, self.swing_x, self.swing_z, self.twist


@dataclass
class Capsule:
    """What is drawn of a bone: from tip to tip, in the link's frame, in metres."""

    start: np.ndarray
    end: np.ndarray
    radius: float


@dataclass
class LinkDescription:
    """One rigid link of a figure."""

    name: str  # of its bone
    bones: list  # names of the bone and of all that are merged into it
    parent: int  # place in the list, -1 for a root
    joint: str  # FREE for a root, else FIXED, HINGE or BALL
    axis: np.ndarray  # (3,) unit vector of a hinge, link frame
    position: np.ndarray  # (3,) world pose as it looks now
    rotation: np.ndarray  # (3, 3)
    at_position: np.ndarray  # (3,) joint frame in the parent link's frame; in the world for a root
    at_rotation: np.ndarray  # (3, 3)
    turn: object  # the joint's coordinate now: angle of a hinge, quaternion (4,) of a ball, None otherwise
    mass: float
    com: np.ndarray  # (3,) link frame
    tensor: np.ndarray  # (3, 3) about the centre of mass, link axes
    limits: Limits | None
    capsules: list


def read_links(owner, depsgraph):
    """The links of a figure in the pose that the dependency graph has evaluated. Raises RigError."""
    skeleton = Skeleton(owner)
    if owner.trapeze.role != "FIGURE":
        raise RigError(f"{owner.name} is not a figure; use Set Up Figure first")
    seen = owner.evaluated_get(depsgraph)
    size = uniform_scale(owner, seen.matrix_world) * depsgraph.scene.unit_settings.scale_length
    tree = _Tree(owner, skeleton)
    matrices = np.array([seen.pose.bones[name].matrix for name in skeleton.names], dtype=float)
    if not np.isfinite(matrices[tree.taking]).all():
        raise RigError(f"The pose of {owner.name} has values that are not numbers; look at its keys and drivers")
    lengths = np.linalg.norm(matrices[:, :3, :3], axis=1).min(axis=1) * skeleton.lengths
    flat = [bone for bone in tree.taking if lengths[bone] < FLAT * skeleton.size]
    if flat:
        raise RigError(f"{skeleton.names[flat[0]]} has zero length; give it a length or set its part to Ignored")
    positions, rotations = link_poses(owner, depsgraph, skeleton.names)
    # Settings come from the original, to which Blender hands animated values back: a copy can lag behind.
    return [_describe(tree, bone, owner.pose.bones, rotations, positions, size) for bone in tree.links]


def link_poses(owner, depsgraph, names):
    """World positions (n, 3) in metres and rotations (n, 3, 3) of some bones, as they look now."""
    seen = owner.evaluated_get(depsgraph)
    world = np.array(seen.matrix_world, dtype=float)
    matrices = np.array([seen.pose.bones[name].matrix for name in names], dtype=float)
    positions = (matrices[:, :3, 3] @ world[:3, :3].T + world[:3, 3]) * depsgraph.scene.unit_settings.scale_length
    return positions, orthonormal(world[:3, :3] @ matrices[:, :3, :3])


class _Tree:
    """Who is a link, who is merged into whom, and who hangs on whom."""

    def __init__(self, owner, skeleton):
        parts = [bone.trapeze_part for bone in owner.pose.bones]
        taking = np.array([part != "IGNORED" for part in parts])
        self.skeleton, self.taking = skeleton, np.flatnonzero(taking)
        self.parents = skeleton.tree(taking)
        self.ends = skeleton.ends(self.parents)
        self.links, self.merged = [], {}
        for bone in sorted(self.taking.tolist(), key=self._depth):
            parent = self.parents[bone]
            if parts[bone] == "LINK" or parent < 0:
                self.links.append(bone)
                self.merged[bone] = [bone]
            else:
                self.merged[self.link_of(parent)].append(bone)
        if not self.links:
            raise RigError(f"No bone of {owner.name} takes part; set the part of some bones to Link")

    def _depth(self, bone):
        depth = 0
        while self.parents[bone] >= 0:
            bone, depth = self.parents[bone], depth + 1
        return depth

    def link_of(self, bone):
        """The link that a bone is, or moves with."""
        while bone not in self.merged:
            bone = self.parents[bone]
        return bone


def _describe(tree, bone, pose, rotations, positions, size):
    skeleton, settings = tree.skeleton, pose[bone]
    pieces = [_part(tree, one, pose, rotations, positions, bone, size) for one in tree.merged[bone]]
    masses, shapes, capsules = zip(*pieces)
    mass, shape = merge(masses, shapes)
    place = {"position": positions[bone], "rotation": rotations[bone]}
    parent, joint, axis, turn = -1, "FREE", np.array(settings.trapeze_axis, dtype=float), None
    at = positions[bone], rotations[bone]
    if tree.parents[bone] >= 0:
        above = tree.parents[bone]
        link = tree.link_of(above)
        parent, joint = tree.links.index(link), settings.trapeze_joint
        relative = rotations[link].T @ rotations[bone]
        rest = rotations[link].T @ rotations[above] @ skeleton.axes[above].T @ skeleton.axes[bone]
        at_rotation = relative
        if joint == "BALL":
            at_rotation, turn = rest, quaternion_from_matrix(rest.T @ relative)
        elif joint == "HINGE":
            if np.linalg.norm(axis) < 1e-6:
                raise RigError(f"The hinge axis of {settings.name} is zero; give it a direction")
            axis = axis / np.linalg.norm(axis)
            w, *vector = quaternion_from_matrix(rest.T @ relative)
            turn = float(np.remainder(2.0 * np.arctan2(vector @ axis, w) + np.pi, 2.0 * np.pi) - np.pi)
            at_rotation = relative @ _about(axis, -turn)
        at = rotations[link].T @ (positions[bone] - positions[link]), at_rotation
    return LinkDescription(
        name=skeleton.names[bone], bones=[skeleton.names[one] for one in tree.merged[bone]], parent=parent, joint=joint,
        axis=axis, **place, at_position=at[0], at_rotation=at[1], turn=turn, mass=mass, com=shape.centre,
        tensor=shape.tensor(mass), limits=_limits(tree, bone, settings, joint), capsules=list(capsules))


def _part(tree, one, pose, rotations, positions, link, size):
    """Mass, shape and capsule of one bone, in the frame of the link that it moves with."""
    settings, skeleton = pose[one], tree.skeleton
    turn = rotations[link].T @ rotations[one]
    shift = rotations[link].T @ (positions[one] - positions[link])
    end = skeleton.axes[one].T @ (tree.ends[one] - skeleton.heads[one]) * size
    radius = settings.trapeze_radius * size
    if settings.trapeze_shape == "MESH":
        xx, yy, zz, xy, xz, yz = settings.trapeze_spread
        spread = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * size**2
    else:
        spread = capsule(np.zeros(3), end, radius).spread
    centre = turn @ (np.array(settings.trapeze_centre, dtype=float) * size) + shift
    return settings.trapeze_mass, Shape(0.0, centre, turn @ spread @ turn.T), Capsule(shift, turn @ end + shift, radius)


def _limits(tree, bone, settings, joint):
    if joint not in ("HINGE", "BALL") or not settings.trapeze_use_limits:
        return None
    spans = {}
    for name in ("hinge", "swing_x", "swing_z", "twist"):
        lower, upper = getattr(settings, f"trapeze_{name}_lower"), getattr(settings, f"trapeze_{name}_upper")
        if lower > upper and (name == "hinge") == (joint == "HINGE"):
            raise RigError(f"The lower limit of {settings.name} is above the upper one; exchange them")
        spans[name] = lower, upper
    segment = tree.skeleton.axes[bone].T @ (tree.ends[bone] - tree.skeleton.heads[bone])
    return Limits(**spans, axes=limb_axes(segment))


def _about(axis, angle):
    """Rotation matrix about a unit axis: Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
