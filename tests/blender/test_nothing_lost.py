# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulating, cancelling, failing, undoing and saving never touch the source or anything that is not involved."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import dump, grab, link_names, make_bar, make_box, make_figure, release, select, shown
from mathutils import Quaternion


@pytest.fixture
def simulate_scene(trapeze):
    return import_module(f"{trapeze.__name__}.operators.simulate").simulate_scene


@pytest.fixture
def act(scene):
    """A keyed gymnast on a bar, a dynamic box with keys of its own, and a bystander that moves."""
    rig, bar = make_figure(), make_bar()
    rng = np.random.default_rng(7)
    for bone in rig.pose.bones:
        for frame in (1, 15, 40):
            bone.rotation_quaternion = Quaternion(rng.normal(size=3), 0.3)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.name = "Dance"
    grab(scene, rig, ["hand.L", "hand.R"], bar)
    release(scene, rig, ["hand.L", "hand.R"], 20)
    box = make_box((1, 0, 2))
    box.keyframe_insert("location", frame=1)
    bystander = make_box((3, 0, 0), name="Bystander", motion="NONE")
    bystander.keyframe_insert("location", frame=1)
    bystander.location.z = 5.0
    bystander.keyframe_insert("location", frame=40)
    scene.frame_end = 30
    scene.frame_set(5)
    select(rig)
    return rig, box, bystander


def everything(scene):
    """All numbers of all actions but results, and what every object is and plays."""
    state = {action.name: dump(action) for action in bpy.data.actions}
    for owner in scene.objects:
        animation = owner.animation_data
        state["object", owner.name] = (
            [tuple(row) for row in owner.matrix_basis], owner.trapeze.role, owner.trapeze.figure.showing,
            animation.action.name if animation and animation.action else None,
            [(c.type, c.mute) for c in owner.constraints], owner.rotation_mode, owner.parent and owner.parent.name)
        if owner.pose:
            for bone in owner.pose.bones:
                state["bone", owner.name, bone.name] = [tuple(row) for row in bone.matrix_basis]
    state["frame"] = scene.frame_current, scene.frame_subframe
    return state


def sources(scene):
    return {name: value for name, value in everything(scene).items() if isinstance(name, str) and "Trapeze" not in name}


def test_simulate_leaves_the_source_byte_for_byte(scene, act):
    rig, box, bystander = act
    before = sources(scene)
    others = {name: value for name, value in everything(scene).items() if "Bystander" in name}
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    after = everything(scene)
    assert {name: after[name] for name in before} == before
    assert {name: after[name] for name in others} == others
    assert rig.trapeze.figure.result.name != "Dance"
    assert rig.animation_data.action == rig.trapeze.figure.result
    assert box.trapeze.prop.result and bystander.trapeze.prop.result is None
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert rig.animation_data.action.name == "Dance"


@pytest.mark.parametrize("steps", [0, 1, 3, None])
def test_cancel_at_any_moment(scene, act, simulate_scene, steps):
    """Closing the generator is what Esc does; from the source and from a result that is showing."""
    for _ in range(2):
        before = everything(scene)
        work = simulate_scene(bpy.context)
        for count, progress in enumerate(work):
            if count == steps or progress >= 1.0:
                break
        work.close()
        assert everything(scene) == before
        bpy.ops.trapeze.simulate()


def test_a_second_run_reads_the_source_again(scene, act):
    rig, *_ = act
    names = link_names(rig)
    bpy.ops.trapeze.simulate()
    first = shown(scene, rig, range(1, 31), names)
    count = len(bpy.data.actions)
    bpy.ops.trapeze.simulate()
    assert np.abs(shown(scene, rig, range(1, 31), names) - first).max() == 0.0
    assert len(bpy.data.actions) == count  # the old result is replaced


def test_a_failed_run_writes_nothing(scene, act):
    """A hand that is fixed to the world and to a prop that moves away."""
    rig, *_ = act
    mover = make_box((0.3, 0, 2.0), name="Mover", motion="ANIMATED")
    for frame, where in ((10, 0.3), (30, 3.0)):
        mover.location.x = where
        mover.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    for target, frame in ((None, 1), (mover, 15)):
        grip = bpy.data.objects.new("Tear", None)
        scene.collection.objects.link(grip)
        grip.trapeze.role = "GRIP"
        settings = grip.trapeze.grip
        settings.first_object, settings.first_bone, settings.joint = rig, "hand.L", "FIXED"
        settings.second_object, settings.use_world = target, target is None
        for active in (False, True):
            settings.active = active
            grip.keyframe_insert("trapeze.grip.active", frame=frame - 1 + active)
    select(rig)
    before = everything(scene)
    with pytest.raises(RuntimeError, match=r"Tear.*cannot hold at frame 15.*together with.*Tear"):
        bpy.ops.trapeze.simulate()
    assert everything(scene) == before
    scene.trapeze.keep_failed = True
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    assert everything(scene)["Dance"] == before["Dance"]
    assert rig.trapeze.figure.showing == "RESULT"


def test_undo_and_redo(scene, act):
    bpy.context.preferences.edit.use_global_undo = True
    name = act[0].name
    bpy.ops.ed.undo_push(message="before")
    before = dump(bpy.data.actions["Dance"])
    bpy.ops.trapeze.simulate()
    bpy.ops.ed.undo_push(message="Simulate")
    result = bpy.data.objects[name].trapeze.figure.result.name
    bpy.ops.ed.undo()
    rig = bpy.data.objects[name]
    assert rig.trapeze.figure.showing == "SOURCE" and rig.animation_data.action.name == "Dance"
    assert result not in bpy.data.actions
    assert dump(bpy.data.actions["Dance"]) == before
    bpy.ops.ed.redo()
    rig = bpy.data.objects[name]
    assert rig.trapeze.figure.showing == "RESULT" and rig.animation_data.action.name == result
    assert dump(bpy.data.actions["Dance"]) == before


def test_save_and_reopen(scene, act, tmp_path):
    rig, *_ = act
    names = link_names(rig)
    bpy.ops.trapeze.simulate()
    before, source = shown(scene, rig, range(1, 31, 4), names), dump(bpy.data.actions["Dance"])
    path = str(tmp_path / "act.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene, rig = bpy.context.scene, bpy.data.objects["Gymnast"]
    assert np.array_equal(shown(scene, rig, range(1, 31, 4), names), before)
    grip = bpy.data.objects["hand.L Grip"].trapeze.grip
    assert grip.first_object == rig and grip.second_object.name == "Bar" and grip.joint == "CYLINDER"
    assert link_names(rig) == names
    bpy.ops.trapeze.show_source_result(show="SOURCE")
    assert rig.animation_data.action.name == "Dance" and dump(bpy.data.actions["Dance"]) == source
    bpy.ops.trapeze.simulate()
    assert np.abs(shown(scene, rig, range(1, 31, 4), names) - before).max() < 1e-6
