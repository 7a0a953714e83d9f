# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person meets in the first minutes: compiling, a skin that is selected along, a keyed bar, long things."""

from importlib import import_module

import bpy
import pytest
from figures import GYMNAST, grab, make_bar, make_box, make_figure, select
from mathutils import Vector


@pytest.fixture
def part(trapeze):
    """Modules of the extension by name."""
    return lambda name: import_module(f"{trapeze.__name__}.{name}")


def test_getting_ready_happens_once(part):
    """It may take a minute the first time; from then on nobody waits."""
    prepare = part("operators.prepare").prepare
    for _ in prepare():
        pass
    assert list(prepare()) == []


def test_cancelling_while_getting_ready_is_harmless(part):
    """Esc closes the generator; the work goes on behind and the next one waits for it."""
    module = part("operators.prepare")
    module._thread = None
    work = module.prepare()
    next(work, None)
    work.close()
    for _ in module.prepare():
        pass
    assert not module._thread.is_alive()


def test_the_rehearsal_touches_nothing_of_blender(part):
    """It runs in a thread, where Blender's data must not be used."""
    assert "bpy" not in vars(part("operators.prepare"))


def test_hands_do_not_grab_their_own_skin(scene):
    """Selecting everything selects the mesh too; the hand then holds its place in the world, or the bar."""
    rig = make_figure()
    skin = make_box((0, 0, 1), name="Skin")
    skin.trapeze.role = "NONE"
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    (left,) = grab(scene, rig, ["hand.L"], skin)
    assert left.trapeze.grip.use_world
    bar = make_bar()
    (right,) = grab(scene, rig, ["hand.R"], skin, bar)
    assert right.trapeze.grip.second_object == bar


def test_a_hand_with_its_fingers_takes_hold_once(scene):
    """Two hard grips at one hand would be one too many; fingers move with the hand that they are merged into."""
    fingers = {f"finger{number}.L": ("hand.L", (0.2, 0.01, 2.08), (0.2, 0.01, 2.1)) for number in (1, 2)}
    rig, bar = make_figure({**GYMNAST, **fingers}), make_bar()
    for name in fingers:
        rig.pose.bones[name].trapeze_part = "MERGED"
    grips = grab(scene, rig, [*fingers, "hand.L", "hand.R"], bar)
    assert sorted(grip.trapeze.grip.first_bone for grip in grips) == ["hand.L", "hand.R"]


def test_a_keyed_bar_is_told_from_a_standing_one(part):
    """Keys move it in Blender, but not in the simulation until it is an animated prop: Grab says so."""
    is_keyed_but_static = part("operators.grips").is_keyed_but_static
    bar = make_bar()
    assert not is_keyed_but_static(bar) and not is_keyed_but_static(None)
    bar.keyframe_insert("location", frame=1)
    assert is_keyed_but_static(bar)
    select(bar)
    bpy.ops.trapeze.set_prop(motion="ANIMATED")
    assert not is_keyed_but_static(bar)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_arrows_of_a_long_thing_are_of_a_hands_size(scene, scale):
    """A rod of two metres, in metres or centimetres, joined to the world: arrows of at most 15 cm."""
    scene.unit_settings.scale_length = scale
    rod = make_box((0, 0, 0), size=Vector((0.02, 0.02, 2.0)) / scale, name="Rod")
    select(rod)
    bpy.ops.trapeze.grab()
    (grip,) = [owner for owner in scene.objects if owner.trapeze.role == "GRIP"]
    assert grip.empty_display_size * scale == pytest.approx(0.15, rel=1e-5)


def test_a_demo_added_by_script_needs_no_viewport(scene):
    """Looking through the camera is for the viewport in which it was added; there is none in background."""
    assert bpy.ops.trapeze.add_demo(demo="HIGH_BAR") == {"FINISHED"}
    assert scene.camera is not None
