# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole simulation: steps, events at their exact times, records."""

from dataclasses import replace

import numpy as np

from .events import Act, Connect, Cut, Push, measure
from .field import feel
from .forward import check_wrenches, forward_dynamics, impact, slip
from .kernels.books import record_instant
from .motion import Stay
from .muscle import Driven
from .pose import check_vector
from .push import push
from .run import BOOKS, Happening, Run, SimulationDiverged, Work
from .state import State, need_state
from .stepper import Stepper
from .yielding import give_way, keyed_on_loops, note_deviations

BLOCK = 64  # steps between two reports of progress
SAME_TIME = 1e-12  # s
YIELDING = ("midpoint", "semi_implicit")  # integrators in whose steps keyed joints can give way to connections
OPEN_LOOP = 1e-6  # m, rad: a simulation does not begin with loops more open than this


def simulate(
    chain, state, duration, step=1 / 240, integrator="midpoint", events=(), wrenches=None, tau=None,
    muscles=None, field=None, iterate=False, run=None,
):  # fmt: skip
    """Simulate a chain from a state; the chain and the state that were given stay as they are.

    events     Connect, Cut, Act and Push; they take place at their exact times, also between steps
    tau        (nv) constant joint forces;  wrenches   {link: [moment; force] at its origin, world axes}, constant
    muscles    {link: Driven, Keyed or None for limp}: takes the place of what the chain says
    field      forces on links that depend on the present state: a function of time, places and velocities, see field.py
    iterate    return a generator instead that yields the progress (0 to 1) and returns the Run; close it to cancel
    run        an empty Run to record into, to be looked at while it grows
    """
    if not isinstance(events, list | tuple):
        raise ValueError(f"events must be a list of events, not {events!r}")
    work = _simulate(
        chain, state, duration, step, integrator, list(events), wrenches, tau, muscles, field,
        Run() if run is None else run,
    )  # fmt: skip
    if iterate:
        return work
    while True:
        try:
            next(work)
        except StopIteration as finished:
            return finished.value


def _simulate(chain, state, duration, step, integrator, events, wrenches, tau, muscles, field, run):
    if not isinstance(duration, int | float | np.number) or not (np.isfinite(duration) and duration >= 0.0):
        raise ValueError(f"duration must be a number of seconds that is not negative, not {duration!r}")
    need_state(state, chain)
    state.check_numbers(chain)
    tau = None if tau is None else check_vector(tau, len(state.v), "tau")
    wrenches = check_wrenches(chain, wrenches)
    if field is not None and not callable(field):
        raise ValueError(f"field must be a function of time, positions and velocities, not {field!r}")
    chain = chain.copy()
    state = state.copy()
    state.chain = chain
    for link, muscle in (muscles or {}).items():
        acting = chain.find(link).acting
        chain.act(link, muscle, acting.impedance, acting.limit)
    for link in chain.links:
        muscle = link.acting.muscle
        if isinstance(muscle, Driven) and muscle.goal is None:
            # a muscle without a goal stays where the joint is at the beginning, whatever happens later
            goal = Stay(state.coordinates(link)[0], link.joint.freedoms)
            link.acting = replace(link.acting, muscle=replace(muscle, goal=goal))
    timed, conditions = _sort(events, state.time)
    engine = _Engine(chain, state, step, integrator, wrenches, tau, field, run)
    total = max(1, round(duration / step))
    end = state.time + duration
    done = 0
    # what is due at the very beginning happens before the first instant is recorded
    while timed and timed[0].time <= engine.time + SAME_TIME:
        engine.happen(timed.pop(0))
    engine.start()
    while engine.time < end - 0.5 * SAME_TIME and done < total:
        block = min(BLOCK if field is None else 1, total - done)
        if timed:
            block = min(block, int((timed[0].time - engine.time + SAME_TIME) / step))
        if block == 0:
            engine.cross(step, timed, conditions)
            done += 1
        else:
            done += engine.block(block, conditions)
        yield done / total
    return run


def _sort(events, start):
    timed, conditions = [], []
    for event in events:
        if not isinstance(event, Connect | Cut | Act | Push):
            raise ValueError(f"{event!r} is no event: use Connect, Cut, Act or Push")
        if event.time is None:
            conditions.append(event)
        elif not np.isfinite(event.time):
            raise ValueError(f"the time of {event!r} is not finite")
        elif event.time >= start - SAME_TIME:
            timed.append(event)
    return sorted(timed, key=lambda event: event.time), conditions


class _Engine:
    """The present structure with its stepper, and the run that it writes to."""

    def __init__(self, chain, state, step, integrator, wrenches, tau, field, run):
        self.chain, self.step, self.integrator, self.run = chain, step, integrator, run
        self.wrenches, self.tau, self.field = wrenches or {}, tau, field
        self.work = np.zeros(len(Work._fields))  # before the present structure
        self.stubborn = ()  # names of keyed links that had to give way for a step to succeed
        self._settle(state)

    time = property(lambda self: self.stepper.time)

    def _settle(self, state):
        """Make the stepper for the present structure; a velocity that violates it is put right as by an impact."""
        self._give_way(state)
        if self.chain.connections and slip(self.chain, state) > 1e-9 * (1.0 + np.abs(state.v).max(initial=0.0)):
            state = impact(self.chain, state)
        self.stepper = Stepper(self.chain, state, self.step, self.integrator, self.field)
        here = self.stepper.form.here
        if here.closure[0] > OPEN_LOOP:
            worst = int(np.argmax(np.abs(here.residual)))
            grip = self.stepper.form.connections[self.stepper.form.arrays.row_connection[worst]]
            raise ValueError(
                f"connection {grip.name} is open by {here.closure[0]:.3g} (m or rad): bring {grip.real.name} and "
                f"{grip.parent.name} together first, or connect them where they are"
            )
        self._load()

    def _give_way(self, state):
        """Keyed joints do not stand against grips. Explicit steps could not hold them firmly enough: there they do."""
        if self.integrator in YIELDING:
            give_way(self.chain, state, self.stubborn)

    def _relent(self, state, work):
        """After a step that failed: go back to the state before it and let all keyed joints on loops give way. Returns
        whether there were any.
        """
        keyed = keyed_on_loops(self.chain)
        if not keyed or self.integrator not in YIELDING:
            return False
        self.stubborn = (*self.stubborn, *keyed)
        before = self.stepper
        before.restart(state.q, state.v, state.time, work)
        energy = before.energy()
        self.chain = state.chain = self.chain.copy()
        self._settle(state)
        self._take_over(before, energy)
        return True

    def _load(self):
        """Lay what acts from outside into the workspace."""
        here = self.stepper.form.here
        if self.tau is not None:
            here.given_tau[:] = self.tau
        for link, wrench in self.wrenches.items():
            here.wrench[self.chain.find(link).index + 1] = wrench

    def start(self):
        """Record the present instant."""
        here = self.stepper.record(1)
        if self.field is not None:
            feel(self.field, self.stepper.form, self.time, 0.0)
        record_instant(self.stepper.form.model, self.stepper.form.data, 0)
        self._keep(np.array([self.time]), here, slice(0, 1))

    def _keep(self, times, here, rows):
        books = np.zeros((len(times), BOOKS + len(self.work)))
        books[:, : here.record_books.shape[1]] = here.record_books[rows]
        books[:, BOOKS:] += self.work
        note_deviations(self.chain, times, here.record_q[rows], self.run.gave_way)
        self.run.extend(
            self.chain, self.stepper.form.connections, times,
            here.record_q[rows].copy(), here.record_v[rows].copy(),
            here.record_position[rows, 1:].copy(), here.record_rotation[rows, 1:].copy(),
            books, here.record_reaction[rows].copy(),
        )  # fmt: skip

    def block(self, steps, conditions):
        """Take whole steps without timed events; stop before the first step in which a condition comes true, and cross
        it.

        Returns the number of steps taken.
        """
        stepper = self.stepper
        here = stepper.record(steps)
        before, clock, work = stepper.state(), stepper.time, here.work.copy()
        taken = stepper.advance(steps)
        times = _clock(clock, self.step, taken)
        active = [event for event in conditions if self._watched(event)]
        if active:
            for n in range(taken):
                state, reaction = self._instant(here, n, times[n])
                if any(measure(event.when, self.chain, state, reaction) > 0.0 for event in active):
                    if n:
                        self._keep(times[:n], here, slice(0, n))
                        before, work = self._instant(here, n - 1, times[n - 1])[0], here.record_books[n - 1, BOOKS:]
                    stepper.restart(before.q, before.v, before.time, work)
                    self.cross(self.step, [], conditions)
                    return n + 1
        if taken:
            self._keep(times, here, slice(0, taken))
            before, work = self._instant(here, taken - 1, times[-1])[0], here.record_books[taken - 1, BOOKS:]
        if taken < steps and not self._relent(before, work):
            self._diverge()
        return taken

    def cross(self, span, timed, conditions):
        """Take one step of length `span` that is interrupted by events, and record its end."""
        end = self.time + span
        while True:
            left = end - self.time
            until = min(left, timed[0].time - self.time) if timed else left
            if until > SAME_TIME:
                self._partial(until, conditions)
            while timed and timed[0].time <= self.time + SAME_TIME:
                self.happen(timed.pop(0))
            if end - self.time <= SAME_TIME:
                break
        self.start()

    def _partial(self, span, conditions):
        """Advance by `span`, or to the moment within it at which a condition comes true, and let that happen."""
        stepper = self.stepper
        before, work = stepper.state(), stepper.form.here.work.copy()
        active = [event for event in conditions if self._watched(event)]
        excess = self._try(before, work, span, active)
        if excess is None or excess <= 0.0:
            return
        low, high = 0.0, span
        while high - low > 1e-9 * self.step:
            middle = 0.5 * (low + high)
            if self._try(before, work, middle, active) > 0.0:
                high = middle
            else:
                low = middle
        self._try(before, work, high, active)
        reaction = self._reaction()
        state = self.stepper.state()
        for event in active:
            if measure(event.when, self.chain, state, reaction) > 0.0:
                conditions.remove(event)
                self.happen(event)

    def _try(self, before, work, span, active):
        self.stepper.restart(before.q, before.v, before.time, work)
        if self.stepper.advance(1, span) < 1:
            self._diverge()
        if not active:
            return None
        state, reaction = self.stepper.state(), self._reaction()
        return max(measure(event.when, self.chain, state, reaction) for event in active)

    def _reaction(self):
        wrenches = dict(self.wrenches)
        if self.field is not None:
            for link, wrench in zip(self.chain.links, feel(self.field, self.stepper.form, self.time, 0.0), strict=True):
                wrenches[link] = wrenches.get(link, 0.0) + wrench
        return forward_dynamics(self.chain, self.stepper.state(), self.tau, wrenches).reaction

    def _instant(self, here, n, time):
        state = State(self.chain, here.record_q[n], here.record_v[n], float(time))
        return state, dict(zip(self.stepper.form.connections, here.record_reaction[n], strict=True))

    def _watched(self, event):
        link = event.link
        return link is not None and link in self.chain

    def happen(self, event):
        """Let an event change the structure, and go on with the velocities after it."""
        before = self.stepper
        state = before.state()
        if isinstance(event, Push):
            self._push(event, state)
            return
        energy = before.energy()
        self.chain = self.chain.copy()
        state.chain = self.chain
        link = event.apply(self.chain, state)
        self.stubborn = ()
        self._give_way(state)
        if isinstance(event, Connect):
            state = impact(self.chain, state)
        impulse = dict(state.impulse)
        self._settle(state)
        work = self._take_over(before, energy)
        self.run.events.append(Happening(event, link, state.time, impulse, work))

    def _push(self, event, state):
        """The structure stays, and with it stops and muscles that are at work."""
        link = self.chain.find(event.target)
        state, work = push(self.chain, state, link, event.impulse, event.at, event.moment)
        self.run.events.append(Happening(event, link, state.time, state.impulse, work))
        self._book("pushes", work)
        self._load()
        self.stepper.restart(state.q, state.v, state.time)

    def _take_over(self, before, energy):
        """Go on with the books of the stepper `before`; returns what the new structure did to the energy it had."""
        self.work[: len(before.form.here.work)] += before.form.here.work
        handed_over = before.energy(self.stepper.form.arrays.moves) - energy
        work = self.stepper.energy() - energy - handed_over
        self._book("handed_over", handed_over)
        self._book("impacts", work)
        return work

    def _book(self, account, work):
        self.work[Work._fields.index(account)] += work

    def _diverge(self):
        reason, link = self.stepper.failure()
        raise SimulationDiverged(reason, link, self.time, self.run)


def _clock(start, step, count):
    """The instants of `count` steps, added up like the kernel's clock."""
    times = np.empty(count)
    now = start
    for n in range(count):
        now = now + step
        times[n] = now
    return times
