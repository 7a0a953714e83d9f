# SPDX-License-Identifier: GPL-3.0-or-later
"""What dev.py runs inside Blender: scripts for the Python of a bpy environment."""
