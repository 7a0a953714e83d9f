# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed joints that grips contradict: grips hold, the joints give way as scipy's least squares say, and come back."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from dynamics import Chain, Cut, Inertia, Joint, JointMotion, Keyed, Pose, simulate
from dynamics.samples import GRIP_IN_HAND
from tests.dynamics.figure_moves import turned_by
from tests.dynamics.test_keyed import keyed_figure, place

LENGTHS = (0.5, 0.4, 0.3)


def arm(swings):
    """Three hinges about y in a row; its tip is held where it is at the beginning. All joints are keyed."""
    chain = Chain(gravity=(0.0, 0.0, -9.81))
    last, links = None, []
    for k, length in enumerate(LENGTHS):
        at = Pose(position=(LENGTHS[k - 1] if k else 0.0, 0.0, 0.0))
        inertia = Inertia.rod(1.0, (0, 0, 0), (length, 0, 0))
        last = chain.add(f"bar {k}", last, Joint.revolute((0, 1, 0)), at, inertia)
        links.append(last)
    times = np.linspace(0.0, 3.0, 61)
    goals = [JointMotion(times, swing(times)) for swing in swings]
    for link, goal in zip(links, goals, strict=True):
        chain.act(link, Keyed(goal))
    state = chain.state().take_given()
    end = Pose(position=(LENGTHS[-1], 0.0, 0.0))
    tip = chain.connect(links[-1], chain.world, Joint.revolute((0, 1, 0)), end, state=state)
    return chain, state, links, tip


def tip_of(angles):
    heading = np.cumsum(angles)
    return np.array([(LENGTHS * np.cos(heading)).sum(), -(LENGTHS * np.sin(heading)).sum()])


def keys(t):
    return np.array([0.4 + 0.3 * np.sin(2.0 * t), -0.9 + 0.2 * np.sin(3.0 * t), 1.1 - 0.2 * (1.0 - np.cos(2.0 * t))])


def swings():
    return [lambda t, k=k: keys(t)[k] for k in range(3)]


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_they_give_way_in_the_least_squares_sense(integrator):
    chain, state, links, tip = arm(swings())
    run = simulate(chain, state, 2.0, 1 / 240, integrator)
    held = tip_of(keys(0.0))
    assert run.closure.max() < 1e-9
    worst = 0.0
    for i in range(0, len(run), 24):
        wanted = keys(run.times[i])
        best = minimize(
            lambda x, wanted=wanted: ((x - wanted) ** 2).sum(), keys(0.0), method="SLSQP", tol=1e-14,
            constraints={"type": "eq", "fun": lambda x: tip_of(x) - held},
        ).x  # fmt: skip
        now = np.array([run.state(i).coordinates(link)[0][0] for link in links])
        assert np.abs(tip_of(now) - held).max() < 1e-9
        worst = max(worst, np.abs(now - best).max())
    print(f"{integrator}: within {worst:.1e} rad of the least squares")
    assert worst < 2e-3
    assert np.abs([run.gave_way[link.name][0] for link in links]).max() > 0.05


def test_only_those_that_must_give_way_do():
    """With one limp hinge in the loop the other two can follow their keys, and do so exactly."""
    chain, state, links, _ = arm(swings())
    chain.act(links[0])
    free = chain.add("beside", joint=Joint.revolute((0, 1, 0)), inertia=Inertia.rod(1.0, (0, 0, 0), (1, 0, 0)))
    chain.act(free, Keyed(lambda t: np.sin(t)))
    chain.act(links[1])
    state = chain.state()
    for link, angle in zip(links, keys(0.0), strict=True):
        state.set(link, angle=angle)
    run = simulate(chain, state.take_given(), 0.3)
    assert not run.gave_way
    for i in range(len(run)):
        assert abs(run.state(i).coordinates(links[2])[0][0] - keys(run.times[i])[2]) < 1e-6
        assert abs(run.state(i).coordinates(free)[0][0] - np.sin(run.times[i])) < 1e-9


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_keys_out_of_reach_give_way_in_mid_run(integrator):
    """Two limp bars between two keyed ones can follow, until they are straight and the keys lead further away. The tip
    holds all the time; when the keys come back, so does the bar.
    """
    lengths, start = (0.5, 0.4, 0.4, 0.3), (0.3, -0.8, 1.0, 0.2)
    chain, last, links = Chain(gravity=(0.0, 0.0, -9.81)), None, []
    for k, length in enumerate(lengths):
        at = Pose(position=(lengths[k - 1] if k else 0.0, 0.0, 0.0))
        last = chain.add(f"bar {k}", last, Joint.revolute((0, 1, 0)), at, Inertia.rod(1.0, (0, 0, 0), (length, 0, 0)))
        links.append(last)
    times = np.linspace(0.0, 3.0, 61)
    chain.act(links[0], Keyed(JointMotion(times, 0.3 + 1.2 * np.sin(1.2 * times) ** 2)))
    chain.act(links[3], Keyed(JointMotion(times, np.full(61, 0.2))))
    state = chain.state()
    for link, angle in zip(links, start, strict=True):
        state.set(link, angle=angle)
    state = state.take_given()
    chain.connect(last, chain.world, Joint.revolute((0, 1, 0)), Pose(position=(0.3, 0.0, 0.0)), state=state)
    run = simulate(chain, state, 2.5, 1 / 240, integrator)
    turns = np.cumsum([[run.state(i).coordinates(link)[0][0] for link in links] for i in range(len(run))], axis=1)
    tips = np.stack([np.cos(turns) @ lengths, -np.sin(turns) @ lengths], axis=1)
    assert np.abs(tips - tips[0]).max() < 1e-8
    wanted = 0.3 + 1.2 * np.sin(1.2 * run.times) ** 2
    away = np.abs(turns[:, 0] - wanted)
    assert away[run.times < 0.6].max() < 1e-5
    assert away.max() > 0.3
    assert abs(away.max() - run.gave_way["bar 0"][0]) < 1e-5
    assert away[-1] < 0.01


def test_after_the_release_they_go_back_to_their_keys():
    chain, state, links, tip = arm(swings())
    run = simulate(chain, state, 2.5, 1 / 240, events=[Cut(1.0, tip)])
    angles = np.array([[run.state(i).coordinates(link)[0][0] for link in links] for i in range(len(run))])
    wanted = np.array([keys(t) for t in run.times])
    assert np.abs(angles - wanted)[run.times < 1.0].max() > 0.05
    assert np.abs(angles - wanted)[run.times > 1.26].max() < 1e-6
    # no jump at the release or on the way back: at most the speed of going back 0.2 rad in a quarter of a second
    assert np.abs(np.diff(angles, axis=0)).max() < 4.0 / 240.0
    after = run.times > 1.0
    assert np.abs(np.diff(angles[after], 2, axis=0)).max() < 80.0 / 240.0**2


def test_a_figure_with_keyed_arms_holds_on_with_both_hands():
    """Two hands on the bar fix the distance between them, which the keyed arms would change."""
    chain, state, links, splines = keyed_figure()
    for hand in ("lhand", "rhand"):
        chain.connect(hand, chain.world, Joint.spherical(), Pose(position=GRIP_IN_HAND), state=state)
    run = simulate(chain, state, 0.5, 1 / 240)
    points = []
    for hand in ("lhand", "rhand"):
        turned = Rotation.from_quat(np.roll(run.rotations[:, links[hand].index], -1, axis=1))
        points.append(run.positions[:, links[hand].index] + turned.apply(GRIP_IN_HAND))
    assert max(np.linalg.norm(point - point[0], axis=1).max() for point in points) < 1e-9
    arms = {"lclav", "luarm", "lfarm", "rclav", "ruarm", "rfarm"}
    assert arms <= set(run.gave_way) <= arms | {"lhand", "rhand"}
    last = run.state(-1)
    for name in set(splines) - set(run.gave_way):
        assert turned_by(last.coordinates(links[name])[0], place(splines[name], last.time)) < 1e-9
    print({name: f"{np.degrees(size):.2f}" for name, (size, _) in run.gave_way.items()})
    assert max(size for size, _ in run.gave_way.values()) < np.radians(30.0)
