# SPDX-License-Identifier: GPL-3.0-or-later
"""Random chains against Pinocchio, and motions against themselves in another description.

A failing case prints its seed as the test's parameter; random_chain(seed) builds it again.
"""

import numpy as np
import pytest

from dynamics import (
    Chain,
    Joint,
    Pose,
    bias_forces,
    closed_loop,
    forward_dynamics,
    impact,
    inverse_dynamics,
    mass_matrix,
    simulate,
)
from tests.dynamics.random_chains import Sample, random_chain, random_inertia, random_pose, random_unit

SEEDS = range(320)
# Both sides lose digits to the condition of the mass matrix, up to 1e6 for chains of sixty links.
AGREEMENT = 1e-8


def difference(ours, theirs, floor=1e-3):
    """Largest difference, relative to the largest entry or to the floor if that is larger."""
    return np.max(np.abs(ours - theirs), initial=0.0) / max(np.max(np.abs(theirs), initial=0.0), floor)


def loop_free(peer, tau):
    """A thousandth of the accelerations without loops.

    Loops that lock a chain cancel all of them: what is left is rounding of these, so it has to be measured by these.
    """
    return 1e-3 * np.max(np.abs(np.linalg.solve(peer.mass, tau[peer.free] - peer.bias)), initial=1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_bias_and_accelerations(seed):
    """M and bias are Pinocchio's; accelerations solve Gauss' principle with the loops as dense least squares."""
    sample = random_chain(seed)
    chain, state = sample.chain, sample.state
    peer = sample.peer()
    tau = 5.0 * np.random.default_rng(seed).normal(size=len(state.v))
    free = peer.free
    assert difference(mass_matrix(chain, state)[np.ix_(free, free)], peer.mass) < AGREEMENT
    assert difference(bias_forces(chain, state)[free], peer.bias) < AGREEMENT
    assert np.max(np.abs(peer.J @ state.v[free] - peer.row_velocity), initial=0.0) < 1e-9, "impact left the loops open"
    acceleration = forward_dynamics(chain, state, tau)
    assert difference(acceleration.qdd, peer.accelerations(tau), loop_free(peer, tau)) < AGREEMENT
    if chain.connections:
        assert closed_loop(chain, state).mobility == np.sum(free) - peer.rank()
    # Reactions of redundant connections are not unique, but what they do together is.
    forces = [tau[free], -peer.bias, -peer.mass @ acceleration.qdd[free]]
    forces += [peer.generalized(grip, acceleration.reaction[grip]) for grip in chain.connections]
    assert np.max(np.abs(sum(forces)), initial=0.0) < AGREEMENT * np.max(np.abs(forces), initial=1e-3)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_poses_and_twists(seed):
    sample = random_chain(seed)
    peer = sample.peer()
    for link in sample.chain.links:
        place = peer.link_placement(link)
        pose = sample.state.pose(link)
        assert np.allclose(pose.position, place.translation, rtol=0.0, atol=1e-11)
        assert np.allclose(pose.apply((1.0, 2.0, 3.0)), place.act(np.array((1.0, 2.0, 3.0))), rtol=0.0, atol=1e-11)
        assert difference(sample.state.twist(link), peer.twist(link)) < 1e-10


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_forward_after_inverse_dynamics(seed):
    """Accelerations that the loops allow come back, though the joint forces that made them are not the inverse's."""
    sample = random_chain(seed)
    chain, state = sample.chain, sample.state
    tau = np.zeros(len(state.v))
    peer = sample.peer()
    tau[peer.free] = peer.bias + peer.mass @ (10.0 * np.random.default_rng(seed).normal(size=len(peer.mass)))
    wanted = forward_dynamics(chain, state, tau).qdd
    again = forward_dynamics(chain, state, inverse_dynamics(chain, state, wanted)).qdd
    assert difference(again, wanted, loop_free(peer, tau)) < 1e-9


def other_side(sample):
    """The same chain with first and second link of every connection exchanged."""
    mirror = random_chain(sample.seed, links=len(sample.chain.links), loops=0)
    for grip in list(mirror.chain.connections):
        mirror.chain.cut(grip)
    for grip in sample.chain.connections:
        first, second = mirror.chain[grip.parent.name], mirror.chain[grip.real.name]
        mirror.chain.connect(first, second, joint=grip.joint, at=grip.at, to=grip.anchor)
    state = mirror.chain.state()
    state.q[:], state.v[:], state.time = sample.state.q, sample.state.v, sample.state.time
    return Sample(sample.seed, mirror.chain, state, mirror.motions)


@pytest.mark.parametrize("seed", range(400, 430))
def test_motion_does_not_depend_on_which_side_is_virtual(seed):
    sample = random_chain(seed, links=6, loops=3)
    swapped = other_side(sample)
    for end in (sample, swapped):
        end.run = simulate(end.chain, end.state, duration=0.2, step=5e-4, integrator="rkmk4")
    assert np.max(np.abs(sample.run.positions - swapped.run.positions)) < 1e-9
    assert np.max(np.abs(sample.run.rotations - swapped.run.rotations)) < 1e-9


class Ring:
    """Bodies in a ring from the world back to the world, to be described with any one of its joints cut.

    All joints are at zero in the start: joint k sits between body k-1 and body k at the world pose places[k].
    """

    def __init__(self, seed, joints):
        rng = np.random.default_rng(seed)
        self.joints = joints
        self.places = [random_pose(rng) for _ in joints]
        self.bodies = [random_inertia(rng) for _ in joints[1:]]  # in the frame of the joint before the body

    def described(self, cut):
        """(chain, links, offsets) with joint number `cut` as the connection; offset: the body's frame in its link."""
        chain = Chain(gravity=(1.0, 2.0, -9.0))
        count = len(self.bodies)
        links, offsets = [None] * count, [None] * count
        frames = [Pose()] * count
        ways = [(range(cut), -1, 0), (range(count - 1, cut - 1, -1), 1, 1)]
        for way, before, after in ways:
            for k in way:
                neighbour = k + before
                parent = links[neighbour] if 0 <= neighbour < count else None
                parent_frame = frames[neighbour] if parent is not None else Pose()
                frames[k] = self.places[k + after]
                offsets[k] = frames[k].inverse() @ self.places[k]
                at = parent_frame.inverse() @ frames[k]
                inertia = moved(self.bodies[k], offsets[k])
                links[k] = chain.add(f"body {k}", parent=parent, joint=self.joints[k + after], at=at, inertia=inertia)
        first, second = (cut - 1, cut) if cut > 0 else (cut, cut - 1)
        ends = [(links[k], frames[k]) if 0 <= k < count else (chain.world, Pose()) for k in (first, second)]
        (one, one_frame), (two, two_frame) = ends
        place = self.places[cut]
        to = two_frame.inverse() @ place
        chain.connect(one, two, joint=self.joints[cut], at=one_frame.inverse() @ place, to=to)
        return chain, links, offsets


def moved(inertia, offset):
    """A body's inertia in another frame; offset: the old frame in the new one."""
    rotation = np.stack([offset.apply(axis) - np.array(offset.position) for axis in np.eye(3)], axis=1)
    tensor = rotation @ inertia.tensor @ rotation.T
    return type(inertia)(mass=inertia.mass, com=offset.apply(inertia.com), tensor=0.5 * (tensor + tensor.T))


def set_twists(chain, state, links, twists):
    """Joint velocities that give the bodies these world twists about the world's origin; all joints are at zero."""
    for link, twist in zip(links, twists):
        parent = links.index(link.parent) if link.parent in links else None
        relative = twist - (twists[parent] if parent is not None else 0.0)
        pose = state.pose(link)
        axes = np.stack([pose.apply(axis) - np.array(pose.position) for axis in np.eye(3)], axis=1)
        if link.joint.name in ("revolute", "prismatic", "cylindrical", "planar"):
            axes = axes @ np.array(link.joint.frame)
        angular = axes.T @ relative[:3]
        linear = axes.T @ (relative[3:] + np.cross(relative[:3], pose.position))
        velocity = {
            "fixed": None,
            "revolute": angular[2],
            "prismatic": linear[2],
            "cylindrical": (angular[2], linear[2]),
            "planar": (angular[2], linear[0], linear[1]),
            "spherical": angular,
        }[link.joint.name]
        if velocity is not None:
            state.set(link, velocity=velocity)


RINGS = {
    "hinges": lambda rng: [Joint.revolute(random_unit(rng)) for _ in range(8)],
    "balls": lambda rng: [Joint.spherical() for _ in range(4)],
    "planar four-bar": lambda rng: [Joint.revolute((0, 0, 1)) for _ in range(4)],
    "all kinds": lambda rng: [
        Joint.spherical(),
        Joint.planar(random_unit(rng)),
        Joint.cylindrical(random_unit(rng)),
        Joint.revolute(random_unit(rng)),
        Joint.fixed(),
        Joint.prismatic(random_unit(rng)),
    ],
}


@pytest.mark.parametrize("kind", RINGS)
@pytest.mark.parametrize("seed", range(3))
def test_motion_does_not_depend_on_which_joint_was_cut(kind, seed):
    rng = np.random.default_rng(seed)
    ring = Ring(seed, RINGS[kind](rng))
    if kind == "planar four-bar":
        ring.places = [Pose(position=point) for point in ((0, 0, 0), (0.1, 0.5, 0), (0.8, 0.6, 0), (0.9, 0, 0))]
    twists, motions = None, []
    for cut in range(len(ring.joints)):
        chain, links, offsets = ring.described(cut)
        state = chain.state()
        if twists is None:
            state.v[:] = rng.normal(size=len(state.v))
            state = impact(chain, state)
            twists = [about_origin(state.twist(link), state.pose(link).position) for link in links]
            assert max(np.abs(twist).max() for twist in twists) > 0.1, "the ring is stuck: nothing is tested"
        else:
            set_twists(chain, state, links, twists)
        run = simulate(chain, state, duration=0.2, step=5e-4, integrator="rkmk4")
        end = run.state(len(run.times) - 1)
        motions.append([(end.pose(link) @ offset).apply(np.ones(3)) for link, offset in zip(links, offsets)])
    for other in motions[1:]:
        assert np.max(np.abs(np.array(other) - motions[0])) < 1e-9


def about_origin(twist, point):
    return np.concatenate([twist[:3], twist[3:] + np.cross(point, twist[:3])])
