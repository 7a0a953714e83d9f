# SPDX-License-Identifier: GPL-3.0-or-later
"""Stepping one structure of a chain: the loop around the kernels, without events."""

import numpy as np

from .field import feel
from .forward import prepare
from .goals import goal_samples
from .kernels.energy import keep_books
from .kernels.kinematics import move_links, place_links, spread_columns
from .kernels.steps import EULER, FAILED_LOOP, FAILED_MASS, FAILED_STEP, MIDPOINT, RKMK4, SEMI_IMPLICIT, advance
from .motion import joint_tables
from .state import State

INTEGRATORS = {"euler": EULER, "semi_implicit": SEMI_IMPLICIT, "midpoint": MIDPOINT, "rkmk4": RKMK4}
REASONS = {
    FAILED_MASS: "a link moves without mass",
    FAILED_LOOP: "a loop cannot be closed",
    FAILED_STEP: "the motion is too violent for the step",
}


class Stepper:
    """Advances a state of one structure in steps of one length; raises if the chain has changed meanwhile.

    field   forces that depend on where the links are and how they move, see field.py; looked at before every step, so
            that advance() takes one step at a time
    """

    def __init__(self, chain, state, step, integrator="midpoint", field=None):
        if not isinstance(integrator, str) or integrator not in INTEGRATORS:
            raise ValueError(f"there is no integrator {integrator!r}; there are {', '.join(INTEGRATORS)}")
        if not isinstance(step, int | float | np.number) or not (np.isfinite(step) and step > 0.0):
            raise ValueError(f"step must be a positive number of seconds, not {step}")
        self.chain, self.step, self.integrator = chain, float(step), INTEGRATORS[integrator]
        self.form = prepare(chain, state)
        self.form.here.work[:] = 0.0
        self.time = state.time
        self.field = field
        self._fresh = 1

    def advance(self, steps, step=None):
        """Take steps; returns how many succeeded. Nothing is recorded unless record() was called."""
        if self.form.stamp != self.chain.stamp:
            raise ValueError("the compiled data is stale: the chain has changed since the stepper was made")
        h = self.step if step is None else step
        self._sample(steps, h)
        if self.field is not None:
            feel(self.field, self.form, self.time, h)
        done = advance(self.form.model, self.form.data, steps, h, self.integrator, self._fresh)
        self._fresh = 0
        self.time = float(self.form.here.time[0])
        return done

    def record(self, rows):
        """Make room for that many recorded instants, written by the following advance()."""
        arrays, here = self.form.arrays, self.form.here
        if len(here.record_q) != rows:
            nb, nc = len(arrays.parent), len(arrays.first)
            self.form.replace(
                record_q=np.zeros((rows, len(here.q))), record_v=np.zeros((rows, len(here.v))),
                record_position=np.zeros((rows, nb, 3)), record_rotation=np.zeros((rows, nb, 4)),
                record_books=np.zeros((rows, 16)), record_reaction=np.zeros((rows, nc, 6)),
            )  # fmt: skip
        return self.form.here

    def restart(self, q, v, time, work=None):
        """Go to another state on the loops; work (7) is what the books said there."""
        here = self.form.here
        if work is not None:
            here.work[:] = work
        here.q[:], here.v[:], here.time[0] = q, v, time
        self.time = float(time)
        self._fresh = 1

    def state(self):
        here = self.form.here
        return State(self.chain, here.q.copy(), here.v.copy(), self.time)

    def energy(self, counted=None):
        """Kinetic and potential energy now (J), of the links that move freely or of those that are `counted` (nb)."""
        moves = self.form.arrays.moves
        own = moves.copy()
        try:
            moves[:] = own if counted is None else counted
            place_links(self.form.model, self.form.data)
            spread_columns(self.form.model, self.form.data)
            move_links(self.form.model, self.form.data)
            keep_books(self.form.model, self.form.data)
        finally:
            moves[:] = own
        return float(self.form.here.energy.sum())

    def failure(self):
        """Why the last advance() stopped, and the link where."""
        here, arrays = self.form.here, self.form.arrays
        reason = int(here.failure[0])
        if reason == FAILED_MASS:
            link = self.chain.links[arrays.dof_link[here.failure[1]] - 1]
        elif reason == FAILED_LOOP:
            worst = int(np.argmax(np.abs(here.residual)))
            link = self.form.connections[arrays.row_connection[worst]]
        else:
            speed = np.where(np.isfinite(here.v), np.abs(here.v), np.inf)
            link = self.chain.links[arrays.dof_link[int(np.argmax(speed))] - 1]
        return REASONS.get(reason, "the velocities grow without bound"), link

    def _sample(self, steps, h):
        """Tables of prescribed motion and of the muscles' goals at the half steps of the next `steps` steps."""
        prescribed, driven = self.form.arrays.prescribed, self.form.arrays.driven
        if not len(prescribed) and not len(driven):
            return
        # accumulated like the kernel's clock, so that a restart samples the very same times
        times = np.empty(2 * steps + 1)
        times[0] = now = self.form.here.time[0]
        for n in range(steps):
            times[2 * n + 1] = now + 0.5 * h
            now = now + h
            times[2 * n + 2] = now
        fresh = {}
        if len(prescribed):
            tables = [joint_tables(self.chain.links[i - 1], times) for i in prescribed]
            q, v, a = (np.ascontiguousarray(np.stack(part, axis=1)) for part in zip(*tables, strict=True))
            fresh |= dict(given_q=q, given_v=v, given_a=a)
        if len(driven):
            names = ("goals_q", "goals_v", "goals_tau", "goals_gain")
            fresh |= dict(zip(names, goal_samples(self.chain, self.form, times), strict=True))
        self.form.replace(**fresh)
