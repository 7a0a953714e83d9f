# SPDX-License-Identifier: GPL-3.0-or-later
"""Make grips and key them: grab at a frame, release at a frame.

A grip is an Empty in the middle of the hand, parented to it. Around a long thing such as a bar its Z axis runs along
that, and its place is on the middle line of the bar if that is within reach: the hand then turns about the bar itself.
"""

from dataclasses import dataclass

import bpy
from mathutils import Matrix, Vector

from .errors import RigError
from .intervals import grips, is_active, set_active

LONG = 3.0  # times the other dimensions: a thing to put a hand around
REACH = 1.5  # of the hand's length
ARROWS = 0.15  # metres at most: a rod does not need arrows of its own size


@dataclass(frozen=True)
class Target:
    """One end of a grip to be; no object is the world."""

    owner: object = None
    bone: str = ""

    def __str__(self):
        return self.bone or (self.owner.name if self.owner else "its place in the world")


def grab(scene, pairs, frame):
    """Let the first of each pair take hold of the second from the frame on. Returns the grips and which are new.

    A grip that joined the two before takes hold again. Nothing is done if any pair cannot be joined.
    """
    found = [_check(scene, *pair, frame) for pair in pairs]
    made = []
    for (first, second), grip in zip(pairs, found, strict=True):
        if grip is None:
            made.append(_new_grip(scene, first, second))
            set_active(scene, made[-1], frame - 1, False)
        set_active(scene, grip or made[-1], frame, True)
    return [grip or made.pop(0) for grip in found], [grip is None for grip in found]


def _check(scene, first, second, frame):
    """The grip that joins the two already, or None. Raises what keeps them from being joined."""
    for end in (first, second):
        if end.owner and end.owner.trapeze.role == "FIGURE" and not end.bone:
            raise RigError(f"Choose a bone of {end.owner.name} in Pose Mode")
    if first.owner == second.owner and link_bone(first) == link_bone(second):
        raise RigError(f"{first} cannot hold on to itself; select what it should hold too")
    if not (_can_move(first.owner) or _can_move(second.owner)):
        raise RigError(f"Neither {first} nor {second} can move; use Set Up Figure first, or make one a dynamic prop")
    grip = next((one for one in grips(scene) if _joins(one, first, second)), None)
    if grip and is_active(scene, grip, frame):
        raise RigError(f"{grip.name} holds already at frame {frame:g}; release it first")
    return grip


def release(scene, grips, frame):
    """Let go at the frame."""
    for grip in grips:
        set_active(scene, grip, frame, False)


def holding(scene, ends, frame):
    """The grips that hold one of the ends at the frame."""
    wanted = {(end.owner, link_bone(end)) for end in ends}
    return [
        grip for grip in grips(scene) if is_active(scene, grip, frame)
        and any((end.owner, link_bone(end)) in wanted for end in ends_of(grip))]


def ends_of(grip):
    """The two ends of a grip."""
    settings = grip.trapeze.grip
    second = Target() if settings.use_world else Target(settings.second_object, settings.second_bone)
    return Target(settings.first_object, settings.first_bone), second


def link_bone(end):
    """The bone whose link the end is a part of."""
    bone = end.owner.pose.bones.get(end.bone) if end.bone and end.owner.pose else None
    while bone and bone.parent and bone.trapeze_part == "MERGED":
        bone = bone.parent
    return bone.name if bone else end.bone


def nearest(first, targets):
    """The target that is closest to what takes hold."""
    place = _middle(first)
    return min(targets, key=lambda end: _distance(end, place))


def _distance(end, place):
    """From a place in the world to a bone's middle, or to the box around an object."""
    if end.bone:
        return (_middle(end) - place).length
    inside = end.owner.matrix_world.inverted_safe() @ place
    corners = [Vector(corner) for corner in end.owner.bound_box]
    lower, upper = (Vector(map(choose, zip(*corners))) for choose in (min, max))
    within = Vector(min(max(value, low), high) for value, low, high in zip(inside, lower, upper))
    return (end.owner.matrix_world @ within - place).length


def _can_move(owner):
    """Whether physics moves the object, or what it hangs on."""
    if owner is None:
        return False
    role = owner.trapeze.role
    moves = role == "FIGURE" or (role == "PROP" and owner.trapeze.prop.motion == "DYNAMIC")
    return moves or _can_move(owner.parent)


def nearest_link(owner, bone):
    """The bone itself, or the one beside it that takes part: of a control, the bone that it is for."""
    bones = owner.pose.bones
    if owner.trapeze.role != "FIGURE" or bones[bone].trapeze_part != "IGNORED":
        return bone
    here = owner.data.bones[bone]
    links = [other.bone for other in bones if other.trapeze_part != "IGNORED"]
    if not links:
        raise RigError(f"No bone of {owner.name} takes part; set up the figure again")

    def distance(other):
        return (other.head_local - here.head_local).length + (other.tail_local - here.tail_local).length

    return min(links, key=distance).name


def _joins(grip, first, second):
    ends = ends_of(grip)
    return ends == (first, second) or ends == (second, first)


def new_empty(scene, end, what, display):
    """An Empty in the middle of an end, parented to it, named after it and after what it is."""
    empty = bpy.data.objects.new(f"{end.bone or end.owner.name} {what}", None)
    where = next(iter(end.owner.users_collection), scene.collection)
    where.objects.link(empty)
    empty.empty_display_type = display
    empty.empty_display_size = min(0.5 * _length(end), ARROWS / scene.unit_settings.scale_length)
    empty.parent = end.owner
    if end.bone:
        empty.parent_type, empty.parent_bone = "BONE", end.bone
    bpy.context.view_layer.update()
    empty.matrix_world = Matrix.Translation(_middle(end))
    return empty


def _new_grip(scene, first, second):
    grip = new_empty(scene, first, "Grip", "ARROWS")
    settings = grip.trapeze.grip
    grip.trapeze.role = "GRIP"
    settings.first_object, settings.first_bone = first.owner, first.bone
    settings.second_object, settings.second_bone = second.owner, second.bone
    settings.use_world = second.owner is None
    bar = _bar(second)
    settings.joint = "CYLINDER" if bar else "BALL"
    grip.matrix_world = _frame(first, bar, _length(first))
    bpy.context.view_layer.update()
    return grip


def _matrix(end):
    """World matrix of a bone or an object."""
    return end.owner.matrix_world @ end.owner.pose.bones[end.bone].matrix if end.bone else end.owner.matrix_world


def _length(end):
    """Size of what takes hold, in Blender units."""
    if end.bone:
        bone = end.owner.pose.bones[end.bone]
        return (end.owner.matrix_world.to_3x3() @ (bone.tail - bone.head)).length
    return max(max(end.owner.dimensions), 0.1)


def _middle(end):
    if end.bone:
        bone = end.owner.pose.bones[end.bone]
        return end.owner.matrix_world @ ((bone.head + bone.tail) / 2.0)
    return end.owner.matrix_world @ _centre(end.owner)


def _centre(owner):
    """Middle of the bounding box, in the object's own axes."""
    corners = [Vector(corner) for corner in owner.bound_box]
    return sum(corners, Vector()) / len(corners)


def _bar(end):
    """Middle and half length (a vector) of a long thing in the world; None if it is not long."""
    if end.owner is None or end.bone or end.owner.type not in {"MESH", "CURVE", "SURFACE", "FONT", "META"}:
        return None
    sizes = list(end.owner.dimensions)
    longest = max(range(3), key=lambda axis: sizes[axis])
    if sizes[longest] <= LONG * max(size for axis, size in enumerate(sizes) if axis != longest):
        return None
    axis = end.owner.matrix_world.to_3x3().col[longest].normalized()
    return end.owner.matrix_world @ _centre(end.owner), axis * (sizes[longest] / 2.0)


def _frame(first, bar, length):
    """World matrix of the grip's arrows."""
    place, turn = _middle(first), _matrix(first).to_3x3().normalized()
    if bar:
        middle, half = bar
        axis = half.normalized()
        along = max(-half.length, min(half.length, (place - middle).dot(axis)))
        on_bar = middle + along * axis
        if (on_bar - place).length <= REACH * length:
            place = on_bar
        turn = _aligned(turn, axis)
    return Matrix.Translation(place) @ turn.to_4x4()


def _aligned(turn, axis):
    """The rotation with the given Z axis that is nearest to another one."""
    z = turn.col[2]
    axis = -axis if z.dot(axis) < 0.0 else axis
    return z.rotation_difference(axis).to_matrix() @ turn
