# SPDX-License-Identifier: GPL-3.0-or-later
"""dev.py's own promises: which suite gets which argument, and exit codes that mean something."""

import subprocess
import sys
import tomllib

import pytest

from tools import zips
from tools.environments import ROOT, SetupError, environment, find_python
from tools.suites import Outcome, run_all, split_arguments


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_options_go_to_both_suites():
    assert split_arguments(["-k", "impact", "-x"]) == (["-k", "impact", "-x"], ["-k", "impact", "-x"])


def test_a_word_that_is_also_a_folder_stays_an_option():
    assert split_arguments(["-k", "tests"]) == (["-k", "tests"], ["-k", "tests"])
    assert split_arguments(["-k", "dynamics"]) == (["-k", "dynamics"], ["-k", "dynamics"])


def test_paths_choose_the_suite():
    assert split_arguments(["tests/blender", "-x"]) == (None, ["-x", "tests/blender"])
    here = "tests/project/test_dev.py::test_paths_choose_the_suite"
    assert split_arguments(["-x", here]) == (["-x", here], None)


@pytest.mark.parametrize(
    "outcomes, code",
    [
        ([Outcome(passed=3), Outcome(passed=1, skipped=2)], 0),
        ([Outcome(passed=3), Outcome(failed=1)], 1),
        ([Outcome(passed=3), Outcome(problem="no Python")], 2),
        ([Outcome(passed=3), Outcome()], 0),
        ([Outcome(), Outcome()], 5),
    ],
)
def test_exit_code(outcomes, code, capsys):
    assert run_all([(str(index), lambda outcome=outcome: outcome) for index, outcome in enumerate(outcomes)]) == code
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{passed} passed, {failed} failed")


def test_a_suite_that_cannot_be_set_up_does_not_stop_the_others(capsys):
    def impossible():
        raise SetupError("install Python 9.9")

    assert run_all([("first", impossible), ("second", lambda: Outcome(passed=1))]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert "dev.py: install Python 9.9" in lines
    assert lines[-1] == "1 passed, 0 failed; incomplete: first"


def test_missing_python_is_named():
    assert find_python("9.9") is None
    with pytest.raises(SetupError, match=r"Python 9\.9"):
        environment("9.9", "9.9", ["dynamics.txt"])


def test_unknown_verb_says_what_there_is():
    done = subprocess.run([sys.executable, "dev.py", "dance"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "demo" in done.stderr


def test_manifest_of_a_zip_lists_its_platform_and_wheels():
    """They are put before the manifest's own text: after a [table] they would become part of it."""
    wheel = ROOT / "build" / "numba-0.68.1-cp311-cp311-win_amd64.whl"
    manifest = tomllib.loads(zips.manifest_for("windows-x64", [wheel]))
    assert manifest["platforms"] == ["windows-x64"]
    assert manifest["wheels"] == [f"./wheels/{wheel.name}"]
    assert manifest["id"] == "trapeze"


def test_zip_holds_no_tests_and_no_caches():
    names = {file.relative_to(ROOT).as_posix() for file in zips.package_files()}
    assert {"__init__.py", "properties.py", "LICENSE"} <= names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "build", "."))]
    assert not [name for name in names if "__pycache__" in name]
