# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a chain is and how it moves: the coordinates q, the velocities v and the time."""

from math import isfinite

import numpy as np

from .compile import compiled
from .jit import kernel
from .joint import CYLINDRICAL, FREE, LOOP_ROWS, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from .kernels.kinematics import move_links, place_links, spread_columns
from .motion import joint_tables
from .pose import Pose, check_quaternion, check_vector, conjugate, matrix_of

UNIT = 1e-6  # a quaternion's squared length may be off by this much; kernels keep it within rounding


class State:
    """The complete state of a chain. Fits the tree it was made for; using it after a tree joint was cut raises.

    q (nq), v (nv)   flat arrays, joints in the order of chain.links
    time             s
    impulse          after impact(): the impulse of every connection, on its first link
    """

    def __init__(self, chain, q, v, time=0.0):
        self.chain, self.q, self.v, self.time = chain, q, v, time
        self.tree_stamp = chain.tree_stamp
        self.impulse = {}

    @classmethod
    def at_rest(cls, chain):
        joints = [link.joint.rest() for link in chain.links]
        count = sum(link.joint.freedoms for link in chain.links)
        state = cls(chain, np.concatenate(joints) if joints else np.zeros(0), np.zeros(count))
        if any(link.follows is not None for link in chain.links):
            state.check(chain)
        return state

    def copy(self):
        other = State(self.chain, np.array(self.q, dtype=np.float64), np.array(self.v, dtype=np.float64), self.time)
        other.tree_stamp = self.tree_stamp
        return other

    # -- joints -------------------------------------------------------------------------------------------------------

    def places(self, link):
        """The slices of a link's joint in q and in v."""
        self.check(self.chain)
        link = self.chain.find(link)
        if link.real is not None:
            raise ValueError(f"{link.name} is a virtual link; its joint has no place in q")
        if link is self.chain.world:
            raise ValueError("the world has no coordinates")
        tree, i = self.chain.compiled_tree, link.index + 1
        s, d = int(tree.q_start[i]), int(tree.v_start[i])
        return slice(s, s + link.joint.coordinates), slice(d, d + link.joint.freedoms)

    def coordinates(self, link):
        """(q, v) of one link's joint, as copies."""
        places = self.places(link)
        return self.q[places[0]].copy(), self.v[places[1]].copy()

    def set(self, link, position=None, rotation=None, angle=None, slide=None, velocity=None):
        """Set parts of a joint: what is left out stays.

        rotation   quaternion, spherical and free;  position   free (3), planar (2, in the plane)
        angle      revolute, cylindrical, planar;   slide      prismatic, cylindrical
        velocity   as many numbers as the joint has freedoms, link frame
        """
        q_place, v_place = self.places(link)
        link = self.chain.find(link)
        kind, name = link.joint.kind, link.name
        if link.follows is not None:
            raise ValueError(f"link {name} follows {link.follows[0].name}: set that one instead")
        q = self.q[q_place].copy()
        if rotation is not None:
            _allow(kind in (SPHERICAL, FREE), link, "a rotation")
            q[:4] = check_quaternion(rotation, f"rotation of {name}")
        if position is not None:
            _allow(kind in (FREE, PLANAR), link, "a position")
            if kind == FREE:
                q[4:] = check_vector(position, 3, f"position of {name}")
            else:
                q[1:] = check_vector(position, 2, f"position of {name}")
        if angle is not None:
            _allow(kind in (REVOLUTE, CYLINDRICAL, PLANAR), link, "an angle")
            q[0] = check_vector(np.ravel(angle), 1, f"angle of {name}")[0]
        if slide is not None:
            _allow(kind in (PRISMATIC, CYLINDRICAL), link, "a slide")
            q[-1] = check_vector(np.ravel(slide), 1, f"slide of {name}")[0]
        if velocity is not None:
            self.v[v_place] = check_vector(np.ravel(velocity), link.joint.freedoms, f"velocity of {name}")
        self.q[q_place] = q
        self.check(self.chain)

    # -- links --------------------------------------------------------------------------------------------------------

    def pose(self, link):
        """World pose of a link; of a virtual link, that of its real link."""
        link = self._whole(link)
        if link is self.chain.world:
            return Pose()
        here = self._load()
        place_links(compiled(self.chain).model, compiled(self.chain).data)
        return Pose(here.position[link.index + 1], here.rotation[link.index + 1])

    def twist(self, link):
        """World twist of a link: [angular velocity; velocity of the link origin]."""
        link = self._whole(link)
        if link is self.chain.world:
            return np.zeros(6)
        here, form = self._load(), compiled(self.chain)
        place_links(form.model, form.data)
        spread_columns(form.model, form.data)
        move_links(form.model, form.data)
        i = link.index + 1
        twist = here.twist[i].copy()
        twist[3:] += np.cross(twist[:3], here.position[i] - here.position[form.arrays.root[i]])
        return twist

    def joint_pose(self, grip):
        """Pose of a connection's joint frame on the first link, relative to the one on the second: where the joint is.
        """
        grip = self.chain.find(grip)
        if grip.real is None:
            raise ValueError(f"{grip.name} is not a connection")
        return (self.pose(grip.parent) @ grip.at).inverse() @ self.pose(grip.real) @ grip.anchor

    def opening(self, grip, second):
        """How far the rows of a connection are open, (rows): angles and distances in the second link's joint frame."""
        base = self.pose(second) @ grip.at @ Pose(rotation=grip.joint.alignment)
        relative = base.inverse() @ self.pose(grip.real) @ grip.anchor @ Pose(rotation=grip.joint.alignment)
        w, x, y, z = relative.rotation if relative.rotation[0] >= 0.0 else -relative.rotation
        rows = LOOP_ROWS[grip.joint.kind]
        # as in kernels/loops.py: the z axes alone are compared where turning about z is free
        turns = 2.0 * np.array([x, y, z]) if 2 in rows else 2.0 * np.array([w * x - y * z, x * z + w * y, 0.0])
        return np.concatenate([turns, relative.position])[list(rows)]

    # -- structure ----------------------------------------------------------------------------------------------------

    def check(self, chain):
        """Raise if the state does not fit the chain's tree any more, or q and v are not as many numbers as it has.

        Mimic joints are put where their leaders have them.
        """
        if self.tree_stamp != chain.tree_stamp:
            raise ValueError("the state is stale: links were added or a tree joint was cut since it was made")
        if chain.compiled_tree is None:
            compiled(chain)
        nq, nv = chain.compiled_tree.nq, chain.compiled_tree.nv
        if self.q.__class__ is not np.ndarray or self.q.dtype != np.float64 or self.q.shape != (nq,):
            self.q = _numbers(self.q, nq, "q")
        if self.v.__class__ is not np.ndarray or self.v.dtype != np.float64 or self.v.shape != (nv,):
            self.v = _numbers(self.v, nv, "v")
        tree = chain.compiled_tree
        if len(tree.follower):
            d, q, leader = tree.follower.T
            self.q[q] = tree.ratio[d] * self.q[leader] + tree.offset
            self.v[d] = tree.ratio[d] * self.v[tree.lead[d]]

    def check_numbers(self, chain):
        """Raise if q, v or the time, which scripts may write to, hold what no state can hold; names the link."""
        if not isinstance(self.time, int | float | np.number) or not isfinite(self.time):
            raise ValueError(f"state.time is not a time in seconds: {self.time!r}")
        tree = chain.compiled_tree
        i, what = _first_wrong(tree.kind, tree.q_start, tree.v_start, self.q, self.v)
        if i:
            link = chain.links[i - 1]
            q = self.q[tree.q_start[i] : tree.q_start[i + 1]].tolist()
            v = self.v[tree.v_start[i] : tree.v_start[i + 1]].tolist()
            reason = ("its quaternion is not of length one", "it is not finite")[what]
            raise ValueError(f"the state of link {link.name} is wrong, {reason}: q = {q}, v = {v}")

    def rebuild(self, chain, kept, cut, pose, twist):
        """Fit the chain after the link `cut` was hung on the world by a free joint, with its old pose and twist."""
        self.chain, self.tree_stamp = chain, chain.tree_stamp
        fresh = State.at_rest(chain)
        self.q, self.v = fresh.q, fresh.v
        for link, (q, v) in kept.items():
            q_place, v_place = self.places(link)
            self.q[q_place], self.v[v_place] = q, v
        back = matrix_of(conjugate(pose.rotation))
        q_place, v_place = self.places(cut)
        self.q[q_place] = np.r_[pose.rotation, pose.position]
        self.v[v_place] = np.r_[back @ twist[:3], back @ twist[3:]]

    def take_given(self):
        """Put links with a motion of their own where they are at this time."""
        for link in self.chain.links:
            if link.given is not None:
                q, v, _ = joint_tables(link, [self.time])
                q_place, v_place = self.places(link)
                self.q[q_place] = q[0, : link.joint.coordinates]
                self.v[v_place] = v[0, : link.joint.freedoms]
        return self

    def _whole(self, link):
        link = self.chain.find(link)
        return link if link.real is None else link.real

    def _load(self):
        """Copy q and v into the chain's workspace."""
        self.check(self.chain)
        self.check_numbers(self.chain)
        form = compiled(self.chain)
        if len(form.arrays.prescribed):
            self.take_given()
        form.here.q[:], form.here.v[:] = self.q, self.v
        return form.here


@kernel
def _first_wrong(kind, q_start, v_start, q, v):
    """The first link whose joint has a number that is not finite (and 1), or a quaternion not of length one (and 0)."""
    for i in range(1, kind.shape[0]):
        for k in range(q_start[i], q_start[i + 1]):
            if not np.isfinite(q[k]):
                return i, 1
        for k in range(v_start[i], v_start[i + 1]):
            if not np.isfinite(v[k]):
                return i, 1
        if kind[i] == SPHERICAL or kind[i] == FREE:
            s = q_start[i]
            if abs(q[s] ** 2 + q[s + 1] ** 2 + q[s + 2] ** 2 + q[s + 3] ** 2 - 1.0) > UNIT:
                return i, 0
    return 0, 0


def _numbers(values, count, name):
    """What a script put in the place of q or v, as an array."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"state.{name} must be {count} numbers, not {values!r}") from error
    if array.shape != (count,):
        raise ValueError(f"state.{name} must be {count} numbers, not an array of shape {array.shape}")
    return array


def need_state(state, chain):
    """Raise unless it is a state that fits the chain."""
    if not isinstance(state, State):
        raise ValueError(f"expected a state of the chain, not {state!r}")
    state.check(chain)


def _allow(allowed, link, what):
    if not allowed:
        raise ValueError(f"link {link.name}: a {link.joint.name} joint has no place for {what}")
