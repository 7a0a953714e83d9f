# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand structure changes on three figures and a prop, at random velocities; and what is stale afterwards."""

import numpy as np
import pytest

from dynamics import (
    Chain,
    Connect,
    Cut,
    Inertia,
    Joint,
    Pose,
    closed_loop,
    forward_dynamics,
    impact,
    inverse_dynamics,
    simulate,
)
from dynamics.chain import check_pointers
from dynamics.samples import reference_figure
from dynamics.stepper import Stepper
from tests.dynamics.random_chains import random_inertia, random_joint, random_pose, random_unit

ROUNDS, CHANGES = 20, 50  # a thousand in all
MOST_GRIPS = 6
KEPT = 1e-12  # of a twist or a pose: rounding
CLOSED = 1e-9  # m, rad


def three_figures_and_a_prop(rng):
    """Figures of six links on hinges and balls, and a bar, all floating near each other."""
    chain = Chain()
    for name in ("ann", "bob", "cat"):
        links = [chain.add(f"{name} 0", joint=Joint.free(), inertia=random_inertia(rng))]
        for i in range(1, 6):
            joint = random_joint(rng, (1, 4, 0.5, 0.5, 0.5, 6, 0))
            parent = links[rng.integers(len(links))]
            links.append(chain.add(f"{name} {i}", parent, joint, random_pose(rng), random_inertia(rng)))
    chain.add("bar", joint=Joint.free(), inertia=Inertia.box(5.0, (1.0, 0.05, 0.05)))
    state = chain.state()
    for link in chain.links:
        if link.joint == Joint.free():
            state.set(link, position=rng.uniform(-1, 1, 3), rotation=random_unit(rng, 4))
    return chain, state


def assert_pointers(chain):
    """Parent, child, brother, real, index and name of every link tell the same story, by rules of our own."""
    check_pointers(chain)
    everyone = [chain.world, *chain.links, *chain.connections]
    for link in everyone:
        family, seen = [], link.child
        while seen is not None and len(family) <= len(everyone):
            family.append(seen)
            seen = seen.brother
        assert [child for child in everyone if child.parent is link] == sorted(family, key=everyone.index)
        above, steps = link, 0
        while above.parent is not None and steps <= len(everyone):
            above, steps = above.parent, steps + 1
        assert above is chain.world, f"{link.name} does not lead to the world"
        assert chain[link.name] is link and link in chain
    assert [link.index for link in chain.links] == list(range(len(chain.links)))
    assert all(link.real is None for link in chain.links)
    for grip in chain.connections:
        assert grip.child is None and grip.inertia is None
        assert grip.real in [chain.world, *chain.links] and grip.parent in [chain.world, *chain.links]


def motion_of(chain, state):
    return {link: (state.pose(link), state.twist(link)) for link in chain.links}


def assert_same_motion(before, after):
    for link, (pose, twist) in before.items():
        now, moving = after[link]
        assert np.abs(moving - twist).max() < KEPT * max(1.0, np.abs(twist).max()), link.name
        assert np.abs(now.position - pose.position).max() < KEPT * max(1.0, np.abs(pose.position).max()), link.name
        assert abs(abs(now.rotation @ pose.rotation) - 1.0) < KEPT, link.name


def change(chain, state, rng):
    """One random connect or cut; the state after it."""
    grips = chain.connections
    joints = [link for link in chain.links if link.parent is not chain.world]
    kind = rng.random()
    if grips and (kind < 0.4 or len(grips) >= MOST_GRIPS):
        before = motion_of(chain, state)
        chain.cut(grips[rng.integers(len(grips))], state if rng.random() < 0.5 else None)
        assert_same_motion(before, motion_of(chain, state))
        return state
    if joints and kind < 0.5:
        before = motion_of(chain, state)
        chain.cut(joints[rng.integers(len(joints))], state)
        assert_same_motion(before, motion_of(chain, state))
        return state
    first = chain.links[rng.integers(len(chain.links))]
    others = [link for link in (*chain.links, chain.world) if link is not first]
    second = others[rng.integers(len(others))]
    joint = random_joint(rng, (2, 3, 1, 1, 1, 4, 0.3))
    chain.connect(first, second, joint, at=random_pose(rng, 0.2), state=state)
    return impact(chain, state)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_thousand_changes(seed):
    rng = np.random.default_rng(seed)
    chain, state = three_figures_and_a_prop(rng)
    for n in range(CHANGES):
        if n % 5 == 0:
            state.v[:] = rng.normal(size=len(state.v))
            state = impact(chain, state)
        state = change(chain, state, rng)
        assert_pointers(chain)
        run = simulate(chain, state, 0.004, 0.001, integrator="midpoint" if n % 2 else "rkmk4")
        assert run.closure.max() < CLOSED
        assert np.isfinite(run.energy).all()
        # nothing but gravity does work: four milliseconds of a fall at a few metres per second
        assert abs(run.energy[-1] - run.energy[0]) < 1e-2 * max(1.0, run.kinetic.max())
        state = run.state(-1)
        state.chain = chain


def test_virtual_cut_keeps_the_coordinates():
    """Connecting and cutting grips changes neither q nor v, so that states stay good."""
    chain, state, links = reference_figure(moving=True)
    before = state.copy()
    grip = chain.connect(links["lhand"], links["rhand"], Joint.spherical(), state=state)
    chain.cut(grip, state)
    assert (state.q == before.q).all() and (state.v == before.v).all()
    assert state.twist(links["lhand"]).any()


def test_cut_off_limb_flies_on_with_its_children():
    """000 Fig. 15: the link hangs on the world by a free joint, and what hangs on it goes along."""
    chain, state, links = reference_figure(moving=True)
    before = motion_of(chain, state)
    arm, hand = links["luarm"], links["lhand"]
    chain.cut(arm, state)
    assert arm.parent is chain.world and arm.joint == Joint.free()
    assert links["lfarm"].parent is arm
    assert len(state.v) == 46 + 3
    assert_same_motion(before, motion_of(chain, state))
    run = simulate(chain, state, 0.1, 0.01, "rkmk4")
    # without gravity the centre of the severed arm goes straight on
    parts = (arm, links["lfarm"], hand)

    def centre(t):
        there, masses = run.state(t), [part.inertia.mass for part in parts]
        return np.average([there.pose(part).apply(part.inertia.com) for part in parts], axis=0, weights=masses)

    assert np.abs(centre(10) - 2 * centre(5) + centre(0)).max() < 1e-6


def test_order_of_links_survives_cuts():
    """index, and with it every recorded array, does not depend on what was cut."""
    chain, state, _ = reference_figure()
    names = [link.name for link in chain.links]
    for name in ("rthigh", "chest", "lhand"):
        chain.cut(name, state)
    assert [link.name for link in chain.links] == names
    run = simulate(chain, state, 0.01, 0.005)
    assert run.positions.shape == (3, 17, 3)


@pytest.fixture
def figure():
    chain, state, links = reference_figure()
    return chain, state, links["lhand"]


USES = {
    "pose": lambda chain, state: state.pose("pelvis"),
    "twist": lambda chain, state: state.twist("pelvis"),
    "set": lambda chain, state: state.set("pelvis", position=(0, 0, 0)),
    "coordinates": lambda chain, state: state.coordinates("pelvis"),
    "forward_dynamics": forward_dynamics,
    "inverse_dynamics": lambda chain, state: inverse_dynamics(chain, state, np.zeros(len(state.v))),
    "closed_loop": closed_loop,
    "impact": impact,
    "simulate": lambda chain, state: simulate(chain, state, 0.1),
    "connect": lambda chain, state: chain.connect("lhand", "rhand", state=state),
    "cut": lambda chain, state: chain.cut("rhand", state),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("how", ["cut", "add"])
def test_a_stale_state_raises(figure, use, how):
    chain, state, hand = figure
    if how == "cut":
        chain.cut(hand)
    else:
        chain.add("hat", "head", Joint.spherical(), inertia=Inertia.box(0.1, (0.2, 0.2, 0.1)))
    with pytest.raises(ValueError, match="stale"):
        USES[use](chain, state)
    assert_pointers(chain)
    forward_dynamics(chain, chain.state())


def test_a_state_of_another_chain_raises(figure):
    chain, state, _ = figure
    other = reference_figure()[0]
    with pytest.raises(ValueError, match="stale"):
        forward_dynamics(other, state)


@pytest.mark.parametrize("how", ["connect", "cut", "spring"])
def test_stale_compiled_data_raises(figure, how):
    chain, state, hand = figure
    grip = chain.connect(hand, chain.world, Joint.spherical(), state=state)
    stepper = Stepper(chain, state, 1e-3)
    assert stepper.advance(3) == 3
    if how == "connect":
        chain.connect("rhand", chain.world, state=state)
    elif how == "cut":
        chain.cut(grip)
    else:
        chain.spring("rhand", chain.world, stiffness=10.0)
    with pytest.raises(ValueError, match="stale"):
        stepper.advance(1)
    Stepper(chain, state, 1e-3).advance(1)


def test_simulating_leaves_chain_and_state_alone(figure):
    chain, state, hand = figure
    before, stamp = state.copy(), chain.stamp
    events = [Connect(0.01, hand, chain.world, Joint.spherical(), name="grip"), Cut(0.02, "rthigh"), Cut(0.03, "grip")]
    simulate(chain, state, 0.05, 0.005, events=events)
    assert chain.stamp == stamp and not chain.connections and chain["rthigh"].parent is chain["pelvis"]
    assert (state.q == before.q).all() and (state.v == before.v).all() and state.time == 0.0
    assert_pointers(chain)


def test_a_copy_is_a_chain_of_its_own(figure):
    chain, state, hand = figure
    chain.connect(hand, chain.world, Joint.spherical(), at=Pose(position=(0, 0, -0.08)), state=state)
    twin = chain.copy()
    assert_pointers(twin)
    assert not {id(link) for link in chain.links} & {id(link) for link in twin.links}
    twin.cut(twin.connections[0])
    twin.cut("head")
    assert len(chain.connections) == 1 and chain["head"].parent is chain["chest"]
    assert_pointers(chain)
    assert_pointers(twin)
