# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: the same result as the button, sentences on stderr, exit codes that mean something."""

from importlib import import_module

import bpy
import numpy as np
import pytest
from figures import grab, link_names, make_bar, make_box, make_figure, release, shown


@pytest.fixture
def command(trapeze):
    """What `blender --command trapeze ...` calls."""
    return lambda *arguments: import_module(f"{trapeze.__name__}.operators.headless").main(list(arguments))


@pytest.fixture
def saved(scene, tmp_path):
    """A gymnast on a bar, saved."""
    rig, bar = make_figure(), make_bar()
    grab(scene, rig, ["hand.L", "hand.R"], bar)
    release(scene, rig, ["hand.R"], 9)
    make_box((1, 0, 1))
    scene.frame_end = 20
    path = str(tmp_path / "act.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def test_simulate_does_what_the_button_does(saved, command, tmp_path):
    bpy.ops.trapeze.simulate()
    rig = bpy.data.objects["Gymnast"]
    expected = shown(bpy.context.scene, rig, range(1, 21), link_names(rig))
    bpy.ops.wm.open_mainfile(filepath=saved)
    other = str(tmp_path / "result.blend")
    assert command("simulate", "--output", other) == 0
    bpy.ops.wm.open_mainfile(filepath=other)
    scene, rig = bpy.context.scene, bpy.data.objects["Gymnast"]
    assert rig.trapeze.figure.showing == "RESULT"
    assert np.array_equal(shown(scene, rig, range(1, 21), link_names(rig)), expected)
    bpy.ops.wm.open_mainfile(filepath=saved)
    assert bpy.data.objects["Gymnast"].trapeze.figure.result is None  # the file itself was not written


def test_simulate_then_apply_in_the_file_itself(saved, command):
    assert command("simulate", "--start", "3", "--end", "12", "--substeps", "4", "--integrator", "rkmk4") == 0
    bpy.ops.wm.open_mainfile(filepath=saved)
    rig = bpy.data.objects["Gymnast"]
    assert tuple(rig.trapeze.figure.result.curve_frame_range)[1] == 12
    assert command("apply", "--angle", "0.5", "--distance", "2") == 0
    bpy.ops.wm.open_mainfile(filepath=saved)
    rig = bpy.data.objects["Gymnast"]
    assert rig.trapeze.figure.result is None and rig.animation_data.action is not None


def test_info(saved, command, capfd):
    assert command("info") == 0
    text = capfd.readouterr().out
    for words in (
            "frames 1 to 20, 24 fps", "Figure Gymnast: 15 links,", "hand.L: ball on forearm.L",
            "Prop Box: dynamic, 4.2 kg", "hand.L holds Bar, hard cylinder, from 1",
            "hand.R holds Bar, hard cylinder, 1 to 9"):
        assert words in text, words


@pytest.mark.parametrize("arguments", [
    (), ("dance",), ("simulate", "--substeps", "0"), ("simulate", "--integrator", "magic"),
    ("info", "--scene", "None")])
def test_wrong_command(saved, command, capfd, arguments):
    assert command(*arguments) == 2
    assert capfd.readouterr().err


def test_nothing_to_save_to(scene, command, capfd):
    make_box((0, 0, 1))
    assert command("simulate") == 2
    assert "--output" in capfd.readouterr().err


def test_what_cannot_be_simulated(saved, command, capfd):
    bpy.data.objects["Gymnast"].scale = (1, 2, 1)
    assert command("simulate") == 1
    assert "trapeze: Gymnast is scaled unevenly" in capfd.readouterr().err
    assert command("info") == 1
    assert command("apply") == 1
    assert "trapeze: There is no result yet; simulate first" in capfd.readouterr().err
    bpy.ops.wm.open_mainfile(filepath=saved)
    assert tuple(bpy.data.objects["Gymnast"].scale) == (1, 1, 1)  # nothing was saved


def test_another_scene(saved, command):
    other = bpy.data.scenes.new("Empty")
    bpy.context.window.scene = other
    assert command("info", "--scene", "Scene") == 0
    assert bpy.context.scene.name == "Scene"
    assert command("simulate", "--scene", "Empty") == 1
