# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre of mass and inertia tensor of a link."""

from dataclasses import dataclass

import numpy as np

from .pose import check_vector


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass (kg), centre of mass (3, link frame), tensor (3x3 about the centre of mass, link axes, kg m^2)."""

    mass: float = 0.0
    com: np.ndarray = (0.0, 0.0, 0.0)
    tensor: np.ndarray = ((0.0,) * 3,) * 3

    def __post_init__(self):
        if not isinstance(self.mass, int | float | np.number) or not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise ValueError(f"mass must be a finite number that is not negative, not {self.mass!r}")
        mass = float(self.mass)
        tensor = np.array(self.tensor, dtype=np.float64)
        if tensor.shape != (3, 3):
            raise ValueError(f"inertia tensor must be 3x3, not of shape {tensor.shape}")
        if not np.isfinite(tensor).all():
            raise ValueError("inertia tensor is not finite")
        size = np.abs(tensor).max()
        if np.abs(tensor - tensor.T).max() > 1e-9 * size:
            raise ValueError(f"inertia tensor is not symmetric: {tensor.tolist()}")
        tensor = 0.5 * (tensor + tensor.T)
        principal = np.linalg.eigvalsh(tensor)
        if principal[0] < -1e-9 * size:
            raise ValueError(f"inertia tensor has a negative principal moment {principal[0]:g}")
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "com", check_vector(self.com, 3, "centre of mass"))
        object.__setattr__(self, "tensor", tensor)

    @classmethod
    def box(cls, mass, size, com=(0.0, 0.0, 0.0)):
        """A uniform box."""
        x, y, z = check_vector(size, 3, "size of a box") ** 2
        return cls(mass, com, np.diag([y + z, x + z, x + y]) * (mass / 12.0))

    @classmethod
    def rod(cls, mass, start, end):
        """A thin uniform rod between two points."""
        start, end = check_vector(start, 3, "start of a rod"), check_vector(end, 3, "end of a rod")
        along = end - start
        return cls(mass, 0.5 * (start + end), (along @ along * np.eye(3) - np.outer(along, along)) * (mass / 12.0))
