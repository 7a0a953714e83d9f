# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample chains in MuJoCo: the same links, joints, starting states and holds, written as MJCF."""

import mujoco
import numpy as np

from dynamics import Inertia
from dynamics.samples import FIGURE, GRIP_IN_HAND, HANDS, HINGE_HALF_WIDTH, ROOT_POSITION

JOINTS = {
    "free": '<freejoint name="{0}"/>',
    "ball": '<joint name="{0}" type="ball"/>',
    "hinge": '<joint name="{0}" type="hinge" axis="0 1 0"/>',
}


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def body(name, joint, origin, com, mass, tensor, inside):
    """One link as MJCF, with whatever belongs inside it."""
    return (
        f'<body name="{name}" pos="{numbers(origin)}">{JOINTS[joint].format(name)}'
        f'<inertial pos="{numbers(com)}" mass="{mass}" diaginertia="{numbers(np.diag(tensor))}"/>{inside}</body>'
    )


def document(bodies, step, integrator, gravity, equality="", stiffest=False):
    """A whole model around some bodies. stiffest: constraint times as short as a step allows, for accuracy."""
    times = f'solref="{2 * step!r} 1" solimp="0.9999 0.9999 0.001"' if stiffest else ""
    default = f"<default><equality {times}/></default>" if stiffest else ""
    return (
        f'<mujoco><option timestep="{step!r}" integrator="{integrator}" gravity="0 0 {gravity}"/>{default}'
        f"<worldbody>{bodies}</worldbody><equality>{equality}</equality></mujoco>"
    )


def grip_points(how):
    """Grip points in the hand's frame: one for a weld, two for a hinge."""
    grip, aside = np.array(GRIP_IN_HAND), np.array((0.0, HINGE_HALF_WIDTH, 0.0))
    return {"open": (), "weld": (grip,), "hinge": (grip + aside, grip - aside)}[how]


def figure_document(how, step, integrator, holds=(), copies=1, gravity=None, stiffest=False):
    """MJCF of the reference figure; holds: the world (position, quaternion) that each (hand, point number) keeps."""

    def tree(part, prefix):
        sites = ""
        if part.name in HANDS:
            for i, point in enumerate(grip_points(how)):
                sites += f'<site name="{prefix}{part.name} {i}" pos="{numbers(point)}"/>'
        inside = sites + "".join(tree(child, prefix) for child in FIGURE if child.parent == part.name)
        tensor = Inertia.box(part.mass, part.box).tensor
        return body(prefix + part.name, part.joint, part.origin, part.com, part.mass, tensor, inside)

    bodies = "".join(tree(FIGURE[0], f"{i} " if i else "") for i in range(copies))
    equality = ""
    for (name, i), (position, quaternion) in dict(holds).items():
        bodies += f'<site name="hold {name} {i}" pos="{numbers(position)}" quat="{numbers(quaternion)}"/>'
        kind = "weld" if how == "weld" else "connect"
        equality += f'<{kind} name="{name} {i}" site1="{name} {i}" site2="hold {name} {i}"/>'
    if gravity is None:
        gravity = 0.0 if how == "open" else -9.81
    return document(bodies, step, integrator, gravity, equality, stiffest)


def start(model, data, moving=False, copies=1):
    """Puts the figure into its starting pose; MuJoCo wants a free joint's linear velocity first and in world axes."""
    mujoco.mj_resetData(model, data)
    for i in range(copies):
        for part in FIGURE:
            joint = data.joint((f"{i} " if i else "") + part.name)
            if part.joint == "free":
                joint.qpos[:3] = np.add(ROOT_POSITION, (0.0, 3.0 * i, 0.0))
                joint.qpos[3:] = part.start
            else:
                joint.qpos[:] = part.start
            if moving and part.joint == "free":
                turn = np.zeros(9)
                mujoco.mju_quat2Mat(turn, np.array(part.start, dtype=float))
                joint.qvel[:3] = turn.reshape(3, 3) @ part.rates[3:]
                joint.qvel[3:] = part.rates[:3]
            elif moving:
                joint.qvel[:] = part.rates
    # Ball joints come with twelve digits.
    mujoco.mj_normalizeQuat(model, data.qpos)


def figure(how="open", step=1e-3, integrator="Euler", copies=1, gravity=None, stiffest=False):
    """(model, data) of the reference figure, held as asked where its hands are, in the starting state."""
    loose = mujoco.MjModel.from_xml_string(figure_document(how, step, integrator, copies=copies))
    data = mujoco.MjData(loose)
    start(loose, data, copies=copies)
    mujoco.mj_kinematics(loose, data)
    holds = {}
    for name in HANDS:
        for i in range(len(grip_points(how))):
            site = data.site(f"{name} {i}")
            holds[name, i] = (site.xpos.copy(), data.body(name).xquat.copy())
    text = figure_document(how, step, integrator, holds, copies=copies, gravity=gravity, stiffest=stiffest)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    start(model, data, moving=how == "open", copies=copies)
    return model, data


def hanging_chain(count, step=1e-3, integrator="Euler", length=0.2, mass=0.5):
    """(model, data) of the hanging chain of rods on ball joints."""
    tensor = Inertia.box(mass, (length, 0.04, 0.04)).tensor
    inside = ""
    for i in reversed(range(count)):
        origin = (length if i else 0.0, 0.0, 0.0)
        inside = body(f"rod {i}", "ball", origin, (0.5 * length, 0, 0), mass, tensor, inside)
    model = mujoco.MjModel.from_xml_string(document(inside, step, integrator, -9.81))
    return model, mujoco.MjData(model)
