# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests without Blender share. Those in tests/blender need a Blender: tests/blender/run.py starts them."""

from hypothesis import settings

collect_ignore = ["blender"]

# No deadline: the first example compiles kernels. The blob and the seed of a failure are printed, to run it again.
settings.register_profile("trapeze", deadline=None, print_blob=True)
settings.load_profile("trapeze")
