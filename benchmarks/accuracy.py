# SPDX-License-Identifier: GPL-3.0-or-later
"""Two seconds on the bar with welded hands: how far the hands slip and how much energy goes astray, beside MuJoCo."""

import mujoco
import numpy as np

from benchmarks import mujoco_figure
from dynamics import SimulationDiverged, simulate
from dynamics.samples import FIGURE, GRIP_IN_HAND, HANDS, hang, reference_figure

DURATION = 2.0
STEPS = (1 / 240, 1e-3)
INTEGRATORS = ("rkmk4", "midpoint", "semi_implicit", "euler")


def turn(rotations, vector):
    """Vectors turned by quaternions (T, 4)."""
    w, xyz = rotations[:, :1], rotations[:, 1:]
    return vector + 2.0 * np.cross(xyz, np.cross(xyz, vector) + w * np.asarray(vector))


def energy_error(total, kinetic):
    return np.max(np.abs(total - total[0])) / np.max(kinetic)


def measure_ours(integrator, step):
    """(largest hand error in metres, energy error over peak kinetic energy), from the recorded poses and energies."""
    chain, state, links = reference_figure()
    hang(chain, state, "weld")
    try:
        run = simulate(chain, state, duration=DURATION, step=step, integrator=integrator)
    except SimulationDiverged:
        return np.nan, np.nan
    hand_error = 0.0
    for hand in HANDS:
        index = links[hand].index
        grips = run.positions[:, index] + turn(run.rotations[:, index], GRIP_IN_HAND)
        hand_error = max(hand_error, np.linalg.norm(grips - grips[0], axis=1).max())
    height = np.zeros(len(run.times))
    for part in FIGURE:
        index = links[part.name].index
        height += part.mass * (run.positions[:, index] + turn(run.rotations[:, index], part.com))[:, 2]
    return hand_error, energy_error(run.energy, run.energy - 9.81 * height)


def measure_mujoco(integrator, step, stiffest):
    """The same of MuJoCo, with its default softness or as stiff as the step allows."""
    model, data = mujoco_figure.figure("weld", step, integrator, stiffest=stiffest)
    sites = [(model.site(f"{hand} 0").id, model.site(f"hold {hand} 0").id) for hand in HANDS]
    energies, hand_error = [], 0.0
    for _ in range(round(DURATION / step) + 1):
        mujoco.mj_forward(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        energies.append(data.energy.copy())
        for hand, hold in sites:
            hand_error = max(hand_error, np.linalg.norm(data.site_xpos[hand] - data.site_xpos[hold]))
        mujoco.mj_step(model, data)
    energies = np.array(energies)
    return hand_error, energy_error(energies.sum(axis=1), energies[:, 1])


def measure_accuracy():
    """Rows of (who, step, largest hand error, energy error)."""
    rows = []
    for step in STEPS:
        rows += [(f"ours {integrator}", step, *measure_ours(integrator, step)) for integrator in INTEGRATORS]
        rows.append(("MuJoCo default", step, *measure_mujoco("Euler", step, stiffest=False)))
        rows.append(("MuJoCo RK4, stiffest", step, *measure_mujoco("RK4", step, stiffest=True)))
    return [
        {"who": who, "step_s": step, "hand_error_m": float(hand), "energy_error": float(energy)}
        for who, step, hand, energy in rows
    ]
