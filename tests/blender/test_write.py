# SPDX-License-Identifier: GPL-3.0-or-later
"""World poses in, channels out: Blender's own evaluation must show the poses that were given.

The poses come from a reference copy of the rig, posed by Blender itself with plain quaternions.
"""

import time
from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
FRAMES = np.arange(1, 13)
CLOSE = 1e-6
# name: parent, head, tail, connected. No bone points straight against its parent: Blender's own rest axes are then only
# orthogonal to 1e-5, and no channel can mend that.
BONES = {
    "hips": (None, (0, 0, 1), (0, 0, 1.2), False),
    "chest": ("hips", (0, 0, 1.2), (0, 0.05, 1.6), True),
    "arm": ("chest", (0.2, 0, 1.55), (0.5, 0.02, 1.5), False),
    "forearm": ("arm", (0.5, 0.02, 1.5), (0.8, 0, 1.55), True),
    "hand": ("forearm", (0.8, 0, 1.55), (0.9, 0, 1.5), True),
    "finger": ("hand", (0.9, 0, 1.5), (0.95, 0.02, 1.45), True),
    "thigh": ("hips", (-0.1, 0, 1), (-0.3, 0.2, 0.7), False),
    "shin": ("thigh", (-0.3, 0.2, 0.7), (-0.3, 0.1, 0.3), True),
}
LINKS = ["hips", "chest", "arm", "forearm", "hand", "thigh", "shin"]


@pytest.fixture
def write(trapeze):
    from importlib import import_module
    return import_module(trapeze.__name__ + ".rig.write")


def make_rig(bones=BONES, name="Rig"):
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (bone_name, (parent, head, tail, connected)) in enumerate(bones.items()):
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.roll = head, tail, 0.3 * number
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_connect = connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def make_poses(frames=FRAMES, names=LINKS, bones=BONES, speed=0.3, seed=1, scale=1.0):
    """World positions and rotations of a tumbling figure, evaluated by Blender on a rig of its own."""
    rng = np.random.default_rng(seed)
    rig = make_rig(bones, "Reference")
    rig.scale = (scale,) * 3
    turns = {name: Quaternion(rng.normal(size=4)).normalized() for name in names}
    spins = {name: Vector(rng.normal(size=3)) * speed for name in names}
    place, positions, rotations = Vector(rng.normal(size=3)), [], []
    for _ in frames:
        place = place + Vector((0.03, -0.02, 0.05))
        for name in names:
            turns[name] = (Quaternion(spins[name].normalized(), spins[name].length) @ turns[name]).normalized()
            rig.pose.bones[name].rotation_quaternion = turns[name]
        rig.pose.bones[names[0]].location = place
        bpy.context.view_layer.update()
        poses = [rig.matrix_world @ rig.pose.bones[name].matrix for name in names]
        positions.append([pose.translation[:] for pose in poses])
        rotations.append([pose.to_quaternion()[:] for pose in poses])
    bpy.data.objects.remove(rig)
    return np.array(positions), np.array(rotations)


def world_poses(rig, frames, names):
    """What Blender shows: positions (F, B, 3), axes (F, B, 3, 3) without scale."""
    positions, axes = [], []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses = [seen.matrix_world @ seen.pose.bones[name].matrix for name in names]
        positions.append([pose.translation[:] for pose in poses])
        axes.append([pose.to_3x3().normalized()[:] for pose in poses])
    return np.array(positions), np.array(axes)


def matrices(rotations):
    return np.array([[Quaternion(one).to_matrix()[:] for one in frame] for frame in rotations])


def assert_shows(rig, positions, rotations, frames=FRAMES, names=LINKS, close=CLOSE):
    seen_positions, seen_axes = world_poses(rig, frames, names)
    size = max(1.0, np.abs(positions).max())
    worst = np.abs(seen_positions - positions).max((0, 2))
    assert worst.max() < close * size, dict(zip(names, worst))
    worst = np.abs(seen_axes - matrices(rotations)).max((0, 2, 3))
    assert worst.max() < close, dict(zip(names, worst))


def finger_in_hand(rig):
    poses = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        poses.append(np.array(rig.pose.bones["hand"].matrix.inverted() @ rig.pose.bones["finger"].matrix))
    return np.array(poses)


def curves_of(action):
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags
            for curve in bag.fcurves]


def dump(action):
    """Every number of an action, to compare bit by bit."""
    result = {}
    for curve in curves_of(action):
        points = curve.keyframe_points
        for name, size in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
            values = np.zeros(len(points) * size, dtype=np.float32)
            points.foreach_get(name, values)
            result[curve.data_path, curve.array_index, name] = values.tobytes()
        result[curve.data_path, curve.array_index] = (
            curve.mute, curve.extrapolation, len(curve.modifiers), [point.interpolation for point in points])
    return result


def channels(action, path):
    return {curve.array_index: np.array([point.co[1] for point in curve.keyframe_points])
            for curve in curves_of(action) if curve.data_path == path}


def key(owner, path, values, step=6):
    """Key a property with the values, one every few frames."""
    for number, value in enumerate(values):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=1 + step * number, group=owner.name)


@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode(scene, write, mode):
    positions, rotations = make_poses()
    rig = make_rig()
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert written.missed == {}
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)


@pytest.mark.parametrize("mode", MODES)
def test_channels_run_on_through_many_turns(scene, write, mode):
    """Tumbling over many turns, no channel jumps: a wrong sign or branch would be a step of two (quaternion) or pi."""
    frames = np.arange(1, 101)
    axis = Vector((0.3, 1.0, -0.2)).normalized()
    rotations = np.array([[Quaternion(axis, 0.2 * frame)[:]] for frame in frames])
    rotations[::3] *= -1.0  # the same rotations
    rig = make_rig()
    rig.pose.bones["hips"].rotation_mode = mode
    written = write.write_result(scene, rig, frames, ["hips"], np.zeros((100, 1, 3)), rotations)
    path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for values in channels(written.motion.action, f'pose.bones["hips"].{path}').values():
        assert np.abs(np.diff(values)).max() < 2.0


def test_angles_pass_the_pole_without_a_kick(scene, write):
    """A pure pitch through 90 degrees: the other two angles are undetermined there and must stay."""
    rig = make_rig({"bone": (None, (0, 0, 0), (0, 1, 0), False)})
    rig.pose.bones["bone"].rotation_mode = "XYZ"
    frames = np.arange(1, 20)
    pitch = np.linspace(0.0, pi, 19)  # the tenth is the pole
    rotations = np.array([[Quaternion((0, 1, 0), angle)[:]] for angle in pitch])
    written = write.write_result(scene, rig, frames, ["bone"], np.zeros((19, 1, 3)), rotations)
    values = channels(written.motion.action, 'pose.bones["bone"].rotation_euler')
    np.testing.assert_allclose(values[1], pitch, atol=1e-6)
    np.testing.assert_allclose([values[0], values[2]], 0.0, atol=1e-6)


def place_moved(rig):
    rig.matrix_world = Matrix.LocRotScale((3, -2, 1), Quaternion((0.3, 0.5, -0.2, 0.7)).normalized(), None)


def place_scaled(rig):
    rig.matrix_world = Matrix.LocRotScale((3, -2, 1), Quaternion((0.3, 0.5, -0.2, 0.7)).normalized(), (0.4,) * 3)


def place_parented(rig):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    parent.matrix_world = Matrix.LocRotScale((1, 2, 3), Quaternion((0.9, 0.1, 0.4, 0.1)).normalized(), (2.0,) * 3)
    bpy.context.view_layer.update()
    rig.parent = parent
    rig.matrix_parent_inverse = Matrix.Translation((0.5, 0, 0))
    return parent


def place_animated(rig):
    key(rig, "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])
    key(rig, "rotation_euler", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])


def place_parent_animated(rig):
    key(place_parented(rig), "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])


def place_constrained(rig):
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    key(target, "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])
    rig.constraints.new("COPY_LOCATION").target = target


@pytest.mark.parametrize("place", [
    place_moved, place_scaled, place_parented, place_animated, place_parent_animated, place_constrained])
def test_armature_anywhere(scene, write, place):
    rig = make_rig()
    place(rig)
    bpy.context.view_layer.update()
    positions, rotations = make_poses(scale=rig.matrix_world.to_scale()[0])
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert written.missed == {}
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations, close=2e-6)


@pytest.mark.parametrize("setting", [
    {"use_inherit_rotation": False}, {"use_local_location": False}, {"inherit_scale": "NONE"},
    {"use_inherit_rotation": False, "use_local_location": False, "inherit_scale": "AVERAGE"}])
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_inheritance_settings(scene, write, setting, scale):
    """A scaled bone scales its children; positions then cannot all be reached by connected bones, rotations can."""
    positions, rotations = make_poses()
    rig = make_rig()
    for bone in rig.data.bones:
        for name, value in setting.items():
            setattr(bone, name, value)
    rig.pose.bones["chest"].scale = (scale,) * 3
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert scale != 1.0 or written.missed == {}
    written.motion.assign(rig)
    seen_positions, seen_axes = world_poses(rig, FRAMES, LINKS)
    assert np.abs(seen_axes - matrices(rotations)).max() < 2e-6
    loose = [LINKS.index(name) for name in LINKS if not BONES[name][3] or scale == 1.0]
    assert np.abs(seen_positions - positions)[:, loose].max() < 5e-6
    assert rig.pose.bones["chest"].scale[0] == pytest.approx(scale)


@pytest.mark.parametrize("mode", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_even_scale_of_a_parent_in_every_inheritance_mode(scene, write, mode):
    positions, rotations = make_poses()
    rig = make_rig()
    for bone in rig.data.bones:
        bone.inherit_scale = mode
    key(rig.pose.bones["hips"], "scale", [(1.0,) * 3, (2.0,) * 3, (0.5,) * 3])
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    _, seen_axes = world_poses(rig, FRAMES, LINKS)
    assert np.abs(seen_axes - matrices(rotations)).max() < 2e-6


CONTROLLED = {"control": (None, (0, 0, 0), (0, 0.3, 0), False), **BONES, "hips": ("control", *BONES["hips"][1:])}


@pytest.mark.parametrize("moving", ["still", "posed", "keyed", "constrained", "nla", "driven"])
def test_bones_above_that_are_not_simulated(scene, write, moving):
    """Whatever the control above the hips does, it goes on doing it, and the hips are where they should be."""
    positions, rotations = make_poses()
    rig = make_rig(CONTROLLED)
    control = rig.pose.bones["control"]
    if moving == "posed":
        control.rotation_quaternion, control.location = Quaternion((1, 1, 0, 2)).normalized(), (1, 2, 3)
    if moving in {"keyed", "nla"}:
        key(control, "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])
        key(control, "rotation_quaternion", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0)])
    if moving == "nla":
        track = rig.animation_data.nla_tracks.new()
        track.strips.new("strip", 1, rig.animation_data.action)
        rig.animation_data.action = None
    if moving == "driven":
        driver = control.driver_add("location", 1).driver
        driver.expression = "sin(frame)"
    if moving == "constrained":
        target = bpy.data.objects.new("Target", None)
        bpy.context.collection.objects.link(target)
        key(target, "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])
        control.constraints.new("COPY_LOCATION").target = target
    before = world_poses(rig, FRAMES, ["control"])
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations, close=2e-6)
    after = world_poses(rig, FRAMES, ["control"])
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def test_bones_between_keep_their_own_motion(scene, write):
    """The chest is not simulated but the arm is: the chest rides on the hips with its keys, the arm is in its place."""
    names = [name for name in LINKS if name != "chest"]
    positions, rotations = make_poses()
    keep = [LINKS.index(name) for name in names]
    rig = make_rig()
    key(rig.pose.bones["chest"], "rotation_quaternion", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0)])
    written = write.write_result(scene, rig, FRAMES, names, positions[:, keep], rotations[:, keep])
    written.motion.assign(rig)
    assert_shows(rig, positions[:, keep], rotations[:, keep], names=names)
    scene.frame_set(7)
    assert rig.pose.bones["chest"].rotation_quaternion[:] == pytest.approx((0.6, 0.8, 0, 0), abs=1e-6)


def test_merged_bones_ride_along_with_their_keys(scene, write):
    positions, rotations = make_poses()
    rig = make_rig()
    key(rig.pose.bones["finger"], "rotation_quaternion", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0)])
    before = finger_in_hand(rig)
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    np.testing.assert_allclose(finger_in_hand(rig), before, atol=CLOSE)


def test_merged_bones_held_from_outside_are_carried(scene, write):
    """A finger that copies a control far away would stay behind; it goes with the hand as the source showed it."""
    positions, rotations = make_poses()
    rig = make_rig({**BONES, "handle": (None, (0.9, 0, 1.5), (0.95, 0.02, 1.45), False)})
    copy = rig.pose.bones["finger"].constraints.new("COPY_TRANSFORMS")
    copy.target, copy.subtarget = rig, "handle"
    key(rig.pose.bones["handle"], "rotation_quaternion", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0)])
    handle, local = world_poses(rig, FRAMES, ["handle"])[1], finger_in_hand(rig)
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations, merged={"finger": "hand"})
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)
    np.testing.assert_allclose(finger_in_hand(rig)[..., :3], local[..., :3], atol=CLOSE)  # connected: turns only
    np.testing.assert_array_equal(world_poses(rig, FRAMES, ["handle"])[1], handle)
    assert copy.mute


def test_constraints_step_back_in_the_result_only(scene, write):
    """IK on the forearm bends the arm, too: muted from the first simulated frame on, by keys in the result."""
    positions, rotations = make_poses(frames=FRAMES[4:])
    rig = make_rig({**BONES, "goal": (None, (0.6, 0.3, 1.4), (0.6, 0.3, 1.5), False)})
    inverse = rig.pose.bones["forearm"].constraints.new("IK")
    inverse.target, inverse.subtarget, inverse.chain_count = rig, "goal", 2
    rig.pose.bones["thigh"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    key(rig.pose.bones["goal"], "location", [(0, 0, 0), (0.2, 0.2, 0.2), (0, 0.4, 0)])
    before = world_poses(rig, FRAMES[:4], [*LINKS, "goal"])
    written = write.write_result(scene, rig, FRAMES[4:], LINKS, positions, rotations)
    assert not inverse.mute
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations, frames=FRAMES[4:])
    after = world_poses(rig, FRAMES[:4], [*LINKS, "goal"])
    np.testing.assert_allclose(after[0], before[0], atol=CLOSE)
    np.testing.assert_allclose(after[1], before[1], atol=CLOSE)
    scene.frame_set(4, subframe=0.5)  # between the last keyed and the first simulated frame nothing is mixed
    assert not inverse.mute
    assert rig.pose.bones["arm"].rotation_quaternion[:] == (1, 0, 0, 0)


def test_driven_mute_switch(scene, write):
    positions, rotations = make_poses()
    rig = make_rig()
    constraint = rig.pose.bones["hips"].constraints.new("LIMIT_LOCATION")
    constraint.use_max_z = constraint.use_transform_limit = True
    constraint.driver_add("mute").driver.expression = "0"
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)
    constraint.driver_add("influence").driver.expression = "1"
    count = len(bpy.data.actions)
    with pytest.raises(Exception, match=r"Limit Location.*drivers"):
        write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert len(bpy.data.actions) == count


def test_locked_channels_are_not_written(scene, write):
    positions, rotations = make_poses()
    rig = make_rig()
    hips, arm, thigh, shin = (rig.pose.bones[name] for name in ("hips", "arm", "thigh", "shin"))
    hips.lock_location[1] = True
    arm.lock_rotation = (True, True, True)
    thigh.rotation_mode, thigh.lock_rotation[2] = "XYZ", True
    thigh.rotation_euler[2] = 0.4
    shin.lock_rotations_4d, shin.lock_rotation[0] = True, True
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    action = written.motion.action
    assert set(channels(action, 'pose.bones["hips"].location')) == {0, 2}
    assert channels(action, 'pose.bones["arm"].rotation_quaternion') == {}
    assert set(channels(action, 'pose.bones["thigh"].rotation_euler')) == {0, 1}
    assert set(channels(action, 'pose.bones["shin"].rotation_quaternion')) == {0, 2, 3}
    assert {"hips", "arm", "thigh"} <= set(written.missed)
    written.motion.assign(rig)
    free = [LINKS.index(name) for name in ("chest", "forearm", "hand")]
    _, axes = world_poses(rig, FRAMES, LINKS)
    assert np.abs(axes - matrices(rotations))[:, free].max() < CLOSE  # bones below a locked one point as wanted
    assert thigh.rotation_euler[2] == pytest.approx(0.4)


def test_bones_that_are_locked_all_over_are_written(scene, write):
    """Rigify locks every channel of bones that hands should keep off. That says nothing about how they move."""
    positions, rotations = make_poses()
    rig = make_rig()
    for bone in rig.pose.bones:
        bone.lock_location = bone.lock_rotation = bone.lock_scale = (True, True, True)
        bone.lock_rotation_w = True
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert written.missed == {}
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)


@pytest.mark.parametrize("mode", ["XYZ", "YXZ", "ZYX", "QUATERNION"])
def test_hinge_with_two_locked_axes_turns_through_more_than_a_right_angle(scene, write, mode):
    rig = make_rig({"bone": (None, (0, 0, 0), (0, 1, 0), False)})
    bone = rig.pose.bones["bone"]
    bone.rotation_mode, bone.lock_rotation = mode, (False, True, True)
    angles = np.linspace(0.0, 3.0, len(FRAMES))
    rest = bone.bone.matrix_local.to_quaternion()
    rotations = np.array([[(rest @ Quaternion((1, 0, 0), angle))[:]] for angle in angles])
    positions = np.zeros((len(FRAMES), 1, 3))
    written = write.write_result(scene, rig, FRAMES, ["bone"], positions, rotations)
    assert written.missed == {}
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations, names=["bone"])


def test_axis_locked_and_angle_free(scene, write):
    """An axis-angle bone with a locked axis is a hinge about it: of any rotation it takes the part about that axis."""
    rig = make_rig({"bone": (None, (0, 0, 0), (0, 1, 0), False)})
    bone = rig.pose.bones["bone"]
    bone.rotation_mode, bone.lock_rotation = "AXIS_ANGLE", (True, True, True)
    bone.rotation_axis_angle = (0.0, 1.0, 0.0, 0.0)
    angles = np.linspace(0.0, 9.0, 30)
    tilt = Quaternion((0, 0, 1), 0.2)
    rotations = np.array([[(tilt @ Quaternion((1, 0, 0), angle))[:]] for angle in angles])
    written = write.write_result(scene, rig, np.arange(1, 31), ["bone"], np.zeros((30, 1, 3)), rotations)
    values = channels(written.motion.action, 'pose.bones["bone"].rotation_axis_angle')
    assert set(values) == {0}
    np.testing.assert_allclose(values[0], angles, atol=1e-5)
    assert written.missed["bone"][1] == pytest.approx(0.2, abs=1e-5)


def test_driven_channels_are_left_to_their_drivers(scene, write):
    positions, rotations = make_poses()
    rig = make_rig()
    rig.pose.bones["arm"].rotation_mode = "XYZ"
    rig.pose.bones["arm"].driver_add("rotation_euler", 0).driver.expression = "frame / 10"
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert set(channels(written.motion.action, 'pose.bones["arm"].rotation_euler')) == {1, 2}
    assert set(written.missed) == {"arm", "forearm", "hand"}
    written.motion.assign(rig)
    _, axes = world_poses(rig, FRAMES, ["forearm"])
    assert np.abs(axes[:, 0] - matrices(rotations)[:, LINKS.index("forearm")]).max() < CLOSE


def test_locations_only_where_needed(scene, write):
    """Joints hold the bones together: only the root needs a location, and connected bones could not take one."""
    positions, rotations = make_poses()
    rig = make_rig()
    action = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations).motion.action
    moved = {curve.data_path for curve in curves_of(action) if curve.data_path.endswith(".location")}
    assert moved == {'pose.bones["hips"].location'}
    positions[:, LINKS.index("thigh")] += 0.1
    action = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations).motion.action
    moved = {curve.data_path for curve in curves_of(action) if curve.data_path.endswith(".location")}
    assert moved == {'pose.bones["hips"].location', 'pose.bones["thigh"].location'}


def keyed_rig():
    rig = make_rig()
    key(rig, "location", [(0, 0, 0), (1, -2, 3), (0, 1, 1)])
    for name in ("hips", "arm", "finger"):
        key(rig.pose.bones[name], "rotation_quaternion", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0)])
    key(rig.pose.bones["hips"], "location", [(0, 0, 0), (0.1, 0, 0.3), (0, 0, 0)])
    rig.animation_data.action.name = "Walk"
    for curve in curves_of(rig.animation_data.action):
        if curve.data_path.endswith('["finger"].rotation_quaternion'):
            curve.modifiers.new("CYCLES")
    return rig


def test_source_is_not_touched_and_its_other_channels_play_on(scene, write):
    positions, rotations = make_poses()
    rig = keyed_rig()
    source = rig.animation_data.action
    before, count = dump(source), len(curves_of(source))
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    result = written.motion.action
    assert dump(source) == before
    assert rig.animation_data.action == source
    assert result.name == "Walk Trapeze"
    assert result != source and not result.use_fake_user
    assert [len(curve.modifiers) for curve in curves_of(result) if "finger" in curve.data_path] == [1, 1, 1, 1]
    assert len(curves_of(result)) >= count
    same = {one: value for one, value in dump(result).items() if one[0] == "location"}
    assert same == {one: value for one, value in before.items() if one[0] == "location"}


def test_before_the_first_frame_the_source_plays(scene, write):
    """Physics takes over at frame 6: until then every bone is where the source has it."""
    positions, rotations = make_poses(frames=FRAMES[5:])
    rig = keyed_rig()
    before = world_poses(rig, FRAMES[:5], LINKS)
    written = write.write_result(scene, rig, FRAMES[5:], LINKS, positions, rotations)
    written.motion.assign(rig)
    after = world_poses(rig, FRAMES[:5], LINKS)
    np.testing.assert_allclose(after[0], before[0], atol=CLOSE)
    np.testing.assert_allclose(after[1], before[1], atol=CLOSE)
    assert_shows(rig, positions, rotations, frames=FRAMES[5:])


def test_armature_without_action(scene, write):
    positions, rotations = make_poses()
    rig = make_rig()
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert rig.animation_data is None
    assert written.motion.action.name == "Rig Trapeze"


def test_nla_tracks_below(scene, write):
    """All motion sits in NLA tracks: the result replaces it for the links and leaves the rest."""
    positions, rotations = make_poses(frames=FRAMES[3:])
    rig = keyed_rig()
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("strip", 1, rig.animation_data.action)
    rig.animation_data.action = None
    before = world_poses(rig, FRAMES[:3], LINKS)
    written = write.write_result(scene, rig, FRAMES[3:], LINKS, positions, rotations)
    written.motion.assign(rig)
    after = world_poses(rig, FRAMES[:3], LINKS)
    np.testing.assert_allclose(after[0], before[0], atol=CLOSE)
    assert_shows(rig, positions, rotations, frames=FRAMES[3:])


def test_muted_source_channels(scene, write):
    """Muted channels do not move the source; simulated channels play in the result, the rest is as it was."""
    positions, rotations = make_poses()
    rig = keyed_rig()
    for curve in curves_of(rig.animation_data.action):
        curve.mute = "finger" not in curve.data_path
        curve.group.mute = True  # has a meaning in Blender 4.2 only
    rig.animation_data.action.update_tag()
    rig.location = (0, 0, 0)
    before = finger_in_hand(rig)
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)
    np.testing.assert_allclose(finger_in_hand(rig), before, atol=CLOSE)


def test_time_remapping(scene, write):
    """Old 100 to new 200 plays actions at half speed: keys lie where Blender will look for them."""
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    positions, rotations = make_poses()
    rig = keyed_rig()
    written = write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations)


def test_frames_in_steps_and_between(scene, write):
    frames = np.array([1.0, 3.0, 4.5, 7.25])
    positions, rotations = make_poses(frames=frames)
    rig = make_rig()
    written = write.write_result(scene, rig, frames, LINKS, positions, rotations)
    written.motion.assign(rig)
    assert_shows(rig, positions, rotations, frames=frames)


def test_current_frame_and_pose_are_kept(scene, write):
    positions, rotations = make_poses()
    rig = keyed_rig()  # moves as an object, so the scene is stepped
    scene.frame_set(5, subframe=0.25)
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    write.write_result(scene, rig, FRAMES, LINKS, positions, rotations)
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)
    assert [tuple(bone.rotation_quaternion) for bone in rig.pose.bones] == before


def test_bad_numbers_leave_nothing_behind(scene, write):
    positions, rotations = make_poses()
    rig = keyed_rig()
    count = len(bpy.data.actions)
    broken = positions.copy()
    broken[3, 2, 1] = np.nan
    for arguments, words in (
            ((FRAMES, LINKS, broken, rotations), "arm is not a number"),
            ((FRAMES[::-1], LINKS, positions, rotations), "rising"),
            ((FRAMES, LINKS, positions[:3], rotations), "do not fit"),
            ((FRAMES[:0], LINKS, positions[:0], rotations[:0]), "no frames"),
            ((FRAMES, ["hips", "gone", *LINKS[2:]], positions, rotations), "no bone gone")):
        with pytest.raises(Exception, match=words):
            write.write_result(scene, rig, *arguments)
    assert len(bpy.data.actions) == count


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", [None, place_parented, place_parent_animated, place_constrained])
def test_objects(scene, write, mode, place):
    """A free prop: the same for the channels of an object, delta transforms included."""
    positions, rotations = make_poses(names=["hips"])
    prop = bpy.data.objects.new("Prop", None)
    bpy.context.collection.objects.link(prop)
    prop.rotation_mode, prop.scale = mode, (0.5, 2.0, 1.0)
    prop.delta_location, prop.delta_rotation_euler = (1, 2, 3), (0.5, -0.3, 1.0)
    prop.delta_rotation_quaternion = Quaternion((1, 2, 0, 1)).normalized()
    if place:
        place(prop)
    bpy.context.view_layer.update()
    written = write.write_object_result(scene, prop, FRAMES, positions[:, 0], rotations[:, 0])
    assert written.missed == {}
    written.motion.assign(prop)
    for frame, position, rotation in zip(FRAMES, positions[:, 0], rotations[:, 0]):
        scene.frame_set(frame)
        seen = prop.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
        assert np.abs(np.array(seen.translation) - position).max() < 3e-6
        assert np.abs(np.array(seen.to_3x3().normalized()) - np.array(Quaternion(rotation).to_matrix())).max() < 2e-6
        assert prop.scale[:] == (0.5, 2.0, 1.0)


def test_at_most_a_quarter_of_the_time_of_bake(scene, write):
    """250 frames, 60 bones, in processor time of this thread: other work on the machine must not decide."""
    bones = {f"b{i}": (f"b{i - 1}" if i else None, (0, 0, i / 10), (0, 0, i / 10 + 0.1), i > 0) for i in range(60)}
    rig = make_rig(bones)
    frames = np.arange(1, 251)
    rng = np.random.default_rng(2)
    rotations = np.cumsum(rng.normal(size=(250, 60, 4)) * 0.02, axis=0) + (1, 0, 0, 0)
    positions = np.zeros((250, 60, 3))

    def ours():
        return write.write_result(scene, rig, frames, list(bones), positions, rotations)

    def bake():
        bpy.ops.nla.bake(frame_start=1, frame_end=250, only_selected=False, visual_keying=True, bake_types={"POSE"})

    ours().motion.assign(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    times = {ours: [], bake: []}
    for _ in range(5):
        for run in times:
            start = time.thread_time()
            run()
            times[run].append(time.thread_time() - start)
    print(f"write {min(times[ours]):.4f} s, bake {min(times[bake]):.4f} s")
    assert min(times[ours]) < 0.25 * min(times[bake])
