# SPDX-License-Identifier: GPL-3.0-or-later
"""The installable zips: one per platform, with the wheels of every supported Python.

Blender 4.2.13 and later take from a zip only the wheels that fit their own Python, so one zip per platform serves all
of them. A zip is made from a staged copy of the extension by Blender's own packaging tool, which comes with bpy.
"""

import hashlib
import platform
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from tools.environments import ROOT, SetupError, dynamics_python

BUILD = ROOT / "build"
# What of the repository an animator gets.
PACKAGE = ("__init__.py", "properties.py", "dynamics", "rig", "operators", "ui", "LICENSE")
WHEEL_PYTHONS = ("3.11", "3.13", "3.14")
# Blender's platforms, and the wheel platforms that run there: glibc 2.28 and macOS 12 are what Blender itself needs.
PLATFORMS = {
    "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "windows-x64": ["win_amd64"],
    "macos-arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
}


def this_platform():
    system = {"Darwin": "macos"}.get(platform.system(), platform.system().lower())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        raise SetupError(
            f"no zip can be built for {name}: llvmlite has wheels for {', '.join(PLATFORMS)} only; "
            "name one of these with --platform"
        )
    return name


def build(name, packager, version):
    """Build and validate the zip for one platform; nothing is done if its contents have not changed.

    packager  command of Blender's packaging tool
    version   the Python whose pip fetches the wheels
    """
    wheels = fetch_wheels(name, version)
    manifest = manifest_for(name, wheels)
    parsed = tomllib.loads(manifest)
    target = BUILD / f"{parsed['id']}-{parsed['version']}-{name}.zip"
    stamp_file = target.with_suffix(".stamp")
    stamp = _digest(manifest)
    if target.exists() and stamp_file.exists() and stamp_file.read_text() == stamp:
        return target

    # A folder of our own and a rename at the end: another run may be building or installing the same zip.
    with tempfile.TemporaryDirectory(prefix="stage-", dir=BUILD) as folder:
        stage, fresh = Path(folder) / "trapeze", Path(folder) / target.name
        _copy_package(stage, manifest, wheels)
        _run(packager, "build", "--source-dir", stage, "--output-filepath", fresh)
        _run(packager, "validate", fresh)
        fresh.replace(target)
    stamp_file.write_text(stamp)
    return target


def _copy_package(stage, manifest, wheels):
    copies = {stage / file.relative_to(ROOT): file for file in package_files()}
    copies |= {stage / "wheels" / wheel.name: wheel for wheel in wheels}
    for copy, original in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, copy)
    (stage / "blender_manifest.toml").write_text(manifest, encoding="utf-8")


def fetch_wheels(name, version):
    """The wheels for one platform, downloaded into build/wheels if they are not there yet."""
    folder = BUILD / "wheels" / name
    found = []
    for target in WHEEL_PYTHONS:
        requirements = ROOT / "requirements" / f"wheels-{target}.txt"
        pins = [line.split("==") for line in requirements.read_text().splitlines() if "==" in line]
        patterns = [f"{package}-{pin}-cp{target.replace('.', '')}-*.whl" for package, pin in pins]
        if not all(any(folder.glob(pattern)) for pattern in patterns):
            print(f"Downloading the wheels for Python {target} on {name}: once ...", flush=True)
            tags = [argument for tag in PLATFORMS[name] for argument in ("--platform", tag)]
            _run(
                [dynamics_python(version), "-m", "pip"], "download", "-qq", "--disable-pip-version-check", "--no-deps",
                "--only-binary", ":all:", "--implementation", "cp", "--python-version", target, *tags,
                "--dest", folder, "--requirement", requirements,
            )
        found += [wheel for pattern in patterns for wheel in folder.glob(pattern)]
    return found


def package_files():
    """The files of the extension, without wheels and manifest."""
    for entry in PACKAGE:
        path = ROOT / entry
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        else:
            yield path


def manifest_for(name, wheels):
    listed = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels)
    source = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    # Before the text of the manifest: keys that come after a [table] would belong to it.
    return f'platforms = ["{name}"]\nwheels = [\n{listed}]\n\n{source}'


def _digest(manifest):
    digest = hashlib.sha256(manifest.encode())
    for file in package_files():
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _run(command, *arguments):
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{' '.join(map(str, [*command, *arguments]))}\n{done.stdout}{done.stderr}")
