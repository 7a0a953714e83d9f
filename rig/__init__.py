# SPDX-License-Identifier: GPL-3.0-or-later
"""The only place where Blender data becomes dynamics data and back."""
