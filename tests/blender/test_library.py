# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics library as a part of the installed extension: it imports, compiles, and gets a closed form right."""

import importlib

import numpy as np
import pytest


@pytest.fixture
def dynamics(trapeze):
    return importlib.import_module(f"{trapeze.__name__}.dynamics")


def test_kernels_are_compiled(trapeze, dynamics):
    """The same source also runs without numba, a hundred times slower: that must not happen unnoticed here."""
    assert importlib.import_module(f"{trapeze.__name__}.dynamics.jit").COMPILED


def test_thrown_body_follows_the_parabola(dynamics):
    chain = dynamics.Chain(gravity=(0, 0, -9.81))
    stone = chain.add("stone", joint=dynamics.Joint.free(), inertia=dynamics.Inertia(mass=2.0, tensor=np.eye(3)))
    state = chain.state()
    state.set(stone, position=(0, 0, 1), velocity=(0, 0, 0, 3, 0, 4))
    run = dynamics.simulate(chain, state, duration=0.5, step=0.01, integrator="rkmk4")
    t = run.times[:, None]
    expected = [0, 0, 1] + t * [3, 0, 4] + t**2 / 2 * [0, 0, -9.81]
    # rkmk4 is exact for constant acceleration, up to rounding
    np.testing.assert_allclose(run.positions[:, 0], expected, atol=1e-12)
