# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses for the mannequin of the demo scenes: bones are aimed in world directions, the body is moved by the hips."""

from math import radians

import bpy
from mathutils import Matrix, Vector

from .actions import motion_of

SIDES = (".L", 1.0), (".R", -1.0)


def aim(owner, directions):
    """Turn bones so that they point in world directions, with as little twist as possible.

    directions {bone: direction}; a name without its side stands for both, the direction of the right one mirrored
    """
    wanted = {}
    for name, direction in directions.items():
        for side, sign in SIDES if f"{name}.L" in owner.pose.bones else (("", 1.0),):
            wanted[name + side] = Vector((sign * direction[0], *direction[1:])).normalized()
    axes = {}
    for bone in owner.pose.bones:  # parents come first
        here = bone.bone.matrix_local.to_3x3()
        if bone.parent:
            here = axes[bone.parent.name] @ bone.parent.bone.matrix_local.to_3x3().inverted() @ here
        if bone.name in wanted:
            turned = here.col[1].rotation_difference(wanted[bone.name]).to_matrix() @ here
            bone.rotation_quaternion = (here.inverted() @ turned).to_quaternion()
        axes[bone.name] = here @ bone.rotation_quaternion.to_matrix()
    bpy.context.view_layer.update()


def move(owner, matrix):
    """Move the whole body by a world matrix."""
    hips = owner.pose.bones["hips"]
    hips.matrix = matrix @ hips.matrix
    bpy.context.view_layer.update()


def middle(owner, name):
    """The middle of a bone in the world; of a pair of bones where the name has no side."""
    names = [name + side for side, _ in SIDES] if f"{name}.L" in owner.pose.bones else [name]
    bones = [owner.pose.bones[one] for one in names]
    return owner.matrix_world @ (sum((bone.head + bone.tail for bone in bones), Vector()) / (2.0 * len(bones)))


def raise_arms(owner):
    """Arms over the head, hands as far apart as the shoulders."""
    aim(owner, {"upper_arm": (0.12, 0, 1), "forearm": (0, -0.1, 1), "hand": (-0.1, 0.1, 1)})


def hang(owner, place, lean):
    """Bring the hands to a place and lean the body about the X axis there, by degrees."""
    turn = Matrix.Rotation(radians(lean), 4, "X")
    move(owner, Matrix.Translation(place) @ turn @ Matrix.Translation(-middle(owner, "hand")))


def sit(owner, place):
    """Sit down on a place, upright, with the shins hanging."""
    aim(owner, {"thigh": (0.02, -1, -0.05), "shin": (0, 0.1, -1), "foot": (0, -1, -0.4)})
    hips = owner.matrix_world @ owner.pose.bones["hips"].head
    move(owner, Matrix.Translation(place + Vector((0, 0.08, 0.12)) - hips))


def reach(owner, side, target, elbow):
    """Bring the middle of a hand to a place, the elbow pointing in a direction: the third side of a triangle."""
    bones = owner.pose.bones
    shoulder = owner.matrix_world @ bones["upper_arm" + side].head
    upper = bones["upper_arm" + side].length
    lower = bones["forearm" + side].length + bones["hand" + side].length / 2.0
    way = target - shoulder
    cosine = (upper**2 + way.length_squared - lower**2) / (2.0 * upper * way.length)
    cosine = max(-1.0, min(1.0, cosine))
    out = (elbow - elbow.project(way)).normalized()
    bend = shoulder + upper * (cosine * way.normalized() + (1.0 - cosine**2) ** 0.5 * out)
    aim(owner, {"upper_arm" + side: bend - shoulder, "forearm" + side: target - bend, "hand" + side: target - bend})


def key_joints(owner, poses):
    """Key poses of an upright body, all joints but the root.

    poses {frame: directions as of aim()}; bones that are not named are as in the rest pose
    """
    before = {}
    for frame, directions in poses.items():
        for bone in owner.pose.bones:
            bone.rotation_quaternion.identity()
        aim(owner, directions)
        for bone in owner.pose.bones:
            if bone.parent:
                bone.rotation_quaternion.make_compatible(before.get(bone, bone.rotation_quaternion))  # the short way
                bone.keyframe_insert("rotation_quaternion", frame=frame, group=bone.name)
                before[bone] = bone.rotation_quaternion.copy()


def key_hips(owner, frame):
    """Key where the body is, held until the next key: physics decides what happens between them."""
    hips = owner.pose.bones["hips"]
    for path in ("location", "rotation_quaternion"):
        hips.keyframe_insert(path, frame=frame, group="hips")
    for curve in motion_of(owner).curves():
        if '"hips"' in curve.data_path:
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"
    bpy.context.view_layer.update()
