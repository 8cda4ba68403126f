# SPDX-License-Identifier: BSD-2-Clause
"""Exercises: each change, made in a copy, turns the test red that the page names."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from fixfunc.cosim.toolchain import ROOT

PAGE = ROOT / "docs/guide/exercises.md"
EXERCISE = re.compile(
    r"(?m)^## \d+\. (.*)\n(?:.*\n)+?```diff\n--- (.*)\n-(.*)\n\+(.*)\n```\n"
    r".*summary>\n\n`(tests/[\w/]+\.py)::(\w+)`"
)
EXERCISES = EXERCISE.findall(PAGE.read_text())
KEPT = ("spec", "rtl", "cosim", "tb", "examples")  # beside what is changed
LEFT = shutil.ignore_patterns("__pycache__")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of models and tests, imported by the name of the package."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "fixfunc"
    shutil.copytree(ROOT / "fixfunc", package, ignore=LEFT)
    shutil.copytree(ROOT / "models", package / "models", ignore=LEFT)
    for name in KEPT:
        (package / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=LEFT)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def run(folder, *tests):
    """Run tests there: the exit code of pytest, and what it says."""
    clean = {name: its for name, its in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.plan("exercises-2")
def test_named_tests_are_green_in_a_copy(copy):
    assert len(EXERCISES) == len(re.findall(r"(?m)^## ", PAGE.read_text())) == 10
    code, text = run(copy, *(f"{file}::{name}" for *_, file, name in EXERCISES))
    assert code == 0, text


@pytest.mark.plan("exercises-1")
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda it: it[0].replace(" ", "_"))
def test_the_named_test_goes_red(copy, exercise):
    _, changed, old, new, file, name = exercise
    path = copy / "fixfunc" / changed
    source = path.read_text()
    assert source.count(old) == 1
    try:
        path.write_text(source.replace(old, new))
        code, text = run(copy, f"{file}::{name}")
    finally:
        path.write_text(source)
    assert code == 1, text
    assert re.search(rf"FAILED {file}::{name}\b", text), text
