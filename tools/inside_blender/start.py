# SPDX-License-Identifier: GPL-3.0-or-later
"""Begin and end of a script inside Blender: the extension comes from the zip, as an animator has it.

dev.py names the user folder in BLENDER_USER_RESOURCES and keeps it, so that compiled kernels last as long as the zip
does not change.
"""

import hashlib
import os
import sys
from pathlib import Path

import bpy

from tests.blender.run import install

EXTENSION = "bl_ext.user_default.trapeze"


def have_extension(archive):
    """Install the zip into the user folder, or only enable it if it is there already; begin with an empty file."""
    import addon_utils  # exists once bpy is there

    stamp_file = Path(os.environ["BLENDER_USER_RESOURCES"]) / "installed"
    stamp = hashlib.sha256(Path(archive).read_bytes()).hexdigest()
    known = stamp_file.exists() and stamp_file.read_text() == stamp
    if not known or not addon_utils.enable(EXTENSION, default_set=True):
        install(str(archive))
        stamp_file.write_text(stamp)
    empty_file()


def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def leave_after(work, *arguments):
    """Do the work and end the process with 0, or with 1 and the trace.

    Not by sys.exit: Blender 4.2 and 4.5 may crash or hang when the interpreter winds down.
    """
    code = 1
    try:
        work(*arguments)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
