# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments made from the pinned files in requirements/, and the Pythons to make them with.

An environment carries a stamp that names the Python and the requirements it was made from. While the stamp
fits, nothing is done; when it does not, the environment is made afresh.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.13")
STAMP = "trapeze-stamp"


class SetupError(Exception):
    """Something outside the project is missing; the message says what to do about it."""


def running_version():
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def default_version():
    """The Python to work with: the running one if the project supports it, else the first supported one found."""
    if running_version() in SUPPORTED:
        return running_version()
    for version in SUPPORTED:
        if find_python(version):
            return version
    raise SetupError(
        f"Trapeze is developed with Python {' or '.join(SUPPORTED)}, this is {running_version()}; "
        f"install one of them and run: python{SUPPORTED[0]} dev.py"
    )


def find_python(version):
    """Command of an interpreter of this version ("3.13") that really runs, or None."""
    for command in _candidates(version):
        try:
            answer = subprocess.run(
                [*command, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True, text=True, timeout=60,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0 and answer.stdout.strip() == version:
            return command
    return None


def _candidates(version):
    if running_version() == version:
        yield [sys.executable]
    yield [f"python{version}"]
    if os.name == "nt":
        yield ["py", f"-{version}"]
    home = Path.home()
    executable = "python.exe" if os.name == "nt" else f"bin/python{version}"
    # Version managers keep interpreters that are not on the PATH.
    stores = [
        Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions",
        home / ".local/share/uv/python",
        home / ".local/share/mise/installs/python",
        home / ".asdf/installs/python",
        Path("/Library/Frameworks/Python.framework/Versions"),
    ]
    for store in stores:
        for folder in sorted(store.glob(f"*{version}*"), reverse=True):
            if (folder / executable).exists():
                yield [str(folder / executable)]


def environment(name, version, requirements):
    """The Python of the environment .venv-NAME with exactly these requirement files installed, made if need be."""
    folder = ROOT / f".venv-{name}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    files = [ROOT / "requirements" / requirement for requirement in requirements]
    stamp = hashlib.sha256(version.encode() + b"".join(file.read_bytes() for file in files)).hexdigest()
    stamp_file = folder / STAMP
    if python.exists() and stamp_file.exists() and stamp_file.read_text() == stamp:
        return python

    base = find_python(version)
    if base is None:
        raise SetupError(
            f"Python {version} with its venv module was not found on this machine; install it "
            f"(on Debian and Ubuntu: sudo apt-get install python{version}-venv)"
        )
    print(f"Setting up {folder.name} from {', '.join(requirements)}: once, needs the network ...", flush=True)
    subprocess.run([*base, "-m", "venv", "--clear", str(folder)], check=True)
    install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--only-binary", ":all:"]
    for file in files:
        install += ["--requirement", file]
    if subprocess.run(install).returncode:
        raise SetupError(f"pip could not install {', '.join(requirements)} into {folder.name}; its message is above.")
    stamp_file.write_text(stamp)
    return python


def dynamics_python(version):
    """The environment of everything that runs without Blender: .venv-3.11 or .venv-3.13."""
    return environment(version, version, ["dynamics.txt"])


def clean_environ(**extra):
    """The caller's environment without what would leak other packages into ours."""
    drop = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "BLENDER_USER_RESOURCES", "BLENDER_SYSTEM_RESOURCES"}
    return {key: value for key, value in os.environ.items() if key not in drop} | extra
