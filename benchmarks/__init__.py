# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and accuracy of the dynamics library, side by side with MuJoCo and Pinocchio: python -m benchmarks."""
