# SPDX-License-Identifier: GPL-3.0-or-later
"""The same chain in Pinocchio, with its loops solved as a dense least-squares problem in numpy.

Only the description of the chain is read (links, joints, frames, inertias, connections); none of our kernels run here.
Our coordinates are angular first, quaternions scalar first; Pinocchio's are linear first, scalar last.
"""

import numpy as np
import pinocchio as pin

# Directions (angular x y z, linear x y z, in Joint.frame) that a connecting joint does not let go.
HELD = {
    "fixed": (0, 1, 2, 3, 4, 5),
    "revolute": (0, 1, 3, 4, 5),
    "prismatic": (0, 1, 2, 3, 4),
    "cylindrical": (0, 1, 3, 4),
    "planar": (0, 1, 5),
    "spherical": (3, 4, 5),
    "free": (),
}
# Singular values of the mass-weighted loop Jacobian below this share of the largest count as zero.
RANK_TOLERANCE = 1e-9


def placement(pose):
    """A Pose of ours as Pinocchio's SE3."""
    w, x, y, z = pose.rotation
    return pin.SE3(pin.Quaternion(w, x, y, z).normalized().toRotationMatrix(), np.array(pose.position, dtype=float))


def axis_placement(joint):
    """Turns Pinocchio's z axis onto the joint's axis."""
    if joint.name in ("revolute", "prismatic", "cylindrical", "planar"):
        return pin.SE3(np.array(joint.frame), np.zeros(3))
    return pin.SE3.Identity()


def angular_first(vectors):
    """Spatial vectors with Pinocchio's linear part first, turned round."""
    return np.concatenate([vectors[3:], vectors[:3]])


def depth_first(chain):
    """The links with every subtree in one piece, as Pinocchio's mass matrix needs them."""
    children = {}
    for link in chain.links:
        children.setdefault(link.parent, []).append(link)
    waiting = children.get(chain.world, [])[::-1]
    while waiting:
        link = waiting.pop()
        yield link
        waiting.extend(children.get(link, [])[::-1])


class Peer:
    """A chain as a Pinocchio model. Call update(state) first; what it leaves is in the chain's own layout.

    motions tells how driven links move: for each an object with pose(t), twist(t) and acceleration(t), the last two
    in the link's own frame, angular first.

    free (nv)                which entries of v are not those of driven links: n of them
    mass (n, n), bias (n)    of the tree; the bias has the accelerations of driven links in it
    J, drift                 J @ qdd[free] = drift is what the loops ask of the accelerations; rows may be redundant
    row_velocity             J @ v[free] = row_velocity is what they ask of the velocities
    """

    def __init__(self, chain, motions=None):
        self.chain = chain
        self.motions = motions or {}
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(chain.gravity, dtype=float), np.zeros(3))
        self.joint_of, self.frame_of = {chain.world: 0}, {chain.world: pin.SE3.Identity()}
        made = {}
        for link in depth_first(chain):
            made[link] = self.add(link)
        # (link, Pinocchio joints) of every link with coordinates, in the order of our q and v
        self.slots = [(link, made[link]) for link in chain.links if made[link]]
        self.data = self.model.createData()
        places = [(self.order(joint), link not in self.motions) for link, joints in self.slots for joint in joints]
        # where our velocities are in Pinocchio's vector
        self.index = np.concatenate([order for order, _ in places] or [[]]).astype(int)
        self.free = np.concatenate([np.full(len(order), free) for order, free in places] or [[]]).astype(bool)
        self.free_index, self.driven_index = self.index[self.free], self.index[~self.free]

    def add(self, link):
        parent = self.joint_of[link.parent]
        turn = axis_placement(link.joint)
        place = self.frame_of[link.parent] * placement(link.at) * turn
        kind = link.joint.name
        joints = ()
        if kind == "fixed":
            self.joint_of[link], self.frame_of[link] = parent, place
        else:
            joints = self.add_joints(kind, parent, place, link.name)
            self.joint_of[link], self.frame_of[link] = joints[-1], turn.inverse()
        if link.inertia is not None:
            inertia = pin.Inertia(link.inertia.mass, np.array(link.inertia.com), np.array(link.inertia.tensor))
            self.model.appendBodyToJoint(self.joint_of[link], inertia, self.frame_of[link])
        return joints

    def add_joints(self, kind, parent, place, name):
        if kind == "cylindrical":
            middle = self.model.addJoint(parent, pin.JointModelRZ(), place, name + " turning")
            return middle, self.model.addJoint(middle, pin.JointModelPZ(), pin.SE3.Identity(), name)
        make = {
            "revolute": pin.JointModelRZ,
            "prismatic": pin.JointModelPZ,
            "planar": pin.JointModelPlanar,
            "spherical": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[kind]
        return (self.model.addJoint(parent, make(), place, name),)

    def order(self, joint):
        """Places of one joint's velocities in Pinocchio's vector, in our order: angular before linear."""
        first, count = self.model.idx_vs[joint], self.model.nvs[joint]
        order = {6: (3, 4, 5, 0, 1, 2)}.get(count, range(count))
        if self.model.joints[joint].shortname() == "JointModelPlanar":
            order = (2, 0, 1)
        return first + np.array(order)

    def configuration(self, state):
        """Our q as Pinocchio's."""
        q = pin.neutral(self.model)
        at = 0
        for link, joints in self.slots:
            kind = link.joint.name
            first = self.model.idx_qs[joints[0]]
            if kind in ("revolute", "prismatic"):
                count = 1
                q[first] = state.q[at]
            elif kind == "cylindrical":
                count = 2
                q[first], q[self.model.idx_qs[joints[1]]] = state.q[at : at + 2]
            elif kind == "planar":
                count = 3
                angle, x, y = state.q[at : at + 3]
                q[first : first + 4] = x, y, np.cos(angle), np.sin(angle)
            elif kind == "spherical":
                count = 4
                q[first : first + 4] = np.roll(state.q[at : at + 4], -1)
            else:
                count = 7
                q[first : first + 3] = state.q[at + 4 : at + 7]
                q[first + 3 : first + 7] = np.roll(state.q[at : at + 4], -1)
            at += count
        assert at == len(state.q), "the chain's q is laid out otherwise than its conventions say"
        for link, motion in self.motions.items():
            pose = motion.pose(state.time)
            first = self.model.idx_qs[self.joint_of[link]]
            q[first : first + 3] = pose.position
            q[first + 3 : first + 7] = np.roll(pose.rotation, -1)
        return q

    def velocity(self, state):
        """Our v as Pinocchio's."""
        v = np.zeros(self.model.nv)
        v[self.index] = state.v
        for link, motion in self.motions.items():
            v[self.order(self.joint_of[link])] = motion.twist(state.time)
        return v

    def update(self, state):
        """Everything at one state."""
        self.q, self.v = self.configuration(state), self.velocity(state)
        driven_acceleration = np.zeros(self.model.nv)
        for link, motion in self.motions.items():
            driven_acceleration[self.order(self.joint_of[link])] = motion.acceleration(state.time)
        self.driven_qdd = driven_acceleration[self.driven_index]
        whole_bias = pin.rnea(self.model, self.data, self.q, self.v, driven_acceleration)
        pin.forwardKinematics(self.model, self.data, self.q, self.v, driven_acceleration)
        drifts = [self.data.oMi[i].act(self.data.a[i]).np.copy() for i in range(self.model.njoints)]
        mass = np.array(pin.crba(self.model, self.data, self.q))
        mass = np.triu(mass) + np.triu(mass, 1).T
        pin.computeJointJacobians(self.model, self.data, self.q)
        self.mass = mass[np.ix_(self.free_index, self.free_index)]
        self.bias = whole_bias[self.free_index]
        self.collect_loops(drifts)
        return self

    def energies(self, state):
        """Kinetic and potential energy; the latter is zero at the world's origin."""
        q = self.configuration(state)
        kinetic = pin.computeKineticEnergy(self.model, self.data, q, self.velocity(state))
        return kinetic, pin.computePotentialEnergy(self.model, self.data, q)

    def momentum(self, state):
        """Angular momentum about the centre of mass, then linear momentum."""
        q, v = self.configuration(state), self.velocity(state)
        momentum = pin.computeCentroidalMomentum(self.model, self.data, q, v)
        return angular_first(momentum.np)

    def spatial_jacobian(self, link):
        """(6, nv) of Pinocchio, linear part first, world axes about the world's origin."""
        joint = self.joint_of[link]
        if joint == 0:
            return np.zeros((6, self.model.nv))
        return np.reshape(pin.getJointJacobian(self.model, self.data, joint, pin.WORLD), (6, self.model.nv))

    def link_placement(self, link):
        """World placement of a link's frame."""
        return self.data.oMi[self.joint_of[link]] * self.frame_of[link]

    def twist(self, link):
        """World twist about the link's origin, angular first."""
        velocity = pin.Motion(self.spatial_jacobian(link) @ self.v)
        origin = self.link_placement(link).translation
        return np.concatenate([velocity.angular, velocity.linear + np.cross(velocity.angular, origin)])

    def collect_loops(self, drifts):
        """One row for each direction that a connection holds, in the joint frame that rides on the first link.

        There the held directions are constant, so with u = V_first - V_second the rows are
        C' X u = 0 and, a derivative later, C' X (du/dt - V_first x u) = 0.
        """
        rows, drift, driven, self.jacobians = [], [], [], {}
        for grip in self.chain.connections:
            first, second = self.spatial_jacobian(grip.real), self.spatial_jacobian(grip.parent)
            frame = self.link_placement(grip.real) * placement(grip.anchor) * axis_placement(grip.joint)
            to_frame = frame.inverse().toActionMatrix()
            relative, velocity = pin.Motion((first - second) @ self.v), pin.Motion(first @ self.v)
            change = drifts[self.joint_of[grip.real]] - drifts[self.joint_of[grip.parent]]
            change = change - velocity.cross(relative).np
            held = list(HELD[grip.joint.name])
            whole = angular_first(to_frame @ (first - second))[held]
            rows.append(whole[:, self.free_index])
            driven.append(whole[:, self.driven_index])
            drift.append(-angular_first(to_frame @ change)[held])
            self.jacobians[grip] = (first - second)[:, self.free_index]
        size = len(self.free_index)
        self.J = np.concatenate(rows or [np.zeros((0, size))])
        self.drift = np.concatenate(drift or [np.zeros(0)])
        self.J_driven = np.concatenate(driven or [np.zeros((0, len(self.driven_index)))])
        self.row_velocity = -self.J_driven @ self.v[self.driven_index]

    def weighted(self):
        """Loop Jacobian per unit of kinetic energy, J L^-T with M = L L', its singular values, and L."""
        lower = np.linalg.cholesky(self.mass)
        jacobian = np.linalg.solve(lower, self.J.T).T
        return lower, jacobian, np.linalg.svd(jacobian, compute_uv=False) if jacobian.size else np.zeros(0)

    def nearest(self, wanted, target):
        """The vector nearest to wanted in the mass metric with J @ vector = target, by dense least squares."""
        if not self.J.size:
            return wanted
        lower, jacobian, _ = self.weighted()
        step = np.linalg.lstsq(jacobian, target - self.J @ wanted, rcond=RANK_TOLERANCE)[0]
        return wanted + np.linalg.solve(lower.T, step)

    def accelerations(self, tau):
        """Gauss' principle: of all accelerations the loops allow, the nearest to the free ones in the mass metric."""
        qdd = np.empty(len(self.free))
        qdd[self.free] = self.nearest(np.linalg.solve(self.mass, tau[self.free] - self.bias), self.drift)
        qdd[~self.free] = self.driven_qdd
        return qdd

    def rank(self):
        """Number of independent rows."""
        values = self.weighted()[2]
        return int(np.sum(values > RANK_TOLERANCE * values.max(initial=0.0)))

    def follows_driven(self):
        """Whether the chain can follow its driven links wherever they go: their rows add nothing to the rank."""
        residual = self.J_driven - self.J @ np.linalg.lstsq(self.J, self.J_driven, rcond=RANK_TOLERANCE)[0]
        return bool(np.all(np.abs(residual) < 1e-9 * max(1.0, np.abs(self.J_driven).max(initial=0.0))))

    def generalized(self, grip, reaction):
        """Joint forces of a wrench [moment; force] that acts on a grip's first link, and reversed on its second."""
        frame = self.link_placement(grip.real) * placement(grip.anchor)
        moment = reaction[:3] + np.cross(frame.translation, reaction[3:])
        return self.jacobians[grip].T @ np.concatenate([reaction[3:], moment])
