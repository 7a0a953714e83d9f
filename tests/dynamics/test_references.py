# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmarks of multibody dynamics with published results, and the order of convergence of every integrator.

Pendulum and double four-bar: IFToMM's library of multibody benchmarks. Andrews: Test Set for IVP Solvers.
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from dynamics import forward_dynamics, simulate
from dynamics.samples import (
    ANDREWS_COORDINATES,
    ANDREWS_MOTOR,
    GRAVITY,
    andrews,
    double_four_bar,
    hang,
    parallelogram,
    pendulum,
    reference_figure,
)

CLOSE = 1e-6

# beta, Theta, gamma, Phi, delta, Omega, epsilon at t = 0.03, in the order of ANDREWS_COORDINATES
ANDREWS_END = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
)  # fmt: skip
ANDREWS_ACCELERATIONS = {"crank": 14222.4439, "rod": -10666.8329}


def last(run):
    return run.state(len(run) - 1)


def test_pendulum_after_ten_seconds():
    chain, state, links = pendulum()
    run = simulate(chain, state, 10.0, 5e-3, "rkmk4")
    x, _, z = last(run).pose(links["bob"]).apply((-1.0, 0.0, 0.0))
    assert abs(x - -0.275087462576) < CLOSE
    assert abs(z - -0.961419205099) < CLOSE


def test_pendulum_over_one_period():
    """Every instant beside Jacobi's elliptic functions: let go level, sin(angle / 2) = k cd(w t), k = sin(pi / 4)."""
    chain, state, links = pendulum()
    period = 2.367841947576
    run = simulate(chain, state, period, period / 512, "rkmk4")
    pace = np.sqrt(9.81)
    assert abs(4 * ellipk(0.5) / pace - period) < 1e-12
    _, cn, dn, _ = ellipj(pace * run.times, 0.5)
    angle = 2 * np.arcsin(np.sqrt(0.5) * cn / dn)  # from hanging straight down, positive towards where it started
    bob = np.stack([run.state(i).pose(links["bob"]).apply((-1.0, 0.0, 0.0)) for i in range(len(run))])
    assert np.abs(bob[:, 0] + np.sin(angle)).max() < CLOSE
    assert np.abs(bob[:, 2] + np.cos(angle)).max() < CLOSE
    assert np.abs(run.energy).max() < CLOSE  # at rest at the height of the pivot


def crank_top(step, integrator):
    """First crank's top after ten seconds, and the largest change of energy on the way."""
    chain, state, links = double_four_bar()
    run = simulate(chain, state, 10.0, step, integrator)
    assert run.closure.max() < 1e-9
    top = last(run).pose(links["crank 0"]).apply((0.0, 0.0, 1.0))
    return top[[0, 2]], np.ptp(run.energy)


# Steps of 0.1 ms stop much nearer to the flat pose, where rounding alone turns the motion by more: with the last digit
# of the step, and with how the kernels were compiled, the error there is anything from 6e-6 to 3e-4.
@pytest.mark.parametrize(("step", "close"), [(5e-3, CLOSE), (2e-3, CLOSE), (1e-3, CLOSE), (1e-4, 5e-4)])
def test_double_four_bar(step, close):
    """Again and again all bars lie in one line, where the mobility is larger: no kick, no other branch."""
    top, change = crank_top(step, "rkmk4")
    assert np.abs(top - (0.3284581115, 0.9445185382)).max() < close
    assert change < max(1e-5, close)  # J, of 36


@pytest.mark.parametrize("step", [1 / 60, 1 / 240, 1e-3])
def test_double_four_bar_by_first_order_steps(step):
    """Coarse steps get through as well; here the error happens to be of second order, 7.5 h^2."""
    top, _ = crank_top(step, "semi_implicit")
    assert np.abs(top - (0.3284581115, 0.9445185382)).max() < 10.0 * step**2


@pytest.mark.parametrize("step", [1 / 60, 1 / 240, 1e-3])
def test_double_four_bar_by_midpoint(step):
    top, change = crank_top(step, "midpoint")
    assert np.abs(top - (0.3284581115, 0.9445185382)).max() < 100.0 * step**2
    assert change < 100.0 * step**2


def test_andrews_initial_accelerations():
    chain, state, links = andrews()
    acceleration = dict(zip(ANDREWS_COORDINATES, joint_values(chain, forward_dynamics(chain, state, motor(chain)).qdd)))
    for name in ANDREWS_COORDINATES:
        # the others are zero: the mechanism starts in a dead centre of the crank
        assert abs(acceleration[name] - ANDREWS_ACCELERATIONS.get(name, 0.0)) < 1e-4, name


def test_andrews_squeezing_mechanism():
    chain, state, links = andrews()
    run = simulate(chain, state, 0.03, 1e-5, "rkmk4", tau=motor(chain))
    angles = joint_values(chain, last(run).q)
    assert np.abs(angles - ANDREWS_END).max() < CLOSE
    assert run.closure.max() < 1e-9


def motor(chain):
    tau = np.zeros(len(chain.links))
    tau[chain["crank"].index] = ANDREWS_MOTOR
    return tau


def joint_values(chain, values):
    """One value per hinge, in the order of the test set."""
    return np.array([values[chain[name].index] for name in ANDREWS_COORDINATES])


def hanging(how):
    chain, state, _ = reference_figure()
    hang(chain, state, how)
    return chain, state


SMOOTH = {  # a chain, its state, and a time in which its motion is smooth
    "spinning free figure": lambda: (*reference_figure(moving=True, gravity=GRAVITY)[:2], 0.2),
    "both hands welded": lambda: (*hanging("weld"), 0.1),
    "both hands on redundant hinges": lambda: (*hanging("hinge"), 0.1),
    "parallelogram": lambda: (*parallelogram()[:2], 0.5),
}
ORDERS = {"rkmk4": 4, "midpoint": 2, "semi_implicit": 1, "euler": 1}


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("case", SMOOTH)
def test_order_of_convergence(case, integrator):
    """Halving the step divides the error by 2^order, velocities counted per tenth of a second."""
    chain, state, duration = SMOOTH[case]()
    fine = last(simulate(chain, state, duration, duration / 4096, "rkmk4"))
    errors = []
    for count in (32, 64, 128, 256):
        end = last(simulate(chain, state, duration, duration / count, integrator))
        errors.append(np.abs(np.r_[end.q - fine.q, 0.1 * (end.v - fine.v)]).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.abs(orders - ORDERS[integrator]).max() < 0.25, orders
