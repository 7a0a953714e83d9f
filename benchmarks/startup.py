# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a fresh process needs until every kernel is ready: compiled from nothing, or loaded from numba's cache."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent


def make_everything_ready():
    """Uses each part of the library once: all integrators, open and closed, connect, cut, inverse dynamics."""
    from dynamics import Cut, closed_loop, forward_dynamics, impact, inverse_dynamics, simulate
    from dynamics.samples import hang, reference_figure

    for integrator in ("semi_implicit", "midpoint", "rkmk4", "euler"):
        chain, state, _ = reference_figure()
        grips = hang(chain, state)
        simulate(chain, state, duration=3e-3, step=1e-3, integrator=integrator, events=[Cut(2e-3, grips[1])])
    chain, state, _ = reference_figure(moving=True)
    hang(chain, state, "hinge")
    closed_loop(chain, state)
    state = impact(chain, state)
    acceleration = forward_dynamics(chain, state, state.v * 0.0)
    inverse_dynamics(chain, state, acceleration.qdd)


def ready_after(cache):
    """Seconds a new process takes to make everything ready with its kernels cached in the given folder."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(cache))
    command = [sys.executable, "-m", "benchmarks.startup"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the start-up measurement failed:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def measure_startup():
    """(cold, cached) in seconds; imports count."""
    with tempfile.TemporaryDirectory() as cache:
        cold = ready_after(cache)
        cached = min(ready_after(cache) for _ in range(3))
    return cold, cached


if __name__ == "__main__":
    begin = perf_counter()
    make_everything_ready()
    print(perf_counter() - begin)
