# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles, stops and friction of figures, measured on the poses that Blender shows."""

from importlib import import_module
from math import cos, exp, pi, radians, sqrt

import bpy
import numpy as np
import pytest
from figures import curves_of, grab, link_names, make_bar, make_figure, select, select_bones, shown
from scipy.spatial.transform import Rotation

ARM = {"base": (None, (0, 0, 0), (0, 0.3, 0)), "rod": ("base", (0, 0.3, 0), (0, 0.9, 0))}


@pytest.fixture
def rig_of(trapeze):
    """The modules of the extension's rig/ by name."""
    return lambda name: import_module(f"{trapeze.__name__}.rig.{name}")


def make_arm(scene, joint="HINGE"):
    """A rod on a hinge about X, its base fixed to the world."""
    rig = make_figure(ARM, "Arm")
    (grip,) = grab(scene, rig, ["base"])
    grip.trapeze.grip.joint = "FIXED"
    rod = rig.pose.bones["rod"]
    rod.trapeze_joint, rod.trapeze_axis, rod.trapeze_use_limits = joint, (1, 0, 0), False
    rod.rotation_mode = "XYZ"
    return rig, rod


def key_angles(bone, angles, interpolation="LINEAR", path="rotation_euler", index=0):
    for frame, angle in angles.items():
        getattr(bone, path)[index] = angle
        bone.keyframe_insert(path, index=index, frame=frame)
    for curve in curves_of(bone.id_data.animation_data.action):
        if curve.data_path == bone.path_from_id(path):
            for point in curve.keyframe_points:
                point.interpolation = interpolation


def key_setting(owner, name, values):
    for frame, value in values.items():
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)


def relative(scene, rig, frames, bone):
    """Rotation of a bone in its parent from frame to frame, as Blender shows it."""
    poses = shown(scene, rig, frames, [rig.pose.bones[bone].parent.name, bone])[..., :3, :3]
    return Rotation.from_matrix(poses[:, 0]).inv() * Rotation.from_matrix(poses[:, 1])


def from_rest(scene, rig, frames, bone):
    """The same, from the rest pose."""
    here = rig.data.bones[bone]
    rest = np.array((here.parent.matrix_local.inverted() @ here.matrix_local).to_3x3(), dtype=float)
    return Rotation.from_matrix(rest).inv() * relative(scene, rig, frames, bone)


def simulate():
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}


def test_driven_joint_has_its_frequency_and_damping(scene):
    """A step of the goal, which spring and damper follow: e'' + 2 z w e' + w^2 e = 0 from e = -1, e' = 2 z w."""
    rig, rod = make_arm(scene)
    scene.use_gravity, scene.frame_end = False, 60
    key_angles(rod, {1: 0.0, 10: 0.0, 11: 0.2}, "CONSTANT")
    rod.trapeze_muscle, rod.trapeze_strength, rod.trapeze_damping_ratio = "DRIVEN", 0.8, 0.2
    simulate()
    frames = np.arange(13, 61)
    angle = from_rest(scene, rig, frames, "rod").as_rotvec()[:, 0]
    rate, t = 2 * pi * 0.8, (frames - 10.5) / 24  # a step between two frames
    damped = sqrt(1.0 - 0.2**2)
    error = np.exp(-0.2 * rate * t) * (-np.cos(damped * rate * t) + 0.2 / damped * np.sin(damped * rate * t))
    assert np.abs(angle / 0.2 - 1.0 - error).max() < 0.01


def test_driven_rod_sags_by_its_weight(scene, rig_of):
    """Held level against gravity, a rod hangs lower by weight over stiffness: m g l cos(x) = I (2 pi f)^2 x."""
    rig, rod = make_arm(scene)
    scene.frame_end = 48
    rod.trapeze_muscle, rod.trapeze_strength = "DRIVEN", 3.0
    key_angles(rod, {1: 0.0})
    simulate()
    link = rig_of("links").read_links(rig, bpy.context.evaluated_depsgraph_get())[1]
    inertia = link.tensor[0, 0] + link.mass * link.com @ link.com
    load = link.mass * 9.81 * link.com[1] / (inertia * (2 * pi * 3.0) ** 2)
    sag = load
    for _ in range(50):
        sag = load * cos(sag)
    angle = from_rest(scene, rig, [48], "rod").as_rotvec()[0, 0]
    assert angle == pytest.approx(-sag, rel=1e-3)


def test_torque_limit_lets_the_rod_fall(scene):
    rig, rod = make_arm(scene)
    scene.frame_end = 24
    rod.trapeze_muscle, rod.trapeze_strength, rod.trapeze_torque_limit = "DRIVEN", 10.0, 0.01
    simulate()
    assert from_rest(scene, rig, [24], "rod").magnitude()[0] > 0.5


def hang(scene, last=72):
    """A gymnast on a bar, thighs lifted."""
    rig, bar = make_figure(), make_bar()
    for side in "LR":
        thigh = rig.pose.bones[f"thigh.{side}"]
        thigh.rotation_mode = "XYZ"
        thigh.rotation_euler.x = 0.8
    grab(scene, rig, ["hand.L", "hand.R"], bar)
    scene.frame_end = last
    return rig


def drift(scene, rig, last):
    """How far any joint of the trunk and the legs is from where it was (rad)."""
    return max(
        (relative(scene, rig, [1], name).inv() * relative(scene, rig, [last], name)).magnitude()[0]
        for name in ("chest", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R"))


@pytest.mark.parametrize("preset, most", [("GYMNAST", radians(6)), ("STIFF", radians(0.5))])
def test_driven_figure_holds_its_pose(scene, preset, most):
    rig = hang(scene)
    select(rig)
    assert bpy.ops.trapeze.muscle_preset(preset=preset) == {"FINISHED"}
    simulate()
    assert drift(scene, rig, 72) < most


def test_limp_figure_does_not(scene):
    rig = hang(scene, 24)
    simulate()
    assert drift(scene, rig, 24) > radians(20)


def test_keyed_joints_follow_their_keys(scene):
    """1e-6 rad as shown, a ball and a hinge, while the rest of the body is limp."""
    rig = hang(scene, 48)
    for name, axis in (("thigh.L", 2), ("thigh.R", 0)):
        key_angles(rig.pose.bones[name], {1: 0.1, 20: 0.9, 48: 0.2}, "BEZIER", index=axis)
        rig.pose.bones[name].trapeze_muscle = "KEYED"
    shin = rig.pose.bones["shin.L"]
    shin.rotation_mode = "AXIS_ANGLE"
    shin.rotation_axis_angle = (0.0, *shin.trapeze_axis)
    shin.keyframe_insert("rotation_axis_angle", frame=1)
    key_angles(shin, {1: 0.0, 30: 1.5}, "BEZIER", "rotation_axis_angle", 0)
    shin.trapeze_muscle = "KEYED"
    frames = range(1, 49)
    names = ("thigh.L", "thigh.R", "shin.L")
    source = {name: relative(scene, rig, frames, name) for name in names}
    hips = shown(scene, rig, [1, 48], ["hips"])
    simulate()
    for name in names:
        assert (source[name].inv() * relative(scene, rig, frames, name)).magnitude().max() < 1e-6
    assert np.abs(shown(scene, rig, [1, 48], ["hips"]) - hips).max() > 0.01  # and the body swings


def test_keyed_root_hands_over_to_a_parabola(scene):
    """One body keyed along a line until frame 20 flies on from there with the velocity it has."""
    rig = make_figure({"body": (None, (0, 0, 1), (0, 0.4, 1))}, "Body")
    body, scene.frame_end = rig.pose.bones["body"], 40
    key_angles(body, {1: 0.0, 41: 2.0}, "LINEAR", "location", 1)
    key_setting(rig.trapeze.figure, "root", {1: "KEYED", 20: "FREE"})
    simulate()
    frames = np.arange(1, 41)
    place = shown(scene, rig, frames, ["body"])[:, 0, :3, 3]
    late = np.maximum(frames - 20, 0) / 24
    assert np.abs(place[:, 1] - 0.05 * (frames - 1)).max() < 2e-6
    assert np.abs(place[:, 2] - 1.0 + 0.5 * 9.81 * late**2).max() < 2e-5


def test_keyed_to_limp_is_continuous(scene, rig_of):
    """Position and velocity of every link go on through frame 20, where a turning rod is let go of."""
    rig, rod = make_arm(scene)
    scene.frame_end = 40
    key_angles(rod, {1: 0.0, 41: 4.0})
    key_setting(rod, "trapeze_muscle", {1: "KEYED", 20: "LIMP"})
    simulate()
    run = rig_of("stored").recall(scene).run
    instant = 19 * scene.trapeze.substeps
    before, after = run.state(instant - 1), run.state(instant + 1)
    rate = [state.twist(state.chain.links[1])[0] for state in (before, after)]
    assert rate[0] == pytest.approx(0.1 * 24, rel=1e-4)
    assert abs(rate[1] - rate[0]) < 40.0 * 2 / 240  # gravity alone changes it: 3 g / (2 l) = 25 rad/s^2
    angle = from_rest(scene, rig, [40], "rod").magnitude()[0]
    assert abs(angle - 3.9) > 0.1  # it did let go


def test_driven_to_limp_and_back_by_strength(scene, rig_of):
    """Strength keyed to zero and back: the rod falls and returns, and nothing jumps."""
    rig, rod = make_arm(scene)
    scene.frame_end = 80
    rod.trapeze_muscle = "DRIVEN"
    key_setting(rod, "trapeze_strength", {1: 6.0, 10: 6.0, 14: 0.0, 30: 0.0, 50: 6.0})
    simulate()
    angle = from_rest(scene, rig, np.arange(1, 81), "rod").as_rotvec()[:, 0]
    assert abs(angle[:9]).max() < 0.1 and abs(angle[10:40]).max() > 1.0 and abs(angle[79]) < 0.1
    run = rig_of("stored").recall(scene).run
    turns = Rotation.from_quat(run.rotations[:, 1][:, [1, 2, 3, 0]])
    speed = np.diff(run.positions[:, 1] + turns.apply((0, 0.6, 0)), axis=0)
    assert np.abs(np.diff(speed, axis=0)).max() * 240**2 < 500.0  # m/s^2 at the tip: no step in the velocity


@pytest.mark.parametrize("hand, kick", [("hand.L", 0.0), ("hand.R", 1.2)])
def test_joints_stay_within_their_limits(hand, kick):
    """A rag doll that swings on one hand leaves no range by half a degree; without limits it does, by far."""
    beyond = {}
    for limits in (False, True):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = bpy.context.scene
        rig, bar = make_figure(), make_bar()
        rig.trapeze.figure.use_limits = limits
        grab(scene, rig, [hand], bar)
        thigh = rig.pose.bones["thigh.L"]
        thigh.rotation_mode = "XYZ"
        key_angles(thigh, {-5: -kick, 7: kick})  # starts with a swing of the leg
        scene.frame_end = 72
        simulate()
        limited = [bone for bone in rig.pose.bones if bone.parent and bone.trapeze_use_limits]
        beyond[limits] = {bone.name: beyond_limits(scene, rig, bone) for bone in limited}
    assert len(limited) > 8 and max(beyond[False].values()) > radians(20)
    assert max(beyond[True].values()) < radians(0.5), {name: np.degrees(most) for name, most in beyond[True].items()}


def beyond_limits(scene, rig, bone, last=72):
    """How far a joint leaves its range from the first frame to the last (rad); swings one by one."""
    turns = from_rest(scene, rig, range(1, last + 1), bone.name)
    axis = np.array(bone.trapeze_axis) if bone.trapeze_joint == "HINGE" else np.array((0.0, 1.0, 0.0))
    quaternion = turns.as_quat()
    twist = (2 * np.arctan2(quaternion[:, :3] @ axis, quaternion[:, 3]) + pi) % (2 * pi) - pi
    swing = (turns * Rotation.from_rotvec(np.outer(-twist, axis))).as_rotvec()
    angles = {"hinge": twist} if bone.trapeze_joint == "HINGE" else {
        "twist": twist, "swing_x": swing[:, 0], "swing_z": swing[:, 2]}
    return max(
        max(getattr(bone, f"trapeze_{name}_lower") - angle.min(), angle.max() - getattr(bone, f"trapeze_{name}_upper"))
        for name, angle in angles.items())


def test_going_on_from_a_result_goes_on_the_same(scene):
    """Muscles aim at the source also where a simulation goes on from its result."""
    rig = hang(scene, 40)
    thigh = rig.pose.bones["thigh.L"]
    key_angles(thigh, {1: 0.8, 12: 0.0, 24: 1.2, 36: 0.2}, "BEZIER")
    select(rig)
    bpy.ops.trapeze.muscle_preset(preset="ATHLETIC")
    rig.pose.bones["shin.R"].trapeze_muscle = "KEYED"
    simulate()
    names = link_names(rig)
    before = shown(scene, rig, range(1, 41), names)
    scene.trapeze.use_stored, scene.trapeze.use_scene_range = True, False
    scene.trapeze.frame_start, scene.trapeze.frame_end = 15, 40
    simulate()
    assert np.abs(shown(scene, rig, range(1, 41), names) - before).max() < 1e-5


def test_viscous_friction_slows_as_computed(scene, rig_of):
    """A spinning rod without gravity: its angular velocity decays with c / I."""
    rig, rod = make_arm(scene)
    scene.use_gravity, scene.frame_end = False, 25
    key_angles(rod, {-5: -0.6, 5: 0.4})
    link = rig_of("links").read_links(rig, bpy.context.evaluated_depsgraph_get())[1]
    inertia = link.tensor[0, 0] + link.mass * link.com @ link.com
    rod.trapeze_viscous_friction = 2.0 * inertia  # a time constant of half a second
    simulate()
    angle = from_rest(scene, rig, [1, 25], "rod").as_rotvec()[:, 0]
    assert angle[1] - angle[0] == pytest.approx(2.4 / 2.0 * (1.0 - exp(-2.0)), rel=1e-3)


def test_presets_change_selected_bones_and_both_sides(scene):
    rig = make_figure()
    select_bones(rig, ["thigh.L"])
    assert bpy.ops.trapeze.muscle_preset(preset="ATHLETIC") == {"FINISHED"}
    muscles = {bone.name for bone in rig.pose.bones if bone.trapeze_muscle == "DRIVEN"}
    assert muscles == {"thigh.L", "thigh.R"}
    assert bpy.ops.trapeze.muscle_preset(preset="RAG_DOLL", symmetric=False) == {"FINISHED"}
    assert [bone.name for bone in rig.pose.bones if bone.trapeze_muscle == "DRIVEN"] == ["thigh.R"]
    assert bpy.ops.trapeze.muscle_preset(preset="STIFF", whole=True) == {"FINISHED"}
    assert all(rig.pose.bones[name].trapeze_muscle == "DRIVEN" for name in link_names(rig) if name != "hips")


def test_human_friction_at_the_knee(scene):
    """Paper 004: 1.56 N m s/rad at the knee of an adult, nothing else."""
    rig = make_figure()
    rig.trapeze.figure.mass = 70.0
    assert bpy.ops.trapeze.human_friction() == {"FINISHED"}
    knee = rig.pose.bones["shin.L"]
    assert knee.trapeze_viscous_friction == pytest.approx(1.56, rel=0.15)
    assert rig.pose.bones["thigh.L"].trapeze_viscous_friction > 2.0 * knee.trapeze_viscous_friction
    assert knee.trapeze_coulomb_friction == knee.trapeze_virtual_inertia == knee.trapeze_gravity_compensation == 0.0


def test_preset_can_be_undone(scene):
    make_figure()
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.trapeze.muscle_preset("EXEC_DEFAULT", True, preset="GYMNAST") == {"FINISHED"}
    assert bpy.data.objects["Gymnast"].pose.bones["chest"].trapeze_muscle == "DRIVEN"
    bpy.ops.ed.undo()
    assert bpy.data.objects["Gymnast"].pose.bones["chest"].trapeze_muscle == "LIMP"


def test_limp_figures_are_not_looked_at_frame_by_frame(scene, rig_of):
    """Without muscles nothing acts, and reading takes a handful of frames."""
    make_figure()
    frames = []
    bpy.app.handlers.frame_change_post.append(lambda *_: frames.append(scene.frame_current))
    read = rig_of("read").read_scene(bpy.context)
    bpy.app.handlers.frame_change_post.pop()
    assert len(frames) < 12
    assert all(link.acting.is_idle and link.acting.muscle is None for link in read.chain.links)
    assert not read.events


def pull_apart(scene):
    """A gymnast whose hands are fixed to the bar, and whose keyed arms would pull them apart and back again."""
    rig, bar = make_figure(), make_bar()
    for grip in grab(scene, rig, ["hand.L", "hand.R"], bar):
        grip.trapeze.grip.joint = "FIXED"
    for name in link_names(rig):
        if name != "hips":
            rig.pose.bones[name].trapeze_muscle = "KEYED"
    arm, shin = rig.pose.bones["upper_arm.L"], rig.pose.bones["shin.L"]
    arm.rotation_mode = shin.rotation_mode = "XYZ"
    key_angles(arm, {1: 0.0, 20: 0.5, 30: 0.5}, index=2)
    key_angles(shin, {1: 0.0, 30: 0.6})
    scene.frame_end = 30
    return rig


def test_keyed_arms_give_way_to_grips(scene, rig_of):
    """The hands stay where they are, the arms share what is to be given, the legs keep to their keys; the panel and the
    message say which bones gave way and by how much.
    """
    rig = pull_apart(scene)
    frames, hands = range(1, 31), ["hand.L", "hand.R"]
    keyed = shown(scene, rig, frames, link_names(rig))
    shin = relative(scene, rig, frames, "shin.L")
    simulate()
    held = shown(scene, rig, frames, hands)
    assert np.abs(held - held[:1]).max() < 2e-6
    assert (shin.inv() * relative(scene, rig, frames, "shin.L")).magnitude().max() < 1e-5
    told = rig_of("giving").stored_giving(scene)
    named = {one.split(" by ")[0]: float(one.split(" by ")[1].split("°")[0]) for one in told}
    assert {"upper_arm.L", "upper_arm.R"} <= set(named) and "shin.L" not in named
    # the key turns one arm by 29 degrees; shared among all of both arms none has to give as much
    assert 3.0 < max(named.values()) < 29.0
    assert np.abs(shown(scene, rig, [30], link_names(rig)) - keyed[-1:]).max() > 0.01


def test_explicit_steps_say_which_keyed_bones_stand_against_grips(scene):
    pull_apart(scene)
    scene.trapeze.integrator = "RKMK4"
    with pytest.raises(RuntimeError, match=r"upper_arm.*Driven"):
        bpy.ops.trapeze.simulate()


@pytest.mark.parametrize("before", ["LIMP", "DRIVEN"])
def test_a_joint_that_jumps_to_its_keys_is_named(scene, rig_of, before):
    """A rod that fell and then becomes keyed level: it is named, with angle and frame. A driven one is there."""
    rig, rod = make_arm(scene)
    scene.frame_end, rod.trapeze_strength = 30, 20.0
    key_setting(rod, "trapeze_muscle", {1: before, 10: "KEYED"})
    simulate()
    run = rig_of("stored").recall(scene).run
    told = rig_of("explain").jumps(rig_of("read").read_scene(bpy.context), run)
    if before == "DRIVEN":
        assert told == []
        return
    (sentence,) = told
    fallen = 2.0 * np.degrees(np.arccos(abs(run.rotations[9 * scene.trapeze.substeps - 1, 1] @ run.rotations[0, 1])))
    angle = float(sentence.split(" by ")[1].split("°")[0])
    assert sentence.startswith("rod jumps by") and "frame 10," in sentence and abs(angle - fallen) < 1.0


def test_the_panel_counts_muscles_and_says_what_does_nothing(scene, rig_of):
    rig, presets = make_figure(), rig_of("presets")
    joints = len(link_names(rig)) - 1
    assert presets.muscle_count(rig) == f"{joints} limp" and presets.muscle_hints(rig) == []
    bpy.ops.trapeze.muscle_preset(preset="ATHLETIC", whole=True)
    rig.pose.bones["shin.L"].trapeze_muscle = "KEYED"
    assert presets.muscle_count(rig) == f"{joints - 1} driven, 1 keyed"
    assert len(presets.muscle_hints(rig)) == 1  # there is nothing to follow
    key_angles(rig.pose.bones["thigh.L"], {1: 0.0, 20: 0.5}, path="rotation_quaternion", index=1)
    assert presets.muscle_hints(rig) == []
    rig.trapeze.figure.strength = 0.0
    assert len(presets.muscle_hints(rig)) == 1
