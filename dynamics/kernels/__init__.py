# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels: each does one thing to the arrays of a model (what the chain is) and its data (where it is now)."""
