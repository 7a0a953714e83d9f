# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything a developer runs: python3 dev.py demo | test | bench | lint"""

import argparse
import subprocess
import sys

from tools.environments import ROOT, SetupError, clean_environ, default_version, dynamics_python

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")}


def run(python, *arguments, **environ):
    """Run our Python on the repository and hand back its exit code."""
    return subprocess.run([python, *arguments], cwd=ROOT, env=clean_environ(**environ)).returncode


def demo(options, rest):
    return run(dynamics_python(default_version()), "-m", "examples.high_bar", *rest)


def test(options, rest):
    return run(dynamics_python(default_version()), "-m", "pytest", "--ignore=tests/blender", *rest)


def bench(options, rest):
    return run(dynamics_python(default_version()), "-m", "benchmarks", *rest, **ONE_THREAD)


def lint(options, rest):
    return run(dynamics_python(default_version()), "-m", "ruff", "check", *(rest or ["."]))


def main():
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for function, text in [
        (demo, "simulate the high bar and save a picture"),
        (test, "run all tests; further arguments go to pytest"),
        (bench, "measure speed beside MuJoCo and Pinocchio; --json FILE"),
        (lint, "ruff over the repository"),
    ]:
        verbs.add_parser(function.__name__, help=text).set_defaults(function=function)
    options, rest = parser.parse_known_args()
    try:
        return options.function(options, rest)
    except SetupError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
