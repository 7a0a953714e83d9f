# SPDX-License-Identifier: GPL-3.0-or-later
"""Test suites: pytest runs in different environments, counted together.

The dynamics suite runs in the library's environment, on everything in tests/ but tests/blender. A Blender suite runs
tests/blender inside one Blender, from the installed zip, in a process and with a user folder of its own.
"""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.blenders import blender_python
from tools.environments import ROOT, SetupError, clean_environ, dynamics_python

TESTS = ROOT / "tests"
NOTHING_COLLECTED = 5  # pytest's exit code
TAKES_A_VALUE = {"-k", "-m", "-p", "-o", "-c", "-W", "-n"}


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    problem: str = ""

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        if self.skipped:
            text += f", {self.skipped} skipped"
        return f"{text}; {self.problem}" if self.problem else text


def dynamics_suite(version, arguments):
    python = dynamics_python(version)
    return _pytest([python, "-m", "pytest", *arguments])


def blender_suite(series, archive, arguments):
    python = blender_python(series)
    # Removed by us, not by the process itself: it may crash, and on Windows it keeps libraries open until it ends.
    with tempfile.TemporaryDirectory(prefix="trapeze-", ignore_cleanup_errors=True) as folder:
        command = [python, TESTS / "blender" / "run.py", archive, *arguments]
        return _pytest(command, BLENDER_USER_RESOURCES=folder)


def split_arguments(arguments):
    """Sort pytest's arguments into (for the library, for Blender); None where the named paths exclude a suite."""
    paths, options = [], []
    for before, argument in zip(["", *arguments], arguments, strict=False):
        path = Path(os.path.abspath(argument.partition("::")[0]))
        named = before not in TAKES_A_VALUE and path.exists() and path.is_relative_to(TESTS)
        (paths if named else options).append(argument)
    if not paths:
        return options, options
    blender = [path for path in paths if Path(os.path.abspath(path)).is_relative_to(TESTS / "blender")]
    library = [path for path in paths if path not in blender]
    return [*options, *library] if library else None, [*options, *blender] if blender else None


def run_all(suites):
    """Run the suites, pairs of a label and a function; go on if one cannot be set up; count; one exit code for all."""
    outcomes = {}
    for label, suite in suites:
        print(f"\n=== {label}", flush=True)
        try:
            outcomes[label] = suite()
        except SetupError as error:
            print(f"dev.py: {error}", flush=True)
            outcomes[label] = Outcome(problem="could not be set up, see above")
    print()
    for label, outcome in outcomes.items():
        print(f"{label:24} {outcome}")
    counts = [(outcome.passed, outcome.failed, outcome.skipped) for outcome in outcomes.values()]
    total = Outcome(*map(sum, zip(*counts, strict=True)))
    troubled = [label for label, outcome in outcomes.items() if outcome.problem]
    if troubled:
        total.problem = f"incomplete: {', '.join(troubled)}"
    print(total, flush=True)
    if total.failed:
        return 1
    if troubled:
        return 2
    return 0 if total.passed else NOTHING_COLLECTED


def _pytest(command, **environ):
    """Run pytest and count from its report, which is missing if the process died."""
    with tempfile.TemporaryDirectory(prefix="trapeze-") as folder:
        report = Path(folder) / "report.xml"
        code = subprocess.run([*command, f"--junitxml={report}"], cwd=ROOT, env=clean_environ(**environ)).returncode
        if not report.exists():
            return Outcome(failed=1, problem=f"the process died with exit code {code}")
        counts = ElementTree.parse(report).getroot().find("testsuite").attrib
    tests, skipped = int(counts["tests"]), int(counts["skipped"])
    failed = int(counts["failures"]) + int(counts["errors"])
    outcome = Outcome(tests - failed - skipped, failed, skipped)
    if code not in (0, 1, NOTHING_COLLECTED) or (code == 1 and not failed):
        outcome.problem = f"pytest ended with exit code {code}"
    return outcome
