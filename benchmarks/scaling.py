# SPDX-License-Identifier: GPL-3.0-or-later
"""How the cost of a step grows: sixteen figures beside one, and longer and longer hanging chains."""

from benchmarks import mujoco_figure
from benchmarks.speed import STEP, MujocoSteps, OurSteps, per_step
from dynamics.samples import hanging_chain, reference_figure

LENGTHS = (8, 16, 32, 64, 128)


def best_of_rounds(sides, steps, repeats, rounds=4):
    """Step times of several steppers, measured turn about: a busy moment of the machine meets all of them, not one."""
    times = [[per_step(side, count, repeats) for side, count in zip(sides, steps)] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def measure_figures(copies=16):
    """Step times of one figure and of many unconnected ones, and their ratio."""
    sides = []
    for count in (1, copies):
        chain, state, _ = reference_figure(moving=True, copies=count)
        sides.append(OurSteps(chain, state, "semi_implicit"))
        sides.append(MujocoSteps(*mujoco_figure.figure("open", STEP, copies=count)))
    one, their_one, many, their_many = best_of_rounds(sides, (400, 400, 100, 100), repeats=5)
    return {
        "1": {"ours_us": one, "mujoco_us": their_one},
        str(copies): {"ours_us": many, "mujoco_us": their_many},
        "ours_ratio": many / one,
        "mujoco_ratio": their_many / their_one,
    }


def measure_hanging_chains():
    """Step times over the number of links on ball joints."""
    result = {}
    for count in LENGTHS:
        chain, state, _ = hanging_chain(count)
        sides = OurSteps(chain, state, "semi_implicit"), MujocoSteps(*mujoco_figure.hanging_chain(count, STEP))
        mine, theirs = best_of_rounds(sides, [3200 // count] * 2, repeats=3)
        result[str(count)] = {"ours_us": mine, "mujoco_us": theirs}
    return result


def measure_scaling():
    return {"figures": measure_figures(), "hanging_chain": measure_hanging_chains()}
