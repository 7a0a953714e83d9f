# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of muscles are sampled as scipy's rotation splines say."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline

from dynamics import JointMotion


@pytest.mark.parametrize("count", [2, 3, 12])
def test_goals_are_those_of_scipy(count):
    rng = np.random.default_rng(count)
    times = np.cumsum(rng.uniform(0.02, 0.3, count))
    turns = Rotation.random(count, rng)
    motion = JointMotion(times, turns.as_quat()[:, [3, 0, 1, 2]])
    asked = rng.uniform(times[0], times[-1], 200)
    values, rates = motion.follow(np.concatenate([times, asked]))
    spline = RotationSpline(times, turns)
    wanted = spline(np.concatenate([times, asked]))
    assert (Rotation.from_quat(values[:, [1, 2, 3, 0]]).inv() * wanted).magnitude().max() < 1e-12
    assert np.abs(rates - spline(np.concatenate([times, asked]), 1)).max() < 1e-9
    assert (motion.follow([times[0] - 1.0, times[-1] + 1.0])[1] == 0.0).all()
