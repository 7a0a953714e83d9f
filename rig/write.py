# SPDX-License-Identifier: GPL-3.0-or-later
"""From world poses over frames to an action: the only way a simulation comes back into Blender.

The problem: a pose is given for every frame as positions and rotations in the world; Blender wants channels of each
bone, relative to its parent, in its rotation mode, past its inheritance settings and locks. The pose that Blender
then shows is the given one.

The action is a copy of what the object plays now with the written channels exchanged, so everything else in it plays
on. Constraints that would move written bones away are muted by a key in the action itself: they work again as soon as
another action plays. Before the first frame the channels follow the source, from then on there is one key per frame,
with straight lines between them: nothing overshoots.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from . import actions
from .bones import orthonormal
from .channels import matrix_from_quaternion, to_matrix
from .curves import build_action
from .errors import RigError
from .plan import Plan
from .sample import Source, follows_parent, frame_kept, go_to, moves
from .solve import Channels, Pose, Track, angle_between, channel_paths, solve_rotation, turns_freely

GROUP = "Object Transforms"  # where Blender itself puts the channels of an object


@dataclass
class Written:
    """A result that is ready to play but does not play yet."""

    motion: actions.Motion
    channels: list  # what the simulation wrote: [(data path, index)]
    missed: dict  # what locks and drivers kept from its pose: {bone or object: (Blender units, radians)}

    def discard(self):
        """Take it back, as if it had never been written."""
        bpy.data.actions.remove(self.motion.action)


def write_result(scene, armature, frames, bone_names, positions, rotations, merged=None):
    """An action in which the bones take the given poses.

    frames (F,) scene frames, rising; positions (F, B, 3) and rotations (F, B, 4) of the bones in the world, where the
    rotation is that of the bone's own axes; merged {bone: the named bone that it moves with}, by default every
    deforming bone below a named one. Nothing but the new action is changed.
    """
    bpy.context.view_layer.update()  # matrices are read below
    frames, positions, rotations = checked(armature, bone_names, frames, positions, rotations)
    plan = Plan(armature, bone_names, merged)
    source = Source(scene, armature)
    step = bool(moves(scene, armature) or plan.held or plan.carried)
    bones = plan.order(step)
    looked_at = {*plan.touching, *plan.carried, *plan.carried.values()} if step else ()
    outside = plan.touching if step else ()
    paths = [path for bone in bones if bone.name not in outside for path in channel_paths(bone)]
    turning = {
        channel_paths(bone)[1] for bone in bones if bone.name in plan.moved and turns_freely(bone, source.driven)}
    values, poses, world = source.channels([path for path in paths if path not in turning], frames, looked_at, step)
    values.update(source.channels(turning, frames[:1])[0])  # only to run on from where the source is

    wanted = in_space(world, positions, rotations, bone_names)
    for name, link in plan.carried.items():
        wanted[name] = carry(wanted[link], poses[link], poses[name])
    given = {name: poses[name] for name in outside}
    offers = {bone.name: Channels.read(bone, values, source.driven) for bone in bones if bone.name not in given}
    pose = Pose(bones, offers, given, wanted, len(frames))
    pose.solve()
    tracks = list(pose.tracks(plan.freed))
    motion = build_action(source, frames, lead_frames(scene, frames), tracks, plan.muted)
    size = float(np.cbrt(np.abs(np.linalg.det(world[0, :3, :3]))))
    missed = {name: (distance * size, angle) for name, (distance, angle) in pose.missed(bone_names).items()}
    return Written(motion, channels_of(tracks), missed)


def write_object_result(scene, owner, frames, positions, rotations):
    """An action in which an object takes the given poses: positions (F, 3) and rotations (F, 4) in the world."""
    bpy.context.view_layer.update()
    frames, positions, rotations = checked(owner, [owner.name], frames, positions[:, None], rotations[:, None])
    source = Source(scene, owner)
    paths = channel_paths(owner)
    values, _, _ = source.channels(paths, frames)
    offer = Channels.read(owner, values, source.driven)
    axes, heads = in_space(parent_space(scene, owner, frames), positions, rotations, [owner.name])[owner.name]
    delta, shift = delta_rotation(owner), np.array(owner.delta_location)
    rotation, turned = solve_rotation(offer, delta.T @ axes)
    location = heads - shift
    location[:, offer.fixed_location] = offer.location[:, offer.fixed_location]
    distance, angle = np.linalg.norm(location + shift - heads, axis=-1).max(), angle_between(delta @ turned, axes)

    muted = [constraint for constraint in owner.constraints if not constraint.mute]
    tracks = [Track(paths[0], GROUP, location, free(offer.fixed_location, 3), bool(muted)),
              Track(paths[1], GROUP, rotation, free(offer.fixed_rotation, rotation.shape[1]), bool(muted))]
    motion = build_action(source, frames, lead_frames(scene, frames), tracks, muted)
    missed = {owner.name: (float(distance), float(angle))} if distance > 1e-5 or angle > 1e-5 else {}
    return Written(motion, channels_of(tracks), missed)


def checked(owner, names, frames, positions, rotations):
    """The numbers as arrays; they come from a simulation, so anything odd is told apart from a Blender problem."""
    frames, positions, rotations = (np.asarray(array, dtype=float) for array in (frames, positions, rotations))
    if not len(frames):
        raise RigError(f"There are no frames to write to {owner.name}; give the simulation a longer range")
    if positions.shape != (len(frames), len(names), 3) or rotations.shape != (len(frames), len(names), 4):
        raise ValueError(f"{owner.name}: {len(names)} poses at {len(frames)} frames do not fit positions "
                         f"{positions.shape} and rotations {rotations.shape}")
    if not (np.isfinite(frames).all() and (np.diff(frames) > 0.0).all()):
        raise ValueError(f"{owner.name}: frames must be finite and rising")
    finite = np.isfinite(positions).all((0, 2)) & np.isfinite(rotations).all((0, 2))
    if not finite.all():
        raise ValueError(f"{owner.name}: the pose of {names[int(np.argmin(finite))]} is not a number")
    return frames, positions, rotations


def lead_frames(scene, frames):
    """Whole frames of the scene before the first one."""
    return np.arange(scene.frame_start, int(np.ceil(frames[0])), dtype=float)


def in_space(spaces, positions, rotations, names):
    """{name: (axes (F, 3, 3), heads (F, 3))} of world poses (F, B), seen from spaces (F or 1, 4, 4)."""
    inverse = np.linalg.inv(spaces)
    heads = (inverse[:, None, :3, :3] @ positions[..., None])[..., 0] + inverse[:, None, :3, 3]
    axes = np.swapaxes(orthonormal(spaces[:, None, :3, :3]), -1, -2) @ matrix_from_quaternion(rotations)
    axes, heads = np.ascontiguousarray(np.swapaxes(axes, 0, 1)), np.ascontiguousarray(np.swapaxes(heads, 0, 1))
    return {name: (axes[index], heads[index]) for index, name in enumerate(names)}


def carry(link, link_source, own_source):
    """Axes and heads of a bone that keeps its place in its link.

    link: axes and heads of the link now; link_source, own_source (F, 4, 4): poses of both in the source
    """
    axes, heads = link
    from_link = np.swapaxes(orthonormal(link_source[:, :3, :3]), -1, -2)
    place = from_link @ (own_source[:, :3, 3:] - link_source[:, :3, 3:])
    return axes @ from_link @ orthonormal(own_source[:, :3, :3]), heads + (axes @ place)[..., 0]


def parent_space(scene, owner, frames):
    """The space (F or 1, 4, 4) in which the object's own channels put it."""
    if not follows_parent(scene, owner):
        return parent_space_now(owner)[None]
    spaces = []
    with frame_kept(scene):
        for frame in frames:
            go_to(scene, frame)
            spaces.append(parent_space_now(owner))
    return np.array(spaces)


def parent_space_now(owner):
    if owner.parent is None:
        return np.eye(4)
    if owner.parent_type == "OBJECT":
        return np.array(owner.parent.matrix_world @ owner.matrix_parent_inverse, dtype=float)
    return np.array(owner.matrix_world @ owner.matrix_basis.inverted(), dtype=float)


def delta_rotation(owner):
    """The rotation (3, 3) that an object adds to its rotation channels."""
    if owner.rotation_mode == "QUATERNION":
        return to_matrix("QUATERNION", owner.delta_rotation_quaternion)
    if owner.rotation_mode == "AXIS_ANGLE":
        return np.eye(3)
    return to_matrix(owner.rotation_mode, owner.delta_rotation_euler)


def channels_of(tracks):
    return [(track.path, index) for track in tracks for index in track.indices]


def free(fixed, size):
    return [index for index in range(size) if index not in fixed]
