# SPDX-License-Identifier: GPL-3.0-or-later
"""The high bar and the swing of paper 000 §VII-B: the paper's counts of degrees of freedom, and what holds besides."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import high_bar, swing
from examples.figure import BODIES, FIST
from examples.report import count_freedoms


@pytest.fixture(scope="module")
def bar():
    return high_bar.swing()


@pytest.fixture(scope="module")
def seat():
    return swing.play()


def along(run, figure, name, place):
    """(T, 3) path of a place of the reference pose on one of the figure's links, from the recorded poses."""
    index, point = figure.links[name].index, figure.inside(name, place)
    w, xyz = run.rotations[:, index, :1], run.rotations[:, index, 1:]
    return run.positions[:, index] + point + 2.0 * np.cross(xyz, np.cross(xyz, point) + w * point)


def centres(run, figure):
    """(T, 3) path of the figure's centre of mass."""
    masses = np.array([body.mass for body in BODIES.values()])
    paths = [along(run, figure, name, body.centre) for name, body in BODIES.items()]
    return np.einsum("b,btk->tk", masses, np.array(paths)) / masses.sum()


def test_high_bar_counts(bar):
    """24 in total, 23 after the right hand is off (paper 000); 22 without hands.

    Mobility: 22 less five for every hand, as the hands share a bar but not an arm.
    """
    counts = count_freedoms(bar[0], "", high_bar.WORDS)
    assert [count.joints for count in counts] == [24, 23, 22]
    assert [count.mobility for count in counts] == [22 - 2 * 5, 22 - 5, 22]
    assert [count.time for count in counts] == pytest.approx([0.0, high_bar.RIGHT_OFF, high_bar.LEFT_OFF])


def test_swing_counts(seat):
    """30 in total at first, 28 at the end (paper 000).

    Mobility: the tree's 25, less three for the left hand, five for each thigh, and for the plate five of its six: the
    whole swing still turns about the line through its two joints.
    """
    counts = count_freedoms(seat[0], "", swing.WORDS)
    assert [count.joints for count in counts] == [30, 30, 29, 28]
    assert [count.mobility for count in counts] == [25 - 3 - 10 - 5, 25 - 3 - 10, 25 - 3 - 5, 25 - 3]
    assert [count.what for count in counts[1:]] == ["plate off the left rod", "left thigh off", "right thigh off"]


def test_hands_stay_on_the_bar_and_let_go(bar):
    run, figure = bar
    for side, until, y in (("right", high_bar.RIGHT_OFF, -high_bar.GRIP), ("left", high_bar.LEFT_OFF, high_bar.GRIP)):
        fist = along(run, figure, f"{side} forearm", FIST[side]) - high_bar.BAR - (0.0, y, 0.0)
        distance = np.linalg.norm(fist, axis=1)
        assert distance[run.times <= until].max() < 1e-9
        assert distance[-1] > 0.1


def test_the_centre_of_mass_flies_a_parabola(bar):
    """After the last hand is off only gravity acts; rkmk4 misses the parabola by its own error, about 0.1 µm."""
    run, figure = bar
    flying = run.times > high_bar.LEFT_OFF
    times, path = run.times[flying], centres(run, figure)[flying]
    falling = path - 0.5 * np.outer(times**2, (0.0, 0.0, -9.81))
    straight = np.polynomial.polynomial.polyfit(times, falling, 1)
    assert np.abs(falling - (straight[0] + np.outer(times, straight[1]))).max() < 1e-6


def test_thighs_leave_the_plate_at_its_end(seat):
    """Seen from the plate the middle of a thigh is within the plate up to the event, and beyond it right after."""
    run, figure = seat
    for side, happening in (("left", run.events[1]), ("right", run.events[2])):
        assert happening.link.name == f"{side} seat"
        after = int(np.searchsorted(run.times, happening.time))
        slides = []
        for i in (after - 1, after):
            state, name = run.state(i), f"{side} thigh"
            middle = state.pose(figure.links[name]).apply(figure.inside(name, BODIES[name].centre))
            slides.append(state.pose("plate").inverse().apply(middle)[1])
        assert slides[0] < swing.HALF < slides[1]


def test_a_free_base_describes_the_same_swing(seat):
    """The figure hung by its hand, or on a free base with a virtual link more: other counts, the same mechanism.

    The integrator errs differently in the two, by less than 1e-6 m at the example's step and sixteen times less at half
    of it. Up to 0.6 s: the limp figure is chaotic later on.
    """
    counts = count_freedoms(seat[0], "", swing.WORDS)
    free = count_freedoms(swing.play(free_base=True)[0], "", swing.WORDS)
    assert [count.joints for count in free] == [36, 36, 35, 34]
    assert [count.mobility for count in free] == [count.mobility for count in counts]
    coarse, fine = (_difference(step, until=0.6) for step in (swing.STEP, 0.5 * swing.STEP))
    assert coarse < 1e-6
    assert fine < coarse / 12.0


def _difference(step, until):
    (run, figure), (other, twin) = swing.play(step=step), swing.play(step=step, free_base=True)
    early = run.times < until
    paths = [along(run, figure, name, body.centre)[early] for name, body in BODIES.items()]
    others = [along(other, twin, name, body.centre)[early] for name, body in BODIES.items()]
    return np.abs(np.array(paths) - np.array(others)).max()


@pytest.mark.parametrize("example", ["bar", "seat"])
def test_energy_and_closure(example, request):
    """Cuts take no energy out; what is lost is rkmk4's error."""
    run, _ = request.getfixturevalue(example)
    assert run.closure.max() < 1e-9
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * run.kinetic.max()


@pytest.mark.parametrize("example, numbers", [(high_bar, (24, 23, 22)), (swing, (30, 29, 28))])
def test_command_prints_counts_and_draws(example, numbers, tmp_path, monkeypatch, capsys):
    picture = tmp_path / "somewhere" / "picture.png"
    monkeypatch.setattr(sys, "argv", ["example", "--out", str(picture)])
    example.main()
    words = capsys.readouterr().out.split()
    assert all(str(number) in words for number in numbers)
    assert str(picture) in words
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert 20_000 < len(content) < 300_000


def test_script_of_the_readme_runs_as_shown(capsys):
    """Its figure lets go at 0.8 s and then falls freely: after two seconds it is where gravity takes it."""
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    script = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    names = {}
    exec(script, names)
    run = names["run"]
    assert capsys.readouterr().out.count("\n") >= 4
    assert [event.link.name for event in run.events] == ["right hand", "left hand", "clasped hands"]
    assert run.closure.max() < 1e-9
    flying = run.times > 0.8 + 1e-9
    pull = np.diff(run.momentum[flying, 5]) / np.diff(run.times[flying])
    assert np.abs(pull + 9.81 * (30.0 + 4.0 + 4.0)).max() < 1e-6
