# SPDX-License-Identifier: GPL-3.0-or-later
"""Source and Result, Apply, undo: nothing of the source is ever lost."""

from importlib import import_module
from math import radians

import bpy
import numpy as np
import pytest

FRAMES = np.arange(1, 41)


@pytest.fixture
def rig_of(trapeze):
    """The modules of the extension's rig/ by name."""
    return lambda name: import_module(f"{trapeze.__name__}.rig.{name}")


def make_figure(keyed=True):
    data = bpy.data.armatures.new("Figure")
    figure = bpy.data.objects.new("Figure", data)
    bpy.context.collection.objects.link(figure)
    bpy.context.view_layer.objects.active = figure
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in (
            ("spine", None, (0, 0, 1), (0, 0, 1.5)), ("arm", "spine", (0, 0, 1.5), (0.6, 0, 1.5)),
            ("hand", "arm", (0.6, 0, 1.5), (0.8, 0.1, 1.5)), ("control", None, (0, 0, 0), (0, 1, 0))):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_connect = parent is not None
    bpy.ops.object.mode_set(mode="OBJECT")
    figure.trapeze.role = "FIGURE"
    if keyed:
        for bone in ("spine", "arm", "control"):
            for frame, value in ((1, (1, 0, 0, 0)), (20, (0.6, 0.8, 0, 0)), (40, (0, 1, 0, 0))):
                figure.pose.bones[bone].rotation_quaternion = value
                figure.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
        figure.animation_data.action.name = "Walk"
    return figure


def make_result(scene, figure, rig_of):
    """A smooth swing as the result, stored but not showing, as Simulate leaves it before it switches."""
    angle = 0.8 * np.sin(FRAMES / 8.0)
    half = np.stack([np.cos(angle / 2), np.zeros(40), np.sin(angle / 2), np.zeros(40)], -1)
    names, heads = ["spine", "arm"], [(0, 0, 1), (0, 0, 1.5)]
    positions = np.repeat(np.array(heads)[None], 40, 0)
    positions[:, :, 1] += np.sin(FRAMES / 10.0)[:, None]
    rotations = np.repeat(half[:, None], 2, 1)
    written = rig_of("write").write_result(scene, figure, FRAMES, names, positions, rotations)
    rig_of("switch").keep_result(figure, written)
    return written


def curves_of(action):
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags
            for curve in bag.fcurves]


def dump(action):
    """Every number of an action, to compare bit by bit."""
    result = {}
    for curve in curves_of(action):
        for name, size in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
            values = np.zeros(len(curve.keyframe_points) * size, dtype=np.float32)
            curve.keyframe_points.foreach_get(name, values)
            result[curve.data_path, curve.array_index, name] = values.tobytes()
    return result


def look(scene, figure, frames=FRAMES):
    """World matrices of all bones over the frames."""
    poses = []
    for frame in frames:
        scene.frame_set(int(frame))
        seen = figure.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses.append([np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones])
    return np.array(poses)


def action_of(figure):
    animation = figure.animation_data
    return (animation.action, getattr(animation, "action_slot", None)) if animation else (None, None)


def test_no_result_no_button(scene):
    make_figure()
    assert not bpy.ops.trapeze.show_source_result.poll()
    assert not bpy.ops.trapeze.apply.poll()


def test_switching_there_and_back_changes_nothing(scene, rig_of):
    figure = make_figure()
    source = action_of(figure)
    numbers, before = dump(source[0]), look(scene, figure)
    make_result(scene, figure, rig_of)
    scene.frame_set(7)
    for _ in range(3):
        assert bpy.ops.trapeze.show_source_result(show="RESULT") == {"FINISHED"}
        assert action_of(figure)[0] == figure.trapeze.figure.result
        assert figure.trapeze.figure.showing == "RESULT"
        assert not np.allclose(look(scene, figure)[:, 0], before[:, 0])
        assert bpy.ops.trapeze.show_source_result(show="SOURCE") == {"FINISHED"}
        assert action_of(figure) == source
        np.testing.assert_array_equal(look(scene, figure), before)
    assert dump(source[0]) == numbers


def test_toggle(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    for expected in ("RESULT", "SOURCE", "RESULT"):
        bpy.ops.trapeze.show_source_result()
        assert figure.trapeze.figure.showing == expected


def test_unkeyed_pose_comes_back(scene, rig_of):
    """A posed figure without keys or action: the result must not leave its own pose behind."""
    figure = make_figure(keyed=False)
    figure.pose.bones["arm"].rotation_quaternion = (0.6, 0, 0.8, 0)
    figure.pose.bones["spine"].location = (0.1, 0.2, 0.3)
    constraint = figure.pose.bones["arm"].constraints.new("LIMIT_ROTATION")
    before = look(scene, figure)
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    look(scene, figure)
    assert constraint.mute
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert action_of(figure)[0] is None
    assert not constraint.mute
    np.testing.assert_array_equal(look(scene, figure), before)


@pytest.mark.parametrize("solo", [False, True])
def test_nla(scene, rig_of, solo):
    """Motion in NLA tracks below a blended action; the result replaces it, the source blends as before."""
    figure = make_figure()
    animation = figure.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("strip", 1, animation.action)
    other = animation.nla_tracks.new()
    animation.action = None
    animation.action_blend_type, animation.action_influence = "ADD", 0.5
    track.is_solo = solo
    before = look(scene, figure)
    written = make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    shown = look(scene, figure)
    np.testing.assert_allclose(shown[:, 0, 1, 3], np.sin(FRAMES / 10.0), atol=1e-6)
    control = list(figure.pose.bones.keys()).index("control")
    np.testing.assert_array_equal(shown[:, control], before[:, control])
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert animation.action is None
    assert (animation.action_blend_type, animation.action_influence) == ("ADD", 0.5)
    assert (track.is_solo, track.mute, other.mute) == (solo, False, False)
    np.testing.assert_array_equal(look(scene, figure), before)
    assert written.motion.action == figure.trapeze.figure.result


def test_tweak_mode_is_refused_with_a_reason(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    animation = figure.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("strip", 1, animation.action)
    animation.action = None
    animation.use_tweak_mode = True
    if not animation.use_tweak_mode:
        pytest.skip("this Blender enters tweak mode only from its editor")
    for operator in (bpy.ops.trapeze.show_source_result, bpy.ops.trapeze.apply):
        with pytest.raises(RuntimeError, match="tweak mode"):
            operator()
    assert figure.trapeze.figure.showing == "SOURCE"


def test_action_assigned_by_hand_while_the_result_shows_is_kept(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    own = bpy.data.actions["Walk"].copy()
    figure.animation_data.action = own
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert action_of(figure)[0] == own


def test_source_deleted_while_the_result_shows(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    bpy.data.actions.remove(bpy.data.actions["Walk"])
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert action_of(figure)[0] is None


def test_simulating_again_replaces_the_result(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    make_result(scene, figure, rig_of)
    assert sorted(action.name for action in bpy.data.actions) == ["Walk", "Walk Trapeze"]
    assert figure.trapeze.figure.result.name == "Walk Trapeze"


def test_copied_figures_do_not_share_a_result(scene, rig_of):
    """A duplicate points to the same result; simulating one of them leaves the other's result alone."""
    figure = make_figure()
    first = make_result(scene, figure, rig_of).motion.action
    copy = figure.copy()
    bpy.context.collection.objects.link(copy)
    make_result(scene, copy, rig_of)
    assert figure.trapeze.figure.result == first
    assert copy.trapeze.figure.result != first


@pytest.mark.parametrize("reduction", [False, True])
def test_apply_delivers_what_played(scene, rig_of, reduction):
    figure = make_figure()
    source = action_of(figure)[0]
    numbers = dump(source)
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    played = look(scene, figure)
    scene.trapeze.use_reduction = reduction
    scene.trapeze.tolerance_angle, scene.trapeze.tolerance_distance = radians(0.1), 0.5
    assert bpy.ops.trapeze.apply() == {"FINISHED"}
    applied = look(scene, figure)
    action = action_of(figure)[0]
    assert action.name == "Walk Trapeze"
    keys = sum(len(curve.keyframe_points) for curve in curves_of(action) if "control" not in curve.data_path)
    if reduction:
        assert keys < 40 * 11 / 3
        assert np.abs(applied[..., :3, 3] - played[..., :3, 3]).max() < 0.0005
        turns = np.linalg.norm((applied - played)[..., :3, :3], axis=(-2, -1)) / np.sqrt(2)
        assert turns.max() < radians(0.1)
    else:
        np.testing.assert_array_equal(applied, played)
        assert keys == 40 * 11  # a location and two quaternions
    state = figure.trapeze.figure
    assert (state.showing, state.result, state.source) == ("SOURCE", None, None)
    assert dump(source) == numbers
    assert source.use_fake_user  # it has no other user now and would be lost on saving
    assert not bpy.ops.trapeze.apply.poll()


def test_apply_while_the_source_shows(scene, rig_of):
    figure = make_figure()
    result = make_result(scene, figure, rig_of).motion.action
    bpy.ops.trapeze.apply()
    assert action_of(figure)[0] == result


def test_channels_copied_from_the_source_are_not_thinned(scene, rig_of):
    figure = make_figure()
    make_result(scene, figure, rig_of)
    scene.trapeze.tolerance_angle = radians(170)
    bpy.ops.trapeze.apply()
    keys = {curve.data_path: len(curve.keyframe_points) for curve in curves_of(action_of(figure)[0])}
    assert keys['pose.bones["control"].rotation_quaternion'] == 3
    assert keys['pose.bones["arm"].rotation_quaternion'] == 2


def test_before_the_start_the_source_plays_after_apply_too(scene, rig_of):
    """The result starts at frame 21: the jump from constraint to keys must not be smoothed over."""
    figure = make_figure()
    constraint = figure.pose.bones["arm"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = figure, "control"
    before = look(scene, figure, FRAMES[:20])
    rotations = np.tile((1.0, 0.0, 0.0, 0.0), (20, 1, 1))
    written = rig_of("write").write_result(
        scene, figure, FRAMES[20:], ["arm"], np.tile((0.0, 0.0, 1.5), (20, 1, 1)), rotations)
    rig_of("switch").keep_result(figure, written)
    scene.trapeze.tolerance_angle, scene.trapeze.tolerance_distance = radians(0.05), 0.1
    bpy.ops.trapeze.apply()
    after = look(scene, figure, FRAMES[:20])
    assert np.abs(after - before).max() < radians(0.05)
    assert np.abs(look(scene, figure, FRAMES[20:])[:, 1, :3, :3] - np.eye(3)).max() < radians(0.1)


def test_props(scene, rig_of):
    prop = bpy.data.objects.new("Bar", None)
    bpy.context.collection.objects.link(prop)
    prop.trapeze.role, prop.location = "PROP", (3, 2, 1)
    positions = np.stack([np.sin(FRAMES / 9.0)] * 3, -1)
    rotations = np.tile((1.0, 0.0, 0.0, 0.0), (40, 1))
    written = rig_of("write").write_object_result(scene, prop, FRAMES, positions, rotations)
    rig_of("switch").keep_result(prop, written)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    scene.frame_set(10)
    assert prop.location[0] == pytest.approx(np.sin(10 / 9.0), abs=1e-6)
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert prop.location[:] == (3, 2, 1)
    bpy.ops.trapeze.apply()
    for frame in FRAMES:
        scene.frame_set(int(frame))
        assert prop.location[0] == pytest.approx(np.sin(frame / 9.0), abs=1e-3)
    assert len(curves_of(action_of(prop)[0])[0].keyframe_points) < 12


def state_of_file():
    figure = bpy.data.objects["Figure"]
    action = action_of(figure)[0]
    return {
        "actions": {action.name: dump(action) for action in bpy.data.actions}, "plays": action and action.name,
        "showing": figure.trapeze.figure.showing,
        "result": figure.trapeze.figure.result and figure.trapeze.figure.result.name,
        "pose": [tuple(bone.rotation_quaternion) for bone in figure.pose.bones]}


def test_undo_and_redo(scene, rig_of):
    """Every step back and forth again finds the file bit by bit as it was there."""
    figure = make_figure()
    source = dump(action_of(figure)[0])
    make_result(scene, figure, rig_of)
    scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Start")
    states = [state_of_file()]
    for operator in (bpy.ops.trapeze.show_source_result, bpy.ops.trapeze.apply):
        operator()
        bpy.context.scene.frame_set(7)
        bpy.ops.ed.undo_push(message="Step")
        states.append(state_of_file())
    for state in (states[1], states[0]):
        bpy.ops.ed.undo()
        assert state_of_file() == state
        assert dump(bpy.data.actions["Walk"]) == source
    for state in (states[1], states[2]):
        bpy.ops.ed.redo()
        assert state_of_file() == state
        assert dump(bpy.data.actions["Walk"]) == source


def test_save_and_reopen_while_the_result_shows(scene, rig_of, tmp_path):
    figure = make_figure(keyed=False)
    figure.pose.bones["arm"].rotation_quaternion = (0.6, 0, 0.8, 0)
    before = look(scene, figure)
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result(show="RESULT")
    shown = look(scene, figure)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    scene, figure = bpy.context.scene, bpy.data.objects["Figure"]
    np.testing.assert_array_equal(look(scene, figure), shown)
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    np.testing.assert_array_equal(look(scene, figure), before)


def test_others_are_untouched(scene, rig_of):
    figure = make_figure()
    other = bpy.data.objects.new("Other", None)
    bpy.context.collection.objects.link(other)
    other.keyframe_insert("location", frame=1)
    before = dump(action_of(other)[0])
    make_result(scene, figure, rig_of)
    bpy.ops.trapeze.show_source_result()
    bpy.ops.trapeze.apply()
    assert dump(action_of(other)[0]) == before
    assert other.trapeze.role == "NONE"
