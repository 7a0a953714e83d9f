# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward dynamics of structure-varying kinematic chains (Nakamura & Yamane 2000), as a plain Python library."""

from .chain import Chain, Link
from .events import Act, Connect, Cut, Push, Reaction, Travel
from .feed_forward import FeedForward, feed_forward
from .forward import bias_forces, forward_dynamics, impact, mass_matrix
from .inertia import Inertia
from .joint import Joint
from .loop import closed_loop, inverse_dynamics
from .mimic import Multipliers, multipliers
from .motion import JointMotion, Motion
from .muscle import BallLimit, Driven, HingeLimit, Impedance, Keyed, natural
from .pose import Pose
from .push import push
from .run import Run, SimulationDiverged
from .simulate import simulate
from .state import State

__all__ = [
    "Act", "BallLimit", "Chain", "Connect", "Cut", "Driven", "FeedForward", "HingeLimit", "Impedance", "Inertia",
    "Joint", "JointMotion", "Keyed", "Link", "Motion", "Multipliers", "Pose", "Push", "Reaction", "Run",
    "SimulationDiverged", "State", "Travel", "bias_forces", "closed_loop", "feed_forward", "forward_dynamics", "impact",
    "inverse_dynamics", "mass_matrix", "multipliers", "natural", "push", "simulate",
]  # fmt: skip
