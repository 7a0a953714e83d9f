# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy books of a simulation: kept with the scene, told in plain words, a warning where they do not add up."""

from importlib import import_module

import bpy
import pytest
from figures import grab, make_bar, make_figure


@pytest.fixture
def books(trapeze):
    return import_module(f"{trapeze.__name__}.rig.books")


@pytest.fixture
def last_run(trapeze):
    recall = import_module(f"{trapeze.__name__}.rig.stored").recall
    return lambda scene: recall(scene).run


@pytest.fixture
def hanging(scene):
    """A relaxed gymnast who has let himself fall into the bar."""
    rig, bar = make_figure(), make_bar()
    grab(scene, rig, ["hand.L", "hand.R"], bar)
    for bone in rig.pose.bones:
        bone.trapeze_muscle, bone.trapeze_strength = "DRIVEN", 1.0
    scene.frame_end = 12
    return rig


def test_the_books_of_a_simulation_are_kept(scene, hanging, books, last_run, tmp_path):
    assert books.stored_books(scene) is None
    bpy.ops.trapeze.simulate()
    kept, run = books.stored_books(scene), last_run(scene)
    assert kept.peak == pytest.approx(run.kinetic.max()) and kept.work["muscles"] == pytest.approx(run.work.muscles[-1])
    # work and what is unexplained make the change of energy
    assert abs(sum(kept.work.values()) - kept.change) <= kept.unexplained * (1.0 + 1e-9) + 1e-9
    names = [name for name, _ in books.rows(kept)]
    assert "Muscles" in names and names[-1] == "Change of energy" and "Pushes" not in names
    path = str(tmp_path / "books.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert books.stored_books(bpy.context.scene) == kept


def test_the_command_line_tells_them(scene, hanging, trapeze, tmp_path, capfd):
    command = import_module(f"{trapeze.__name__}.operators.headless").main
    assert command(["simulate", "--output", str(tmp_path / "told.blend")]) == 0
    text = capfd.readouterr().out
    assert "% unexplained" in text and "Change of energy:" in text and "Muscles:" in text


def test_a_bad_balance_is_a_warning(scene, hanging, books, last_run):
    """Euler's steps make energy out of nothing, which midpoint does not for a body that only begins to fall."""
    scene.frame_end = 4
    bpy.ops.trapeze.simulate()
    assert books.keep_books(scene, last_run(scene)) == [] and books.stored_books(scene).share < books.MUCH
    scene.trapeze.integrator, scene.trapeze.substeps = "EULER", 4
    for bone in hanging.pose.bones:
        bone.trapeze_muscle = "LIMP"
    bpy.ops.trapeze.simulate()
    told = books.keep_books(scene, last_run(scene))
    assert len(told) == 1 and told[0].endswith("use more substeps") and books.stored_books(scene).share > books.MUCH


@pytest.mark.parametrize("demo", ["HIGH_BAR", "GIANT", "SWING", "ARTISTS", "SHOVE"])
def test_the_books_of_every_demo_add_up(scene, books, demo):
    """With the settings that a demo comes with, less than a hundredth of the peak kinetic energy is unexplained."""
    bpy.ops.trapeze.add_demo(demo=demo)
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    kept = books.stored_books(scene)
    assert kept.peak > 100.0 and kept.share < 1e-2, books.books_text(kept)
