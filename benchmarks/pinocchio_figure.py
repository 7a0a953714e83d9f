# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference figure in Pinocchio, which computes accelerations only: one call is what one stage of a step costs."""

import numpy as np
import pinocchio as pin

from dynamics import Inertia
from dynamics.samples import FIGURE, GRIP_IN_HAND, HANDS, HINGE_HALF_WIDTH, ROOT_POSITION

JOINTS = {"free": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical, "hinge": pin.JointModelRY}


def figure_model(gravity=-9.81):
    """(model, q, v) of the figure in its starting pose with the velocities of the open case."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array((0.0, 0.0, gravity)), np.zeros(3))
    joints, q, v = {None: 0}, [], []
    for part in FIGURE:
        place = pin.SE3(np.eye(3), np.array(part.origin, dtype=float))
        joint = model.addJoint(joints[part.parent], JOINTS[part.joint](), place, part.name)
        inertia = pin.Inertia(part.mass, np.array(part.com, dtype=float), Inertia.box(part.mass, part.box).tensor)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        joints[part.name] = joint
        start = np.atleast_1d(np.array(part.start, dtype=float))
        if part.joint != "hinge":  # Pinocchio keeps the scalar last
            start = np.roll(start / np.linalg.norm(start), -1)
        if part.joint == "free":
            q.extend(ROOT_POSITION)
            v.extend(part.rates[3:])
            v.extend(part.rates[:3])
        else:
            v.extend(part.rates)
        q.extend(start)
    return model, np.array(q), np.array(v)


def holds(model, q, how):
    """Constraints that keep both hands where they are in pose q."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    grip, aside = np.array(GRIP_IN_HAND), np.array((0.0, HINGE_HALF_WIDTH, 0.0))
    kind = pin.ContactType.CONTACT_6D if how == "weld" else pin.ContactType.CONTACT_3D
    points = (grip,) if how == "weld" else (grip + aside, grip - aside)
    constraints = []
    for hand in HANDS:
        joint = model.getJointId(hand)
        for point in points:
            place = pin.SE3(np.eye(3), point)
            frame = pin.ReferenceFrame.LOCAL
            constraints.append(pin.RigidConstraintModel(kind, model, joint, place, 0, data.oMi[joint] * place, frame))
    return constraints


def accelerations(how):
    """A function that computes the figure's accelerations once."""
    model, q, v = figure_model(gravity=0.0 if how == "open" else -9.81)
    data = model.createData()
    tau = np.zeros(model.nv)
    if how == "open":
        return lambda: pin.aba(model, data, q, v, tau)
    constraints = pin.StdVec_RigidConstraintModel(holds(model, q, how))
    constraint_data = pin.StdVec_RigidConstraintData([constraint.createData() for constraint in constraints])
    pin.initConstraintDynamics(model, data, constraints, constraint_data)
    # A redundant hinge needs the proximal iteration; a weld is solved by the first one.
    settings = pin.ProximalSettings(1e-12, 1e-8 if how == "hinge" else 0.0, 10)
    rest = np.zeros(model.nv)
    return lambda: pin.constraintDynamics(model, data, q, rest, tau, constraints, constraint_data, settings)
