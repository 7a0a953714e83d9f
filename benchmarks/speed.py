# SPDX-License-Identifier: GPL-3.0-or-later
"""Time per step of the reference figure, ours beside MuJoCo, and Pinocchio's accelerations for scale.

Ours and MuJoCo advance STEPS steps in one call, from the same starting state in every repeat, and once more with one
call from Python per step. Ours has the loops projected in every step.
"""

import mujoco

from benchmarks import mujoco_figure, pinocchio_figure
from benchmarks.timing import best_time
from dynamics import Driven, Joint, JointMotion, Pose, impact, natural
from dynamics.samples import GRIP_IN_HAND, hang, reference_figure
from dynamics.stepper import Stepper

STEP = 1e-3
STEPS = 400
REPEATS = 15

# name: (how the hands are held, our integrator, MuJoCo's integrator, the ratio aimed at)
CASES = {
    "open": ("open", "semi_implicit", "Euler", 1.2),
    "weld": ("weld", "semi_implicit", "Euler", 1.0),
    "hinge": ("hinge", "semi_implicit", "Euler", 1.0),
    "weld_rk4": ("weld", "rkmk4", "RK4", 1.0),
    "weld_midpoint": ("weld", "midpoint", "RK4", 1.0),
}


def ours(how):
    """(chain, state) of a case."""
    chain, state, _ = reference_figure(moving=how == "open")
    if how != "open":
        hang(chain, state, how)
    return chain, state


class OurSteps:
    """Our stepper on a chain, started afresh by prepare()."""

    def __init__(self, chain, state, integrator):
        self.make = lambda: Stepper(chain, state, STEP, integrator)
        self.prepare()
        self.advance(2)

    def prepare(self):
        self.stepper = self.make()

    def advance(self, steps):
        if self.stepper.advance(steps) != steps:
            raise RuntimeError(f"our stepper gave up after {self.stepper.time} s: its time would say nothing")


class MujocoSteps:
    """MuJoCo on a model, started afresh by prepare()."""

    def __init__(self, model, data):
        self.model, self.data = model, data
        self.start = data.qpos.copy(), data.qvel.copy()
        self.advance(2)

    def prepare(self):
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.start

    def advance(self, steps):
        mujoco.mj_step(self.model, self.data, nstep=steps)


def per_step(side, steps=STEPS, repeats=REPEATS):
    """Microseconds per step, all steps in one call."""
    return best_time(lambda: side.advance(steps), side.prepare, repeats, steps)


def per_call(side, steps=STEPS, repeats=REPEATS):
    """Microseconds per step, one call from Python each."""

    def work():
        for _ in range(steps):
            side.advance(1)

    return best_time(work, side.prepare, repeats, steps)


def pinocchio_time(how):
    """Microseconds of one computation of accelerations."""
    work = pinocchio_figure.accelerations(how)

    def many():
        for _ in range(STEPS):
            work()

    return best_time(many, None, REPEATS, STEPS)


def measure_cases():
    """Two tables by case: steps in one call (the JSON file's "cases"), and one step per call."""
    cases, calls = {}, {}
    for name, (how, integrator, their_integrator, _) in CASES.items():
        mine = OurSteps(*ours(how), integrator)
        theirs = MujocoSteps(*mujoco_figure.figure(how, STEP, their_integrator))
        # Turn about, so that a slow minute of the machine meets both.
        rounds = [(per_step(mine), per_step(theirs)) for _ in range(3)]
        our_time, their_time = (min(times) for times in zip(*rounds))
        cases[name] = {
            "ours_us": our_time,
            "mujoco_us": their_time,
            "pinocchio_us": pinocchio_time(how),
            "ratio": our_time / their_time,
        }
        calls[name] = {"ours_us": per_call(mine), "mujoco_us": per_call(theirs)}
    return cases, calls


def muscular(how, frequency=4.0):
    """(chain, state) of a case with every joint driven to stay where it starts, along a keyed motion."""
    chain, state = ours(how)
    strengths = {link: natural(chain, state, link, frequency) for link in chain.links if link.parent is not chain.world}
    for link, strength in strengths.items():
        start = state.coordinates(link)[0]
        chain.act(link, Driven(*strength, JointMotion((0.0, 0.2, STEP * STEPS), (start, start, start))))
    return chain, state


def measure_muscles(integrator="midpoint"):
    """Microseconds per step with muscles in all joints, and of the same figure limp, by how the hands are held."""
    found = {}
    for how in ("open", "weld"):
        limp, driven = OurSteps(*ours(how), integrator), OurSteps(*muscular(how), integrator)
        rounds = [(per_step(limp), per_step(driven)) for _ in range(3)]
        limp_time, driven_time = (min(times) for times in zip(*rounds))
        found[how] = {"limp_us": limp_time, "driven_us": driven_time, "ratio": driven_time / limp_time}
    return found


def measure_structure_change():
    """Microseconds to connect the second hand of a swinging figure, compile the new structure and solve the impact."""
    chain, state, links = reference_figure(moving=True)
    place = Pose(position=GRIP_IN_HAND)
    chain.connect(links["lhand"], chain.world, joint=Joint.fixed(), at=place, state=state)
    grips = []

    def undo():
        if grips:
            chain.cut(grips.pop())

    def change():
        grips.append(chain.connect(links["rhand"], chain.world, joint=Joint.fixed(), at=place, state=state))
        impact(chain, state)

    change()
    return best_time(change, undo, repeats=50)
