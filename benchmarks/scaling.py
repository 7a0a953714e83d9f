# SPDX-License-Identifier: GPL-3.0-or-later
"""How the cost of a step grows: sixteen figures beside one, and longer and longer hanging chains."""

from benchmarks import mujoco_figure
from benchmarks.speed import STEP, MujocoSteps, OurSteps, per_step
from dynamics.samples import hanging_chain, reference_figure

LENGTHS = (8, 16, 32, 64, 128)


def measure_figures(copies=16):
    """Step times of one figure and of many unconnected ones, and their ratio."""
    result = {}
    for count in (1, copies):
        chain, state, _ = reference_figure(moving=True, copies=count)
        result[str(count)] = {
            "ours_us": per_step(OurSteps(chain, state, "semi_implicit"), steps=100),
            "mujoco_us": per_step(MujocoSteps(*mujoco_figure.figure("open", STEP, copies=count)), steps=100),
        }
    for side in ("ours", "mujoco"):
        result[f"{side}_ratio"] = result[str(copies)][f"{side}_us"] / result["1"][f"{side}_us"]
    return result


def measure_hanging_chains():
    """Step times over the number of links on ball joints."""
    result = {}
    for count in LENGTHS:
        chain, state, _ = hanging_chain(count)
        steps = 3200 // count
        result[str(count)] = {
            "ours_us": per_step(OurSteps(chain, state, "semi_implicit"), steps, repeats=5),
            "mujoco_us": per_step(MujocoSteps(*mujoco_figure.hanging_chain(count, STEP)), steps, repeats=5),
        }
    return result


def measure_scaling():
    return {"figures": measure_figures(), "hanging_chain": measure_hanging_chains()}
