# SPDX-License-Identifier: BSD-2-Clause
"""First hours: every command of their pages runs, and says what the page says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fixfunc.cosim.toolchain import ROOT

PAGES = ("hardware", "verification", "architect", "student")
FENCE = re.compile(r"(?ms)^```\n(.*?)^```$")


def commands(name):
    """Commands of a page, and what each is said to print."""
    text = (ROOT / f"docs/guide/{name}.md").read_text()
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return [tuple(part.strip() for part in line.split("#")) for line in lines]


@pytest.mark.plan("hours-1")
@pytest.mark.parametrize("name", PAGES)
def test_commands_do_what_the_page_says(name, tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    clean = {key: its for key, its in os.environ.items() if not key.startswith("PYTEST")}
    assert commands(name)
    for command, said in commands(name):
        words = shlex.split(command)
        done = subprocess.run(
            words,
            cwd=ROOT if "pytest" in words else tmp_path,  # tests are the checkout's
            env=clean | {"PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
        )
        text = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == 0, f"{command}: {text}"
        assert said and said in text, f"{command}: {text}"
