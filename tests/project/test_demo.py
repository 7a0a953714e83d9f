# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's pictures and words. That its acts work is seen in tests/blender/test_demos.py."""

import subprocess
import sys

import numpy as np
import pytest

from tools import demo
from tools.environments import ROOT
from tools.inside_blender.sheet import GAP, contact_sheet, draw_line


def test_sheet_reads_from_the_top_left():
    """Rows count from below, so the first panels are in the last rows."""
    pictures = [np.full((20, 30, 3), number / 10.0) for number in range(10)]
    sheet = contact_sheet(pictures)
    assert sheet.shape == (2 * 20 + 3 * GAP, 5 * 30 + 6 * GAP, 3)
    middles = [sheet[row, GAP + 15 + column * (30 + GAP), 0] for row in (2 * GAP + 30, GAP + 10) for column in range(5)]
    assert middles == pytest.approx(np.arange(10) / 10.0)
    assert (sheet[0] == 1.0).all() and (sheet[:, 0] == 1.0).all()


def test_line_covers_its_area():
    """A line with round ends covers length times width and a circle."""
    picture = np.zeros((100, 160, 3))
    start, end, half = np.array((30.0, 40.0)), np.array((110.0, 70.0)), 4.0
    draw_line(picture, start, end, np.ones(3), half)
    length = np.hypot(*(end - start))
    assert picture[..., 0].sum() == pytest.approx(2.0 * half * length + np.pi * half**2, rel=0.01)  # pixels are squares
    rows, columns = np.mgrid[:100, :160] + 0.5
    centre = np.array([(picture[..., 0] * columns).sum(), (picture[..., 0] * rows).sum()]) / picture[..., 0].sum()
    assert centre == pytest.approx((start + end) / 2.0, abs=0.05)


def test_unknown_scene_says_what_there_is():
    command = [sys.executable, "dev.py", "demo", "--scene", "opera"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert all(scene in done.stderr for scene in demo.SCENES)


def test_blender_that_cannot_render_is_told_with_its_reason():
    died = subprocess.CompletedProcess([], -6, stdout="Fra:1", stderr="noise\nCouldn't open libEGL.so.1\n")
    text = demo.cannot_film(died)
    assert "exit code -6" in text and "libEGL" in text
    assert ("apt-get" in text) == (sys.platform == "linux")
