# SPDX-License-Identifier: GPL-3.0-or-later
"""Mimic joints: paper 003's mechanisms against closed forms, real loops and Pinocchio's matrices folded in numpy."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from dynamics import (
    BallLimit,
    Chain,
    Connect,
    Cut,
    Driven,
    HingeLimit,
    Impedance,
    Inertia,
    Joint,
    JointMotion,
    Keyed,
    Pose,
    bias_forces,
    closed_loop,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    multipliers,
    natural,
    simulate,
)
from dynamics.compile import compiled
from tests.dynamics.mimics import mimic_chain, multiplier_matrix
from tests.dynamics.oracles import Peer
from tests.dynamics.test_against_pinocchio import AGREEMENT, difference

HINGE = Joint.revolute((0, 0, 1))
G = 9.81
INTEGRATORS = ("euler", "semi_implicit", "midpoint", "rkmk4")


def along(x):
    return Pose(position=(x, 0.0, 0.0))


def parallelogram(how, moment=1.0 / 3.0):
    """Paper 003 Fig. 1: links of 2 m and 1 kg, their centres of mass half way, in a vertical plane.

    moment   of each link about its centre of mass; the paper's 4/3 kg m^2 is that of a slender link about its end,
             m l^2 / 3, which is 1/3 about the middle
    """
    chain = Chain(gravity=(0.0, -G, 0.0))
    bar = Inertia(mass=1.0, com=(1.0, 0.0, 0.0), tensor=np.diag([moment, moment, moment]))
    active = chain.add("01", joint=HINGE, inertia=bar)
    coupler = chain.add("02", parent=active, joint=HINGE, at=along(2.0), inertia=bar)
    passive = chain.add("03", joint=HINGE, at=along(2.0), inertia=bar)
    if how == "mimic":
        chain.mimic(coupler, of=active, factor=-1.0)
        chain.mimic(passive, of=active)
    else:
        chain.connect(coupler, passive, joint=HINGE, at=along(2.0), to=along(2.0))
    return chain


def put(chain, angle, rate):
    """A state of the parallelogram, all three joints."""
    state = chain.state()
    state.set("01", angle=angle, velocity=rate)
    if chain.connections:
        state.set("02", angle=-angle, velocity=-rate)
        state.set("03", angle=angle, velocity=rate)
    return state


@pytest.mark.parametrize("moment", [1.0 / 3.0, 4.0 / 3.0])
@pytest.mark.parametrize("how", ["mimic", "loop"])
def test_torque_of_the_parallelogram(how, moment):
    """Fig. 1 (c), q = 2 t^2: two cranks turn about their ends, the coupler goes round with them without turning.

    torque = (2 (moment + m (l/2)^2) + m l^2) q-double-dot + g cos q (m l/2 + m l/2 + m l)
    """
    chain = parallelogram(how, moment)
    # the real loop begins flat, where it can move in two ways; mimic joints know one only
    for t in np.linspace(0.0, 1.0, 101)[0 if how == "mimic" else 1 :]:
        angle, rate, change = 2.0 * t**2, 4.0 * t, 4.0
        state = put(chain, angle, rate)
        exact = (2.0 * (moment + 1.0) + 4.0) * change + G * np.cos(angle) * 4.0
        qdd = np.array([change, -change, change])
        assert abs(inverse_dynamics(chain, state, qdd, actuated=[0]).tau[0] - exact) < 1e-9
        tau = np.array([exact, 0.0, 0.0])
        assert np.abs(forward_dynamics(chain, state, tau).qdd - qdd).max() < 1e-9
        if how == "mimic":
            assert np.abs(inverse_dynamics(chain, state, qdd) - tau).max() < 1e-9


def test_a_keyed_leader_takes_its_followers_along():
    """The same torque when the motion is keyed, and where everything is."""
    chain = parallelogram("mimic")
    chain.mimic("03", of="02", factor=-0.5, offset=0.25)
    chain.act("01", Keyed(lambda t: 2.0 * t**2))
    run = simulate(chain, chain.state(), 1.0, 1 / 240)
    for i in range(0, len(run), 24):
        t, state = run.times[i], run.state(i)
        q, v = 2.0 * t**2 * np.array([1, -1, 0.5]) + [0, 0, 0.25], 4.0 * t * np.array([1, -1, 0.5])
        assert np.abs(state.q - q).max() < 1e-9 and np.abs(state.v - v).max() < 1e-9
        answer = forward_dynamics(chain, state)
        assert np.abs(answer.qdd - [4, -4, 2]).max() < 1e-8  # differences of a function of time
        # crank 01 with the coupler's mass at its end, crank 03 by a half
        exact = (4.0 / 3.0 + 4.0 + 0.25 * 4.0 / 3.0) * 4.0 + G * (3.0 * np.cos(q[0]) + 0.5 * np.cos(q[2]))
        assert abs(inverse_dynamics(chain, state, answer.qdd)[0] - exact) < 1e-7


def shoulder(how):
    """The tree of paper 003 Fig. 3 (b): joints 100-200, 200-222, 222-223, 223-300, 300-400, 400-600, 200-232, 232-233.

    A double parallelogram. Cranks 222 and 300, and 232, which is twice as long, are parallel; 223 and 233 do not turn.
    """
    chain = Chain(gravity=(1.0, 2.0, -G))
    rng = np.random.default_rng(3)

    def body():
        return Inertia.box(rng.uniform(0.5, 2.0), rng.uniform(0.05, 0.3, 3), rng.uniform(-0.1, 0.1, 3))

    long, wide, step = 0.3, 0.2, 0.05
    tilt = Pose(position=(0.1, 0.2, 0.1), rotation=(0.8, 0.3, -0.4, 0.3))
    base = chain.add("200", joint=Joint.revolute((0, 1, 0)), inertia=body())
    one = chain.add("222", base, HINGE, tilt, body())
    level = chain.add("223", one, HINGE, along(long), body())
    upper = chain.add("300", level, HINGE, along(step), body())
    arm = chain.add("400", upper, Joint.revolute((1, 0, 0)), along(long), body())
    chain.add("600", arm, Joint.revolute((0, 1, 0)), along(0.2), body())
    two = chain.add("232", base, HINGE, tilt @ along(wide), body())
    top = chain.add("233", two, HINGE, along(2.0 * long), body())
    if how == "mimic":
        for name, factor in (("222", 1.0), ("223", -1.0), ("300", 1.0), ("233", -1.0)):
            chain.mimic(name, of=two, factor=factor)
    else:
        chain.connect(level, two, joint=HINGE, at=along(wide), to=along(long))
        chain.connect(upper, top, joint=HINGE, at=along(long), to=along(step - wide))
    state = chain.state()
    for name, angle, rate in (("200", 0.3, -1.0), ("400", 0.5, 2.0), ("600", -0.7, 1.0), ("232", 1.1, 1.5)):
        state.set(name, angle=angle, velocity=rate)
    if how == "loop":
        for name, sign in (("222", 1.0), ("223", -1.0), ("300", 1.0), ("233", -1.0)):
            state.set(name, angle=1.1 * sign, velocity=1.5 * sign)
    return chain, state


def test_multiplier_matrix_of_the_paper():
    """003 (20) and (21), number by number."""
    fold = multipliers(parallelogram("mimic"))
    assert fold.matrix.tolist() == [[1.0], [-1.0], [1.0]] and not fold.offset.any()
    fold = multipliers(shoulder("mimic")[0])
    assert fold.matrix.tolist() == [
        [1, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 0, -1],
        [0, 0, 0, 1],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
        [0, 0, 0, -1],
    ]
    assert not fold.offset.any() and fold.independent.tolist() == [0, 4, 5, 6]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_mimic_joints_and_real_loops_move_alike(integrator):
    """The loops hold by projection what the mimic joints are by construction."""
    pairs = [[(chain, put(chain, 0.4, 1.5)) for chain in (parallelogram("mimic"), parallelogram("loop"))]]
    pairs += [[shoulder("mimic"), shoulder("loop")]]
    for pair in pairs:
        tau = np.random.default_rng(1).normal(size=len(pair[0][1].v))
        accelerations = [forward_dynamics(chain, state, tau).qdd for chain, state in pair]
        assert difference(*accelerations) < 1e-9
        # midpoint solves its equations to 0.01 h^2 of the acceleration, so it needs short steps to show 1e-9
        step = 1e-4 if integrator == "midpoint" else 1e-3
        runs = [simulate(chain, state, 0.3, step, integrator, tau=tau) for chain, state in pair]
        assert np.abs(runs[0].positions - runs[1].positions).max() < 1e-9
        assert np.abs(runs[0].rotations - runs[1].rotations).max() < 1e-9


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "filled in"])
@pytest.mark.parametrize("seed", range(120))
def test_random_chains_against_folded_pinocchio(seed, dense):
    sample = mimic_chain(seed)
    chain, state, peer = sample.chain, sample.state, sample.peer()
    if dense:
        compiled(chain, dense=True)
    tau = 5.0 * np.random.default_rng(seed).normal(size=len(state.v))
    free = peer.free
    gain, offset, active = multiplier_matrix(chain, sample.follows)
    fold = multipliers(chain)
    assert np.allclose(fold.matrix, gain) and np.allclose(fold.offset, offset) and (fold.independent == active).all()
    assert difference(mass_matrix(chain, state)[np.ix_(free, free)], peer.tree_mass) < AGREEMENT
    assert difference(bias_forces(chain, state)[free], peer.tree_bias) < AGREEMENT
    answer = forward_dynamics(chain, state, tau)
    floor = loop_free_acceleration(peer, tau)
    assert difference(answer.qdd, peer.accelerations(tau), floor) < AGREEMENT
    if chain.connections:
        assert closed_loop(chain, state).mobility == np.sum(free[active]) - peer.rank()
    forces = [peer.gain.T @ tau[free], -peer.bias, -peer.mass @ answer.qdd[active][free[active]]]
    forces += [peer.generalized(grip, answer.reaction[grip]) for grip in chain.connections]
    assert np.max(np.abs(sum(forces)), initial=0.0) < AGREEMENT * np.max(np.abs(forces), initial=1e-3)
    again = inverse_dynamics(chain, state, answer.qdd)
    assert not again[np.setdiff1d(np.arange(len(again)), active)].any()
    qdd = np.zeros(peer.model.nv)
    qdd[peer.index] = answer.qdd
    needed = gain.T @ pin.rnea(peer.model, peer.data, peer.q, peer.v, qdd)[peer.index]
    assert difference(again[active], needed, 1.0) < AGREEMENT
    assert difference(forward_dynamics(chain, state, again).qdd, answer.qdd, floor) < AGREEMENT


def loop_free_acceleration(peer, tau):
    """As loop_free() of the chains without mimic joints."""
    return 1e-3 * np.max(np.abs(np.linalg.solve(peer.mass, peer.gain.T @ tau[peer.free] - peer.bias)), initial=1.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", range(200, 212))
def test_followers_never_leave_their_leaders(seed, integrator):
    sample = mimic_chain(seed, links=8, loops=1)
    gain, offset, active = multiplier_matrix(sample.chain, sample.follows)
    run = simulate(sample.chain, sample.state, 0.1, 1e-3, integrator)
    assert run.closure.max() < 1e-9
    for i in range(0, len(run), 20):
        state = run.state(i)
        assert np.abs(state.v - gain @ state.v[active]).max() < 1e-13 * (1.0 + np.abs(state.v).max())
        for link, (leader, factor, shift) in sample.follows.items():
            q, wanted = state.coordinates(link)[0][0], factor * state.coordinates(leader)[0][0] + shift
            assert abs(q - wanted) < 1e-13 * (1.0 + abs(wanted))


@pytest.mark.parametrize("seed", range(300, 312))
def test_energy_is_kept(seed):
    """No force but gravity; Pinocchio counts. rkmk4 at half the step must be an order of 16 nearer."""
    sample = mimic_chain(seed, links=6, loops=int(seed) % 3, driven=0)
    sample.state.v *= 0.5
    errors = []
    for step in (1e-3, 5e-4):
        run = simulate(sample.chain, sample.state, 0.2, step, "rkmk4")
        peer = Peer(sample.chain)
        total = [np.sum(peer.energies(run.state(i))) for i in (0, len(run) - 1)]
        assert abs(total[1] - run.energy[-1]) < 1e-9 * (1.0 + abs(total[1]))
        errors.append(abs(total[1] - total[0]) / (1.0 + run.kinetic.max()))
    assert errors[1] < 1e-6 and (errors[1] < errors[0] / 8.0 or errors[0] < 1e-10)


def test_what_acts_in_a_follower_acts_through_its_leader():
    """A muscle and friction in the coupler's joint, against the one equation that is left, integrated by scipy."""
    chain = parallelogram("mimic")
    chain.mimic("03", of="01", factor=0.5, offset=0.2)
    chain.act("03", Driven(stiffness=60.0, damping=2.0, goal=lambda t: np.array([0.3 * np.sin(3.0 * t)])))
    chain.act("02", None, Impedance(viscous=0.7, inertia=0.4, lift=0.3))
    inertia = 4.0 / 3.0 + 4.0 + 0.25 * 4.0 / 3.0 + 0.4

    def rate(t, y):
        q, v = y
        pull = 60.0 * (0.3 * np.sin(3.0 * t) - 0.5 * q - 0.2) + 2.0 * (0.9 * np.cos(3.0 * t) - 0.5 * v)
        # the coupler does not turn: its weight turns its joint by m g l/2, of which 0.3 are lifted
        torque = 0.5 * pull - 0.7 * v - G * (3.0 * np.cos(q) + 0.5 * np.cos(0.5 * q + 0.2)) - 0.3 * G
        return v, torque / inertia

    exact = solve_ivp(rate, (0.0, 1.0), (0.3, 1.0), rtol=1e-12, atol=1e-12).y[:, -1]
    # global errors of order h^4, h^2 and h at these steps
    for integrator, step, error in (("rkmk4", 1e-3, 1e-9), ("midpoint", 1e-3, 1e-5), ("semi_implicit", 1e-4, 1e-3)):
        run = simulate(chain, put(chain, 0.3, 1.0), 1.0, step, integrator)
        assert np.abs(np.array([run.state(-1).q[0], run.state(-1).v[0]]) - exact).max() < error
        if integrator == "rkmk4":
            # muscle and friction did all the work
            assert np.abs(run.unexplained).max() < 1e-6 * run.kinetic.max()


def test_natural_stiffness_is_that_of_what_moves():
    """Both muscles make the whole mechanism swing at 2 Hz, the one through a factor of a half."""
    chain = parallelogram("mimic")
    chain.mimic("03", of="01", factor=0.5)
    whole = 4.0 / 3.0 + 4.0 + 0.25 * 4.0 / 3.0
    rate = 4.0 * np.pi
    assert np.isclose(natural(chain, chain.state(), chain["01"], 2.0)[0], whole * rate**2, rtol=1e-12)
    assert np.isclose(0.25 * natural(chain, chain.state(), chain["03"], 2.0)[0], whole * rate**2, rtol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "midpoint"])
def test_a_stop_of_a_follower_stops_its_leader(integrator):
    """A follower at half the angle, with a stop at 0.2 rad: its leader swings to 0.4 rad and no further, and whatever
    the stop does takes energy.
    """
    chain = parallelogram("mimic")
    chain.gravity[:] = 0.0
    chain.mimic("03", of="01", factor=-0.5)
    chain.act("03", limit=HingeLimit(-0.2, 0.5))
    run = simulate(chain, put(chain, 0.0, 1.0), 1.0, 1 / 240, integrator)
    angles = np.array([run.state(i).q[0] for i in range(len(run))])
    assert 0.39 < angles.max() < 0.4 + 2.0 * np.radians(0.5)
    assert np.diff(run.energy).max() < 1e-6 * run.energy[0]


def test_dry_friction_of_a_follower_brings_it_to_rest():
    """Coulomb friction of 2 N m, through a factor of 3: constant deceleration, then rest, at v^2 / 2a."""
    chain = Chain(gravity=(0.0, 0.0, 0.0))
    bar = Inertia(mass=1.0, com=(1.0, 0.0, 0.0), tensor=np.eye(3))
    chain.add("a", joint=HINGE, inertia=bar)
    chain.add("b", joint=Joint.prismatic((1, 0, 0)), inertia=bar)
    chain.mimic("b", of="a", factor=3.0)
    chain.act("b", impedance=Impedance(coulomb=2.0))
    state = chain.state()
    state.set("a", velocity=1.0)
    run = simulate(chain, state, 3.0, 1e-3)
    assert abs(run.state(-1).q[0] - 0.5 * (2.0 + 9.0) / 6.0) < 1e-3
    assert abs(run.state(-1).v[0]) < 1e-5


def test_structure_changes_with_mimic_joints():
    """Grips come and go; a leader that is cut off has no followers any more."""
    chain = parallelogram("mimic")
    end = Connect(0.1, "02", "world", Joint.spherical(), along(1.0))
    run = simulate(chain, put(chain, 0.4, 1.0), 0.4, 1e-3, "rkmk4", events=[end, Cut(0.2, end), Cut(0.3, "01")])
    held = run.state(150)
    assert np.abs(held.v).max() < 1e-9 and abs(held.q[0] + held.q[1]) < 1e-15
    assert run.energy[0] > run.energy[150] and np.ptp(run.energy[201:300]) < 1e-9
    last = run.chain(-1)
    assert last["02"].follows is None and last["03"].follows is None
    assert multipliers(last).matrix.shape == (8, 8)
    assert np.ptp(run.energy[301:]) < 1e-8
    chain.mimic("02")
    assert chain["02"].follows is None and multipliers(chain).independent.tolist() == [0, 1]


def test_refusals_name_the_links_and_change_nothing():
    chain = parallelogram("mimic")
    ball = chain.add("ball", "02", Joint.spherical(), inertia=Inertia.box(1.0, (1, 1, 1)))
    grip = chain.connect(ball, chain.world, Joint.spherical(), to=Pose())
    stamp = chain.stamp
    keyed = Keyed(JointMotion([0.0, 1.0], [0.0, 1.0]))
    refused = [
        (dict(link="01", of="01"), "01 cannot follow itself"),
        (dict(link="01", of="03"), "01 cannot follow 03: 03 follows 01 already"),
        (dict(link="01", of="ball"), "ball has a spherical one"),
        (dict(link="ball", of="01"), "ball has a spherical one"),
        (dict(link="02", of="world"), "world has a fixed one"),
        (dict(link="02", of=grip), "virtual link"),
        (dict(link="02", of="03", factor=0.0), "factor 0"),
        (dict(link="02", of="03", factor=np.nan), "02 follows 03: factor must be"),
        (dict(link="02", of="03", offset=np.inf), "02 follows 03: offset must be"),
        (dict(link="02", of="03", factor="much"), "02 follows 03: factor must be"),
        (dict(link="02", of="nobody"), "nobody"),
    ]
    for arguments, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            chain.mimic(**arguments)
    with pytest.raises(ValueError, match="02 follows 01 and cannot be keyed: key 01 instead"):
        chain.act("02", keyed)
    with pytest.raises(ValueError, match="03 follows 01: set that one instead"):
        chain.state().set("03", angle=1.0)
    with pytest.raises(ValueError, match="ball limit does not fit"):
        chain.act("03", limit=BallLimit())
    assert chain.stamp == stamp
    chain.mimic("02")
    chain.act("02", keyed)
    with pytest.raises(ValueError, match="02 is keyed, so it cannot follow 01"):
        chain.mimic("02", of="01")
