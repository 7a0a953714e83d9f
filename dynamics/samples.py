# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample chains with known behaviour, shared by tests, benchmarks and examples.

Every function gives (chain, state, links): the chain, its starting state, and its links by name.
"""

from typing import NamedTuple

import numpy as np

from . import Chain, Inertia, Joint, Pose

GRAVITY = (0.0, 0.0, -9.81)


class Part(NamedTuple):
    """One link of the reference figure; in the zero pose every frame is parallel to the world (X forward, Y left)."""

    name: str
    parent: str | None
    joint: str  # free, ball, or hinge (about y)
    origin: tuple  # the joint in the parent's frame
    com: tuple
    mass: float
    box: tuple  # the uniform box about the centre of mass that gives the inertia
    start: tuple | float  # quaternion (w, x, y, z) or angle in the starting pose, hanging on the bar
    rates: tuple  # joint velocities of the open case, in the link's frame


# 17 links, 46 coordinates, 70 kg.
FIGURE = (
    Part("pelvis", None, "free", (0, 0, 0), (0, 0, 0.02), 11.0, (0.2, 0.3, 0.18),
         (0.990957678509, 0.006231139604, 0.124518922433, 0.04958921516),
         (0, 0, 0, 0.1257302210933933, -0.1321048632913019, 0.6404226504432821)),
    Part("chest", "pelvis", "ball", (0, 0, 0.12), (0, 0, 0.2), 19.0, (0.22, 0.32, 0.4),
         (0.997188818112, 0, -0.074929707273, 0),
         (0.20980023430607941, -1.071338746322222, 0.7231901098189695)),
    Part("head", "chest", "ball", (0, 0, 0.42), (0.02, 0, 0.14), 5.0, (0.18, 0.16, 0.25),
         (0.998750260395, 0, 0.049979169271, 0),
         (2.6080000902602745, 1.8941619262584843, -1.4074704716139852)),
    Part("lclav", "chest", "ball", (0, 0.03, 0.36), (0, 0.075, 0), 1.0, (0.06, 0.15, 0.06),
         (0.995004165278, 0.099833416647, 0, 0),
         (-2.530842942092105, -1.2465489250747044, 0.0826519586944872)),
    Part("luarm", "lclav", "ball", (0, 0.15, 0), (0, 0, -0.14), 2.0, (0.08, 0.08, 0.28),
         (-0.194486914997, -0.004863186081, 0.980586543908, -0.024519772096),
         (-4.650061549277669, -0.43758332786509146, -2.4918218945061303)),
    Part("lfarm", "luarm", "hinge", (0, 0, -0.28), (0, 0, -0.12), 1.2, (0.06, 0.06, 0.25),
         -0.35, (-1.4645347094069032,)),
    Part("lhand", "lfarm", "ball", (0, 0, -0.25), (0, 0, -0.07), 0.5, (0.04, 0.08, 0.16),
         (0.999687516276, -0.024997395915, 0, 0),
         (-1.0885179657146198, -0.6326003127383091, 0.8232610727482657)),
    Part("rclav", "chest", "ball", (0, -0.03, 0.36), (0, -0.075, 0), 1.0, (0.06, 0.15, 0.06),
         (0.995004165278, -0.099833416647, 0, 0),
         (2.085026738885355, -0.2570693258880685, 2.7329269410993717)),
    Part("ruarm", "rclav", "ball", (0, -0.15, 0), (0, 0, -0.14), 2.0, (0.08, 0.08, 0.28),
         (-0.194486914997, 0.004863186081, 0.980586543908, 0.024519772096),
         (-1.330389346973227, 0.7030201401860394, 1.8069403633036172)),
    Part("rfarm", "ruarm", "hinge", (0, 0, -0.28), (0, 0, -0.12), 1.2, (0.06, 0.06, 0.25),
         -0.35, (0.18802459552174913,)),
    Part("rhand", "rfarm", "ball", (0, 0, -0.25), (0, 0, -0.07), 0.5, (0.04, 0.08, 0.16),
         (0.999687516276, 0.024997395915, 0, 0),
         (-1.4869984987076168, -1.8434507525168389, -0.9154516513346783)),
    Part("lthigh", "pelvis", "ball", (0, 0.09, -0.06), (0, 0, -0.18), 8.0, (0.14, 0.14, 0.42),
         (0.899321777947, 0.045003598148, -0.434421940456, 0.021739216056),
         (0.4403902469400988, -2.019236367077472, -0.41835114974342613)),
    Part("lshank", "lthigh", "hinge", (0, 0, -0.42), (0, 0, -0.18), 3.6, (0.1, 0.1, 0.42),
         0.6, (-0.31845001982895543,)),
    Part("lfoot", "lshank", "ball", (0, 0, -0.42), (0.06, 0, -0.04), 1.2, (0.25, 0.09, 0.07),
         (0.995004165278, 0, 0.099833416647, 0),
         (1.0816911693716154, 0.4293182450126818, 0.7107454180798428)),
    Part("rthigh", "pelvis", "ball", (0, -0.09, -0.06), (0, 0, -0.18), 8.0, (0.14, 0.14, 0.42),
         (0.977311432429, -0.073436101785, -0.198110835171, -0.014886234801),
         (-1.3076572188366788, -0.2592272673855389, 1.567950940122659)),
    Part("rshank", "rthigh", "hinge", (0, 0, -0.42), (0, 0, -0.18), 3.6, (0.1, 0.1, 0.42),
         0.6, (2.9868622904415214,)),
    Part("rfoot", "rshank", "ball", (0, 0, -0.42), (0.06, 0, -0.04), 1.2, (0.25, 0.09, 0.07), (1, 0, 0, 0),
         (-2.5181310642082404, 3.027847549478125, 2.691750847564609)),
)  # fmt: skip
ROOT_POSITION = (0.0, 0.0, 1.0)
HANDS = ("lhand", "rhand")
GRIP_IN_HAND = (0.0, 0.0, -0.08)
HINGE_HALF_WIDTH = 0.05  # a hand's hinge is two points this far either side of the grip, along the hand's y

FIGURE_JOINTS = {"free": Joint.free(), "ball": Joint.spherical(), "hinge": Joint.revolute((0, 1, 0))}


def add_figure(chain, prefix=""):
    """Adds the reference figure to a chain; links by name, without the prefix."""
    links = {}
    for part in FIGURE:
        links[part.name] = chain.add(
            prefix + part.name,
            parent=links.get(part.parent),
            joint=FIGURE_JOINTS[part.joint],
            at=Pose(position=part.origin),
            inertia=Inertia.box(part.mass, part.box, part.com),
        )
    return links


def pose_figure(state, links, moving=False, shift=(0.0, 0.0, 0.0)):
    """Puts a figure into its starting pose, at rest or with the velocities of the open case."""
    for part in FIGURE:
        start = {"angle": part.start} if part.joint == "hinge" else {"rotation": part.start}
        if part.joint == "free":
            start["position"] = np.add(ROOT_POSITION, shift)
        if moving:
            start["velocity"] = part.rates[0] if part.joint == "hinge" else part.rates
        state.set(links[part.name], **start)


def reference_figure(moving=False, gravity=None, copies=1):
    """The reference figure in its starting pose: at rest under gravity, or moving without gravity.

    Of several copies, each three metres from the last, only the first one's links are returned.
    """
    if gravity is None:
        gravity = (0.0, 0.0, 0.0) if moving else GRAVITY
    chain = Chain(gravity=gravity)
    figures = [add_figure(chain, f"{i} " if i else "") for i in range(copies)]
    state = chain.state()
    for i, links in enumerate(figures):
        pose_figure(state, links, moving, shift=(0.0, 3.0 * i, 0.0))
    return chain, state, figures[0]


def hang(chain, state, how="weld"):
    """Connects both hands of the reference figure to the world where they are; the connections, left hand first.

    "weld" is one fixed joint per hand; "hinge" two points per hand, six rows of rank five.
    """
    if how not in ("weld", "hinge"):
        raise ValueError(f'how is {how!r}; use "weld" or "hinge"')
    grip = np.array(GRIP_IN_HAND)
    aside = np.array((0.0, HINGE_HALF_WIDTH, 0.0))
    joint, points = (Joint.fixed(), (grip,)) if how == "weld" else (Joint.spherical(), (grip + aside, grip - aside))
    return [
        chain.connect(chain[hand], chain.world, joint=joint, at=Pose(position=point), state=state)
        for hand in HANDS
        for point in points
    ]


def pendulum():
    """A point mass of 1 kg on a massless bar of 1 m, level at (-1, 0) and at rest; it swings in the x-z plane."""
    chain = Chain(gravity=GRAVITY)
    bob = chain.add("bob", joint=Joint.revolute((0, 1, 0)), inertia=Inertia(mass=1.0, com=(-1.0, 0.0, 0.0)))
    return chain, chain.state(), {"bob": bob}


def hanging_chain(count, length=0.2, mass=0.5):
    """Equal rods end to end on ball joints, the first one on the world, all of them level and at rest."""
    chain = Chain(gravity=GRAVITY)
    inertia = Inertia.box(mass, (length, 0.04, 0.04), com=(0.5 * length, 0, 0))
    links, last = {}, None
    for i in range(count):
        at = Pose() if last is None else Pose(position=(length, 0.0, 0.0))
        last = chain.add(f"rod {i}", parent=last, joint=Joint.spherical(), at=at, inertia=inertia)
        links[last.name] = last
    return chain, chain.state(), links


def double_four_bar():
    """Three upright cranks joined by two couplers, all bars 1 m and 1 kg; the first crank's top moves at 1 m/s along x.

    Each loop is planar, so of its five rows only two count; when all bars lie flat the mobility changes.
    """
    chain = Chain(gravity=GRAVITY)
    hinge = Joint.revolute((0, 1, 0))
    top = Pose(position=(0.0, 0.0, 1.0))
    crank, coupler = (Inertia.rod(1.0, (0, 0, 0), end) for end in ((0, 0, 1), (1, 0, 0)))
    links = {}
    for i in range(3):
        links[f"crank {i}"] = chain.add(f"crank {i}", joint=hinge, at=Pose(position=(i, 0.0, 0.0)), inertia=crank)
    for i in range(2):
        links[f"coupler {i}"] = chain.add(f"coupler {i}", links[f"crank {i}"], hinge, top, coupler)
    state = chain.state()
    for i in range(3):
        state.set(links[f"crank {i}"], velocity=1.0)
    for i in range(2):
        state.set(links[f"coupler {i}"], velocity=-1.0)  # couplers move without turning
        chain.connect(
            links[f"coupler {i}"], links[f"crank {i + 1}"], joint=hinge, at=Pose(position=(1.0, 0.0, 0.0)), to=top
        )
    return chain, state, links


def parallelogram(rotation=(0.5, 0.1, -0.7, 0.5), cranks=2):
    """Equal parallel cranks carrying one coupler, in a plane that lies anyhow in space: always redundant."""
    chain = Chain(gravity=GRAVITY)
    rotation = np.asarray(rotation, dtype=float) / np.linalg.norm(rotation)
    hinge = Joint.revolute((0, 1, 0))
    plane = Pose(position=(0.2, -0.1, 0.4), rotation=rotation)
    top = Pose(position=(0.0, 0.0, 0.6))
    links = {}
    inertia = Inertia.rod(1.0, (0, 0, 0), top.position)
    for i in range(cranks):
        at = plane @ Pose(position=(0.5 * i, 0.0, 0.0))
        links[f"crank {i}"] = chain.add(f"crank {i}", joint=hinge, at=at, inertia=inertia)
    inertia = Inertia.rod(2.0, (0, 0, 0), (0.5 * (cranks - 1), 0, 0))
    coupler = links["coupler"] = chain.add("coupler", links["crank 0"], hinge, top, inertia)
    state = chain.state()
    for i in range(cranks):
        state.set(links[f"crank {i}"], angle=0.4, velocity=1.5)
    state.set(coupler, angle=-0.4, velocity=-1.5)
    for i in range(1, cranks):
        chain.connect(coupler, links[f"crank {i}"], joint=hinge, at=Pose(position=(0.5 * i, 0.0, 0.0)), to=top)
    return chain, state, links


ANDREWS_MOTOR = 0.033  # N m, on the joint of "crank" (beta)
ANDREWS_COORDINATES = ("crank", "rod", "rocker", "upper link", "upper arm", "lower link", "lower arm")


def andrews():
    """Andrews' squeezing mechanism: seven planar bodies in the x-y plane, three loops, a spring, a motor on the crank.

    The joint angles of ANDREWS_COORDINATES are beta, Theta, gamma, Phi, delta, Omega, epsilon of the Test Set for IVP
    Solvers; its bodies 1, 2, 3, 4, 5, 6, 7 come in that order too. The motor's torque is for the caller to apply.
    """
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    hinge = Joint.revolute((0, 0, 1))
    a, b, c = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    # name, parent, joint in the parent's frame, com, mass, moment about the com, starting angle
    bodies = (
        ("crank", None, (0, 0, 0), (0.00092, 0, 0), 0.04325, 2.194e-6, -0.0617138900142764),
        ("rod", "crank", (0.007, 0, 0), (-0.0115, 0, 0), 0.00365, 4.410e-7, 0.0),
        ("rocker", None, b, (0.01043, -0.01874, 0), 0.02373, 5.255e-6, 0.455279819163070),
        ("upper arm", None, a, (0.02308, 0.00916, 0), 0.07050, 1.169e-5, 0.487364979543843),
        ("upper link", "upper arm", (0.04, 0, 0), (0, 0.01421 - 0.02, 0), 0.00706, 5.667e-7, 0.222668390165886),
        ("lower arm", None, a, (0.00449, -0.01228, 0), 0.05498, 1.912e-5, 1.230547444549821),
        ("lower link", "lower arm", (0, -0.04, 0), (0.02 - 0.01421, 0, 0), 0.00706, 5.667e-7, -0.222668390165886),
    )
    links = {}
    for name, parent, origin, com, mass, moment, _ in bodies:
        # Only the moment about z acts; the other two make a body that could exist.
        inertia = Inertia(mass=mass, com=com, tensor=moment * np.diag([0.5, 0.5, 1.0]))
        at = Pose(position=origin)
        links[name] = chain.add(name, parent=links.get(parent), joint=hinge, at=at, inertia=inertia)
    state = chain.state()
    for name, *_, angle in bodies:
        state.set(links[name], angle=angle)
    meeting = Pose(position=(-0.028, 0.0, 0.0))
    for name, end in (("rocker", (0, -0.035, 0)), ("upper link", (0, -0.02, 0)), ("lower link", (0.02, 0, 0))):
        chain.connect(links["rod"], links[name], joint=hinge, at=meeting, to=Pose(position=end))
    chain.spring(links["rocker"], chain.world, at=(0.02, -0.018, 0.0), to=c, stiffness=4530.0, rest=0.07785)
    return chain, state, links
