# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulations of paper 000 §VII-B with the library alone: python -m examples.high_bar, python -m examples.swing."""
