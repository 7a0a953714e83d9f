# SPDX-License-Identifier: GPL-3.0-or-later
"""What muscles aim at over time, as tables for the kernels."""

import numpy as np

from .motion import Stay, goal_tables


def set_goals(chain, state, form):
    """The goals of the muscles at the state's time, the same at all samples; one without a goal stays where it is."""
    form.goals = []
    for i in form.arrays.driven:
        link = chain.links[i - 1]
        goal = link.acting.muscle.goal
        form.goals.append(Stay(state.coordinates(link)[0], link.joint.freedoms) if goal is None else goal)
    here = form.here
    if form.goals:
        tables = goal_samples(chain, form, [state.time])
        here.goals_q[:], here.goals_v[:], here.goals_tau[:], here.goals_gain[:] = tables


def goal_samples(chain, form, times):
    """Tables of the muscles at the times: goals (n, nm, 7), rates and extra torques (n, nm, 6), gains (n, nm)."""
    links = [chain.links[i - 1] for i in form.arrays.driven]
    count = len(times), len(links)
    q, v, tau, gain = np.zeros((*count, 7)), np.zeros((*count, 6)), np.zeros((*count, 6)), np.ones(count)
    for m, (link, goal) in enumerate(zip(links, form.goals, strict=True)):
        muscle = link.acting.muscle
        q[:, m], v[:, m], _ = goal_tables(link, goal, times, only_rates=True)
        gain[:, m] = [muscle.gain(t) for t in times] if callable(muscle.gain) else muscle.gain
        if muscle.feed_forward is not None:
            extra = np.array([np.ravel(muscle.feed_forward(t)) for t in times])
            tau[:, m, : extra.shape[1]] = extra
    return q, v, tau, gain
