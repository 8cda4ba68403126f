# SPDX-License-Identifier: BSD-2-Clause
"""``docs/conformance.md``, of ``conformance.toml``: ``python -m bench.assess.conformance``."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from fixfunc.cosim.toolchain import ROOT

STORE = Path(__file__).with_suffix(".toml")
PAGE = ROOT / "docs" / "conformance.md"
STATES = ("done", "part", "absent", "-")
PLAN_ROW = re.compile(r"(?m)^\| ([a-z][a-z0-9-]*-\d+) \|")
HEAD = """# Conformance

What of the functional specification of Direct3D 11.3 is built, by its sections: in golden models
and in hardware. `part` says what is missing, `absent` why. Hardware is absent without a word where
a stage is golden alone; `-` stands where a section asks nothing of a side. Sections that only
introduce others are left out. Tests are rows of test plans, which name them.
`python -m bench.assess.conformance` writes this page from `bench/assess/conformance.toml`.
"""


class Section(NamedTuple):
    """A section of the specification, or a range of them."""

    number: str
    title: str
    golden: str  # one of STATES
    hardware: str
    tests: tuple[str, ...]  # ids of rows of test plans
    note: str


def chapters() -> dict[str, tuple[str, list[Section]]]:
    """Title and sections of every chapter, by its number."""
    found = {}
    for number, chapter in tomllib.loads(STORE.read_text()).items():
        rows = [Section(*row[:4], tuple(row[4].split()), row[5]) for row in chapter["rows"]]
        found[number] = chapter["title"], rows
    return found


def plans() -> dict[str, Path]:
    """The page of every row of a test plan, by its id."""
    return {
        row: path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        for row in PLAN_ROW.findall(path.read_text())
    }


def page() -> str:
    """The page's text."""
    pages = plans()
    known = chapters()
    lines = [HEAD, "| side | done | in part | absent |", "|---|---|---|---|"]
    for side in ("golden", "hardware"):
        count = Counter(getattr(row, side) for _, rows in known.values() for row in rows)
        lines.append(f"| {side} | {count['done']} | {count['part']} | {count['absent']} |")
    for number, (title, rows) in known.items():
        lines += ["", f"## {number} {title}"]
        lines += [
            "| section | what | golden | hardware | tests | missing, or why |",
            "|---" * 6 + "|",
        ]
        for row in rows:
            tests = ", ".join(_link(test, pages[test]) for test in row.tests)
            cells = row.number, row.title, row.golden, row.hardware, tests, row.note
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _link(row, path):
    return f"[{row}]({path.relative_to(PAGE.parent)})"


if __name__ == "__main__":
    PAGE.write_text(page())
