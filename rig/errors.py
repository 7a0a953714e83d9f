# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a rig, said to the person who made it."""


class RigError(Exception):
    """Something in the scene cannot be simulated. The message names it and says what to do."""
