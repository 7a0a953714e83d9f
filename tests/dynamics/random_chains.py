# SPDX-License-Identifier: GPL-3.0-or-later
"""Random chains from a seed: 1 to 60 links in several trees, every joint type, up to six loops, moving anchors.

Loops close where the chain happens to be. Among them are redundant ones: twin connections between the same two links,
hinges made of two points, parallelograms. Velocities satisfy the loops.
"""

from dataclasses import dataclass, field

import numpy as np

from dynamics import Chain, Inertia, Joint, Pose, impact
from tests.dynamics.oracles import RANK_TOLERANCE, Peer

# A loop is kept only if its rank is beyond doubt: no singular value between RANK_TOLERANCE and this.
CLEAR_RANK = 1e-4


@dataclass
class Sample:
    """A random chain in a random state; motions: how its driven links move, as Peer wants it."""

    seed: int
    chain: Chain
    state: object = None
    motions: dict = field(default_factory=dict)

    def peer(self):
        return Peer(self.chain, self.motions).update(self.state)


def random_unit(rng, size=3):
    vector = rng.normal(size=size)
    return vector / np.linalg.norm(vector)


def random_pose(rng, reach=0.5):
    return Pose(position=rng.uniform(-reach, reach, 3), rotation=random_unit(rng, 4))


def random_inertia(rng):
    """A uniform box, 0.3 to 8 kg, turned and placed anyhow."""
    mass = np.exp(rng.uniform(np.log(0.3), np.log(8.0)))
    x, y, z = np.square(rng.uniform(0.1, 0.5, 3))
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T * mass / 12.0
    return Inertia(mass=mass, com=rng.uniform(-0.2, 0.2, 3), tensor=0.5 * (tensor + tensor.T))


JOINTS = {
    "fixed": lambda rng: Joint.fixed(),
    "revolute": lambda rng: Joint.revolute(random_unit(rng)),
    "prismatic": lambda rng: Joint.prismatic(random_unit(rng)),
    "cylindrical": lambda rng: Joint.cylindrical(random_unit(rng)),
    "planar": lambda rng: Joint.planar(random_unit(rng)),
    "spherical": lambda rng: Joint.spherical(),
    "free": lambda rng: Joint.free(),
}


def random_joint(rng, weights):
    kinds = list(JOINTS)
    return JOINTS[kinds[rng.choice(len(kinds), p=np.array(weights) / sum(weights))]](rng)


class Waving:
    """A motion with known derivatives: sine waves along three axes and two turns about fixed axes, one in the other."""

    def __init__(self, rng):
        self.start, self.sway = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.2, 0.2, 3)
        self.axes = random_unit(rng), random_unit(rng)
        self.angles, self.swings = rng.uniform(-1.0, 1.0, 2), rng.uniform(-0.5, 0.5, 2)
        self.pace, self.turn_pace = rng.uniform(0.5, 4.0, 3), rng.uniform(0.5, 4.0, 2)

    def __call__(self, t):
        return self.pose(t)

    def pose(self, t):
        position = self.start + self.sway * np.sin(self.pace * t)
        first, second = self.angles + self.swings * np.sin(self.turn_pace * t)
        turn = [Pose(rotation=(np.cos(a / 2), *(np.sin(a / 2) * axis))) for a, axis in zip((first, second), self.axes)]
        return Pose(position=position) @ turn[0] @ turn[1]

    def motion(self, t):
        """World angular velocity and acceleration, linear velocity and acceleration, and the rotation matrix."""
        angle = self.angles + self.swings * np.sin(self.turn_pace * t)
        rate = self.swings * self.turn_pace * np.cos(self.turn_pace * t)
        change = -self.swings * self.turn_pace**2 * np.sin(self.turn_pace * t)
        first, second = rotation_matrix(self.axes[0], angle[0]), rotation_matrix(self.axes[1], angle[1])
        outer, inner = rate[0] * self.axes[0], first @ (rate[1] * self.axes[1])
        alpha = change[0] * self.axes[0] + first @ (change[1] * self.axes[1]) + np.cross(outer, inner)
        velocity = self.sway * self.pace * np.cos(self.pace * t)
        acceleration = -self.sway * self.pace**2 * np.sin(self.pace * t)
        return outer + inner, alpha, velocity, acceleration, first @ second

    def twist(self, t):
        omega, _, velocity, _, rotation = self.motion(t)
        return np.concatenate([rotation.T @ omega, rotation.T @ velocity])

    def acceleration(self, t):
        """Rate of change of the twist's components in the link's own frame."""
        omega, alpha, velocity, acceleration, rotation = self.motion(t)
        return np.concatenate([rotation.T @ alpha, rotation.T @ (acceleration - np.cross(omega, velocity))])


def rotation_matrix(axis, angle):
    """Rodrigues' formula."""
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def random_chain(seed, links=None, loops=None):
    """A Sample; number of links and loops drawn from the seed unless given."""
    rng = np.random.default_rng(seed)
    count = links or int(rng.integers(*[(1, 4), (4, 12), (10, 30), (30, 61)][rng.integers(4)]))
    sample = Sample(seed, Chain(gravity=rng.uniform(-10.0, 10.0, 3)))
    driven = int(rng.integers(0, 3)) if count > 2 else 0
    grow(sample, rng, count, driven)
    sample.state = random_state(sample, rng)
    if loops is None:
        loops = int(rng.integers(0, 7))
    for _ in range(loops):
        close_loop(sample, rng)
    sample.state = impact(sample.chain, sample.state)
    return sample


def grow(sample, rng, count, driven):
    """Adds the links: driven ones, parallelograms, and everything else on a random parent or on the world."""
    chain = sample.chain
    for i in range(driven):
        motion = Waving(rng)
        link = chain.add(f"driven {i}", joint=Joint.free(), inertia=random_inertia(rng), motion=motion)
        sample.motions[link] = motion
    # A tree is more often a chain than a bush, and free joints stand mostly at the roots.
    while len(chain.links) < count:
        name = f"link {len(chain.links)}"
        if count - len(chain.links) >= 3 and rng.random() < 0.04:
            add_parallelogram(chain, rng, name)
        elif not chain.links or rng.random() < 0.1:
            joint = random_joint(rng, (1, 3, 1, 1, 1, 3, 8))
            chain.add(name, joint=joint, at=random_pose(rng, 2.0), inertia=random_inertia(rng))
        else:
            parent = chain.links[-1] if rng.random() < 0.5 else chain.links[rng.integers(len(chain.links))]
            joint = random_joint(rng, (1, 6, 2, 2, 2, 5, 0.3))
            chain.add(name, parent=parent, joint=joint, at=random_pose(rng), inertia=random_inertia(rng))


def add_parallelogram(chain, rng, name):
    """Two equal cranks and a coupler on some link; hinge axes are exactly parallel, so the loop is redundant."""
    parent = chain.links[rng.integers(len(chain.links))] if chain.links else None
    plane = random_pose(rng)
    hinge = Joint.revolute((0, 1, 0))
    width, height = rng.uniform(0.3, 0.8, 2)
    cranks = [
        chain.add(f"{name} crank {i}", parent, hinge, plane @ Pose(position=(x, 0, 0)), random_inertia(rng))
        for i, x in enumerate((0.0, width))
    ]
    top = Pose(position=(0.0, 0.0, height))
    coupler = chain.add(f"{name} coupler", cranks[0], hinge, top, random_inertia(rng))
    chain.connect(coupler, cranks[1], joint=hinge, at=Pose(position=(width, 0.0, 0.0)), to=top)


def random_state(sample, rng):
    """Any pose and any velocity of the tree; a parallelogram's three angles go together."""
    state = sample.chain.state()
    state.time = rng.uniform(0.0, 2.0)
    angles = {}
    for link in sample.chain.links:
        kind = link.joint.name
        if link in sample.motions or kind == "fixed":
            continue
        family, _, role = link.name.partition(" crank")
        if role:
            state.set(link, angle=angles.setdefault(family, rng.uniform(-1.0, 1.0)), velocity=rng.normal())
        elif link.name.endswith(" coupler"):
            state.set(link, angle=-angles[link.name.removesuffix(" coupler")], velocity=rng.normal())
        else:
            set_randomly(state, link, kind, rng)
    return state


def set_randomly(state, link, kind, rng):
    if kind == "revolute":
        state.set(link, angle=rng.uniform(-3.0, 3.0), velocity=2.0 * rng.normal())
    elif kind == "prismatic":
        state.set(link, slide=rng.uniform(-0.5, 0.5), velocity=rng.normal())
    elif kind == "cylindrical":
        state.set(link, angle=rng.uniform(-3.0, 3.0), slide=rng.uniform(-0.5, 0.5), velocity=rng.normal(size=2))
    elif kind == "planar":
        state.set(link, angle=rng.uniform(-3.0, 3.0), position=rng.uniform(-0.5, 0.5, 2), velocity=rng.normal(size=3))
    elif kind == "spherical":
        state.set(link, rotation=random_unit(rng, 4), velocity=2.0 * rng.normal(size=3))
    else:
        position = rng.uniform(-1.0, 1.0, 3)
        state.set(link, position=position, rotation=random_unit(rng, 4), velocity=rng.normal(size=6))


def close_loop(sample, rng):
    """Connects two random partners where they are, with a twin now and then; undone if the loop is of doubtful rank."""
    chain, state = sample.chain, sample.state
    partners = [*chain.links, chain.world]
    first = chain.links[rng.integers(len(chain.links))]
    second = partners[rng.integers(len(partners))]
    fixed_both = all(end in sample.motions or end is chain.world for end in (first, second))
    if first is second or fixed_both:
        return
    at = random_pose(rng, 0.2)
    kind = rng.random()
    if kind < 0.6:
        grips = [(random_joint(rng, (2, 3, 2, 2, 2, 4, 0.5)), at)]
    elif kind < 0.8:  # a hinge made of two points
        aside = Pose(position=0.1 * random_unit(rng))
        grips = [(Joint.spherical(), at), (Joint.spherical(), at @ aside)]
    else:  # the same connection twice over
        joint = random_joint(rng, (2, 3, 2, 2, 2, 4, 0.0))
        grips = [(joint, at), (joint, at)]
    made = [chain.connect(first, second, joint=joint, at=place, state=state) for joint, place in grips]
    if not well_posed(sample):
        for grip in made:
            chain.cut(grip)


def well_posed(sample):
    """Whether the loops have a clear rank and can follow the driven links."""
    peer = sample.peer()
    values = peer.weighted()[2]
    share = values / max(values.max(initial=0.0), 1e-300)
    if np.any((share > RANK_TOLERANCE) & (share < CLEAR_RANK)):
        return False
    return peer.follows_driven()
