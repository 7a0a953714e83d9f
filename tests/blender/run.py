# SPDX-License-Identifier: GPL-3.0-or-later
"""Run tests/blender inside Blender: python run.py ZIP [pytest arguments], with the Python of a bpy environment.

The zip is installed as an animator would install it, into an empty user folder; the tests then see the extension as
bl_ext.user_default.trapeze and nothing of the repository but this folder.
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def install(archive):
    import bpy

    result = bpy.ops.extensions.package_install_files(
        filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
    )
    if result != {"FINISHED"} or "bl_ext.user_default.trapeze" not in bpy.context.preferences.addons:
        raise SystemExit(f"{archive} could not be installed and enabled; Blender's message is above")


def main():
    archive, *arguments = sys.argv[1:]
    # Blender ignores the variable unless the folder exists.
    os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="trapeze-"))
    os.environ["TRAPEZE_ZIP"] = os.path.abspath(archive)
    # A relative entry would make the repository importable, and the tests would test that instead of the zip.
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != ROOT]
    install(os.environ["TRAPEZE_ZIP"])

    import pytest

    if not any(os.path.exists(argument.partition("::")[0]) for argument in arguments):
        arguments.append(str(HERE))
    return pytest.main([f"--rootdir={ROOT}", f"--confcutdir={HERE}", "-o", "pythonpath=", *arguments])


if __name__ == "__main__":
    code = 1
    try:
        code = int(main())
    finally:
        # Not sys.exit: Blender 4.2 and 4.5 may crash or hang when the interpreter winds down.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
