# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything a developer runs. Sets up what it needs by itself, once.

    python3 dev.py demo                    simulate a giant swing in Blender: a scene, a film, a contact sheet
    python3 dev.py demo --scene swing      another act: high_bar, swing, artists or shove
    python3 dev.py test                    all tests, the ones in Blender included
    python3 dev.py test -k impact          arguments that are not dev.py's own go to pytest
    python3 dev.py test tests/dynamics     only there
    python3 dev.py test --all-blenders     in every supported Blender
    python3 dev.py bench --json FILE       speed beside MuJoCo and Pinocchio, and inside Blender
    python3 dev.py build                   the installable zip for this platform, in build/
    python3 dev.py blender                 install that zip into the Blender on this machine and open it
    python3 dev.py lint                    ruff

Exit codes: 0 good, 1 a test or check failed, 2 something could not be set up, 5 no test was selected.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said here, before an import fails without a word
    print("dev.py needs Python 3.11 or 3.13; this is {}.{}".format(*sys.version_info[:2]), file=sys.stderr)
    sys.exit(2)

import argparse
import os
import subprocess
from functools import partial

from tools import blenders, find_blender, suites, zips
from tools import demo as acts
from tools.environments import ROOT, SUPPORTED, SetupError, clean_environ, default_version, dynamics_python

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")}


def demo(options, rest):
    return acts.show(options.scene, *default_blender())


def bench(options, rest):
    only = options.only or ["blender"]
    library = [name for name in only if name != "blender"]
    if not options.only or library:
        chosen = [*(["--only", *library] if library else []), *(["--json", options.json] if options.json else [])]
        code = run("-m", "benchmarks", *chosen, *rest, **ONE_THREAD)
        if code:
            return code
    if options.no_blender or "blender" not in only:
        return 0
    series, archive = default_blender()
    arguments = [archive, *filter(None, [options.json])]
    return blenders.in_blender(series, "benchmarks.blender", *arguments, **ONE_THREAD).returncode


def lint(options, rest):
    return run("-m", "ruff", "check", *(rest or ["."]))


def test(options, rest):
    pythons = options.python or [default_version()]
    library_arguments, blender_arguments = suites.split_arguments(rest)
    if options.all_blenders:
        series = list(blenders.SERIES)
    else:
        series = options.blender or [blenders.DEFAULT[version] for version in pythons]

    todo = []
    if library_arguments is not None:
        for version in pythons:
            todo.append((f"Library, Python {version}", partial(suites.dynamics_suite, version, library_arguments)))
    if blender_arguments is not None:
        for one in series:
            todo.append((f"Blender {one}", partial(test_in_blender, one, pythons[0], blender_arguments)))
    return suites.run_all(todo)


def test_in_blender(series, version, arguments):
    archive = zips.build(zips.this_platform(), blenders.packager(series), version)
    return suites.blender_suite(series, archive, arguments)


def build(options, rest):
    version = default_version()
    if options.all_platforms:
        platforms = list(zips.PLATFORMS)
    else:
        platforms = options.platform or [zips.this_platform()]
    for name in platforms:
        print(zips.build(name, blenders.packager(blenders.DEFAULT[version]), version).relative_to(ROOT))
    return 0


def blender(options, rest):
    return find_blender.install_and_open(default_blender()[1], rest)


def default_blender():
    """The Blender series for the running Python, and the zip."""
    version = default_version()
    series = blenders.DEFAULT[version]
    return series, zips.build(zips.this_platform(), blenders.packager(series), version)


def run(*arguments, **environ):
    """Run the library's Python in the repository and hand back its exit code."""
    command = [dynamics_python(default_version()), *arguments]
    return subprocess.run(command, cwd=ROOT, env=clean_environ(**environ)).returncode


def main():
    parser = argparse.ArgumentParser(
        prog="dev.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for function in (demo, test, bench, build, blender, lint):
        verb = verbs.add_parser(function.__name__, allow_abbrev=False)
        verb.set_defaults(function=function)
        if function is demo:
            verb.add_argument("--scene", choices=acts.SCENES, default=acts.SCENES[0], help="another act")
        if function is test:
            verb.add_argument("--python", action="append", choices=SUPPORTED, help="not the running one; repeatable")
            verb.add_argument("--blender", action="append", choices=blenders.SERIES, help="in this one; repeatable")
            verb.add_argument("--all-blenders", action="store_true", help="in every supported Blender")
        if function is bench:
            verb.add_argument("--json", metavar="FILE", type=os.path.abspath, help="write the numbers there as well")
            verb.add_argument("--only", nargs="+", metavar="NAME", help="blender, or names that `bench --only ?` lists")
            verb.add_argument("--no-blender", action="store_true", help="only what runs without Blender")
        if function is build:
            verb.add_argument("--platform", action="append", choices=zips.PLATFORMS, help="not this one; repeatable")
            verb.add_argument("--all-platforms", action="store_true")
    options, rest = parser.parse_known_args()
    try:
        return options.function(options, rest)
    except SetupError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
