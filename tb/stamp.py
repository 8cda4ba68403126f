# SPDX-License-Identifier: BSD-2-Clause
"""What a figure on a page speaks of: a hash of its sources, a commit, a day."""

import datetime
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from fixfunc.cosim.toolchain import ROOT

# Folders whose changes are not those of pages; area writes one file of them itself.
TREE = ("spec", "models", "rtl", "cosim", "tb", "bench", "tests")
WRITTEN = ":!cosim/verilog/measured.json"


class Stamp(NamedTuple):
    """What is kept beside figures: ``sources`` is the hash that says whether they still hold."""

    sources: str
    commit: str
    date: str


def stamp(sources: str) -> Stamp:
    """That of a measure which begins; it is taken before the sources can change."""
    return Stamp(sources, commit(), datetime.date.today().isoformat())


@cache
def commit() -> str:
    """That of this process, ``with changes`` where the sources have some; empty without git."""
    try:
        head = _git("rev-parse", "--short", "HEAD").strip()
        changes = _git("status", "--porcelain", "--", *TREE, WRITTEN)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head} with changes" if changes else head


def said(row: Mapping[str, Any]) -> str:
    """Commit and day of a row of figures, as far as they are known."""
    return ", ".join(filter(None, (row.get("commit"), row.get("date")))) or "-"


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
