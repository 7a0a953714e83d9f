# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure as links: poses are held against Blender's own matrices, masses and tensors against closed forms."""

from importlib import import_module
from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

BONES = {
    "hips": (None, (0, 0, 1), (0, 0, 1.2)),
    "chest": ("hips", (0, 0, 1.2), (0, 0.05, 1.6)),
    "arm": ("chest", (0.2, 0, 1.55), (0.5, 0.02, 1.5)),
    "forearm": ("arm", (0.5, 0.02, 1.5), (0.8, 0, 1.55)),
    "hand": ("forearm", (0.8, 0, 1.55), (0.9, 0, 1.5)),
    "finger": ("hand", (0.9, 0, 1.5), (0.95, 0.02, 1.45)),
}
MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"]


@pytest.fixture
def read(trapeze):
    module = import_module(f"{trapeze.__name__}.rig.links")
    return lambda owner: module.read_links(owner, bpy.context.evaluated_depsgraph_get())


@pytest.fixture
def errors(trapeze):
    return import_module(f"{trapeze.__name__}.rig.errors")


def make_figure(bones=BONES, **parts):
    """An armature with the given bones, all links of one kilogram and 2 cm radius unless said otherwise."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (name, (parent, head, tail)) in enumerate(bones.items()):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, 0.4 * number
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.trapeze.role = "FIGURE"
    for bone in rig.pose.bones:
        bone.trapeze_part, bone.trapeze_mass, bone.trapeze_radius = parts.get(bone.name, "LINK"), 1.0, 0.02
        bone.trapeze_centre = (0, 0.5 * bone.bone.length, 0)
    return rig


def pose(rig, seed=3):
    rng = np.random.default_rng(seed)
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = MODES[number % len(MODES)]
        bone.matrix_basis = Quaternion(rng.normal(size=4)).normalized().to_matrix().to_4x4()
    bpy.context.view_layer.update()


def turned(link):
    """Rotation of the joint by its coordinate, by mathutils."""
    if link.joint == "BALL":
        return np.array(Quaternion(link.turn).to_matrix(), dtype=float)
    if link.joint == "HINGE":
        return np.array(Matrix.Rotation(link.turn, 3, Vector(link.axis)), dtype=float)
    return np.eye(3)


def rebuilt(links):
    """World pose of every link from its parent's, its joint frame and its coordinate."""
    poses = []
    for link in links:
        if link.parent < 0:
            poses.append((link.at_position, link.at_rotation))
        else:
            place, turn = poses[link.parent]
            poses.append((place + turn @ link.at_position, turn @ link.at_rotation @ turned(link)))
    return poses


@pytest.mark.parametrize("unit", [1.0, 0.01])
@pytest.mark.parametrize("scale", [1.0, 0.1, 20.0])
def test_links_are_where_blender_shows_the_bones(scene, read, unit, scale):
    """Also of a rotated, moved, scaled and parented armature, hinges posed out of their plane among them."""
    scene.unit_settings.scale_length = unit
    rig = make_figure(finger="MERGED")
    rig.pose.bones["forearm"].trapeze_joint = "HINGE"
    rig.pose.bones["forearm"].trapeze_axis = (1.0, 0.5, 0.0)
    rig.pose.bones["hand"].trapeze_joint = "FIXED"
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    holder.matrix_world = Matrix.LocRotScale((1, 2, 3), Euler((0.3, 0.2, 0.1)), (scale,) * 3)
    rig.parent = holder
    rig.location, rig.rotation_euler = (0.5, -1, 2), (1.0, -0.5, 2.0)
    pose(rig)
    links = read(rig)
    assert [link.name for link in links] == ["hips", "chest", "arm", "forearm", "hand"]
    assert [link.joint for link in links] == ["FREE", "BALL", "BALL", "HINGE", "FIXED"]
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for link, (place, turn) in zip(links, rebuilt(links)):
        world = seen.matrix_world @ seen.pose.bones[link.name].matrix
        size = 5.0 * scale * unit  # float32 has seven digits
        assert link.position == pytest.approx(np.array(world.translation) * unit, abs=1e-6 * size)
        assert link.rotation == pytest.approx(np.array(world.to_quaternion().to_matrix()), abs=2e-6)
        assert place == pytest.approx(link.position, abs=1e-6 * size)
        assert turn == pytest.approx(link.rotation, abs=1e-6)


def test_angles_are_counted_from_the_rest_pose(read):
    rig = make_figure()
    rig.pose.bones["forearm"].trapeze_joint = "HINGE"
    rig.pose.bones["forearm"].rotation_mode = "XYZ"
    rig.pose.bones["forearm"].rotation_euler = (0.7, 0, 0)
    rig.pose.bones["hand"].rotation_quaternion = Quaternion((0, 0, 1), 0.4)
    bpy.context.view_layer.update()
    links = {link.name: link for link in read(rig)}
    assert links["forearm"].turn == pytest.approx(0.7, abs=1e-6)
    assert links["hand"].turn == pytest.approx(Quaternion((0, 0, 1), 0.4), abs=1e-6)
    assert links["arm"].turn == pytest.approx((1, 0, 0, 0), abs=1e-6)


def test_constraints_are_read_as_they_look(read):
    rig = make_figure()
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    target.location = (0.4, 0.3, 1.7)
    solver = rig.pose.bones["hand"].constraints.new("IK")
    solver.target, solver.chain_count = target, 3
    bpy.context.view_layer.update()
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for link in read(rig):
        assert link.position == pytest.approx(np.array(seen.pose.bones[link.name].head), abs=1e-6)
    tip = seen.pose.bones["hand"].tail
    assert (tip - target.location).length < 1e-3, "the IK solver did its work"


def test_merged_bones_bring_their_mass_and_place(read):
    """Two capsules in line: masses add up, the centre is their mean, Steiner's rule gives the tensor."""
    bones = {"a": (None, (0, 0, 0), (0, 0, 1)), "b": ("a", (0, 0, 1), (0, 0, 2))}
    rig = make_figure(bones, b="MERGED")
    rig.pose.bones["b"].trapeze_mass = 3.0
    for bone in rig.pose.bones:
        bone.trapeze_radius = 1e-5
    (link,) = read(rig)
    assert link.bones == ["a", "b"]
    assert link.mass == 4.0
    assert link.com == pytest.approx([0, 1.25, 0], abs=1e-6)
    about = 1.0 / 12 + 0.75**2 + 3.0 * (1.0 / 12 + 0.25**2)
    assert np.diag(link.tensor) == pytest.approx([about, 0.0, about], abs=1e-4)


def test_a_bone_between_that_takes_no_part_is_stepped_over(read):
    rig = make_figure(arm="IGNORED")
    links = read(rig)
    assert [link.name for link in links] == ["hips", "chest", "forearm", "hand", "finger"]
    assert links[2].parent == 1


def test_tensors_are_those_of_capsules_in_metres(scene, read):
    """A long thin rod at unit scale 0.01 and object scale 10: m L^2 / 12 with L in metres."""
    scene.unit_settings.scale_length = 0.01
    rig = make_figure({"rod": (None, (0, 0, 0), (0, 0, 30.0))})
    rig.scale = (10.0, 10.0, 10.0)
    rig.pose.bones["rod"].trapeze_radius = 1e-4
    rig.pose.bones["rod"].trapeze_mass = 2.0
    bpy.context.view_layer.update()
    (link,) = read(rig)
    assert link.tensor == pytest.approx(np.diag([1, 0, 1]) * 2.0 * 3.0**2 / 12, abs=1e-4)
    assert link.com == pytest.approx([0, 1.5, 0], abs=1e-5)


def test_limits_are_handed_on_in_the_limb_s_axes(read):
    rig = make_figure()
    bone = rig.pose.bones["arm"]
    bone.trapeze_use_limits = True
    bone.trapeze_swing_x_lower, bone.trapeze_swing_x_upper = -0.5, 1.0
    links = {link.name: link for link in read(rig)}
    assert links["chest"].limits is None
    assert links["arm"].limits.swing_x == (-0.5, 1.0)
    assert links["arm"].limits.twist == pytest.approx((-pi, pi))
    assert links["arm"].limits.axes == pytest.approx(np.eye(3))


def test_game_engine_bones_across_the_limb_have_limb_axes_along_it(read):
    """Bones imported from Unreal point their Y axis sideways; the limb runs to the child all the same."""
    parents = {"a": None, "b": "a", "c": "b"}
    bones = {name: (parent, (number, 0, 0), (number, 0.1, 0)) for number, (name, parent) in enumerate(parents.items())}
    rig = make_figure(bones)
    rig.pose.bones["b"].trapeze_use_limits = True
    link = read(rig)[1]
    assert link.rotation @ link.limits.axes[:, 1] == pytest.approx([1, 0, 0], abs=1e-6)
    capsule = link.capsules[0]
    assert link.rotation @ (capsule.end - capsule.start) == pytest.approx([1, 0, 0], abs=1e-6)


def test_what_cannot_be_simulated_is_named(read, errors):
    rig = make_figure()
    rig.trapeze.role = "NONE"
    with pytest.raises(errors.RigError, match="Rig is not a figure; use Set Up Figure"):
        read(rig)
    rig.trapeze.role = "FIGURE"
    rig.pose.bones["arm"].scale = (0, 0, 0)
    bpy.context.view_layer.update()
    with pytest.raises(errors.RigError, match="arm has zero length"):
        read(rig)
    rig.pose.bones["arm"].scale = (1, 1, 1)
    rig.pose.bones["arm"].trapeze_joint = "HINGE"
    rig.pose.bones["arm"].trapeze_axis = (0, 0, 0)
    bpy.context.view_layer.update()
    with pytest.raises(errors.RigError, match="hinge axis of arm is zero"):
        read(rig)
    for bone in rig.pose.bones:
        bone.trapeze_part = "IGNORED"
    bpy.context.view_layer.update()
    with pytest.raises(errors.RigError, match="No bone of Rig takes part"):
        read(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(errors.RigError, match="Rig is in Edit Mode"):
        read(rig)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_the_outline_surrounds_the_links(trapeze, read):
    """Every line of a capsule lies on its surface, whose distance from the axis is the radius."""
    outline = import_module(f"{trapeze.__name__}.rig.outline")
    links = read(make_figure())
    drawn = outline.Outline(links)
    positions = np.array([link.position for link in links])
    rotations = np.array([link.rotation for link in links])
    for kind in ("links", "joints", "marks"):
        assert drawn.placed(kind, positions, rotations).shape[1:] == (2, 3)
    capsule = links[3].capsules[0]
    points = outline.capsule_lines(capsule).reshape(-1, 3)
    axis = (capsule.end - capsule.start) / np.linalg.norm(capsule.end - capsule.start)
    length = np.linalg.norm(capsule.end - capsule.start)
    along = np.clip((points - capsule.start) @ axis, capsule.radius, length - capsule.radius)
    nearest = capsule.start + along[:, None] * axis
    assert np.linalg.norm(points - nearest, axis=1) == pytest.approx(capsule.radius, rel=1e-6)
