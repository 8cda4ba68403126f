# SPDX-License-Identifier: BSD-2-Clause
"""What the runs came to: docs/mutation.json, and docs/mutation.md, which is made of it."""

import json
from pathlib import Path

from fixfunc.cosim import catalogue, files
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb import stamp
from fixfunc.tb.mutation.run import Outcome
from fixfunc.tb.stamp import Stamp

FOLDER = ROOT / "docs"
HEAD = """\
# Mutants

Every mutant is one change of a block's source: an operator, a constant, a condition, the arms of a
choice, a width, a field, an index, a reset, or a dropped assignment. The block's own tests in
volume judge it, at the suite's counts. A mutant that no test kills is either equivalent, with a
reason, or a gap. `make mutate` draws the mutants of a block, runs them, and writes its row;
`make assess` does for every row of sources that have changed since.
[CONTRIBUTING.md](../CONTRIBUTING.md) tells how to kill a survivor.

| block | configuration | places | mutants | killed | equivalent | survivors | commit, day |
|---|---|---|---|---|---|---|---|
"""


def load(folder: Path = FOLDER) -> dict[str, dict]:
    """Rows by block."""
    path = folder / "mutation.json"
    return json.loads(path.read_text()) if path.exists() else {}


def record(
    block: Bench,
    config: str,
    seed: int,
    known: int,
    outcomes: list[Outcome],
    mark: Stamp,
    folder: Path = FOLDER,
) -> None:
    """Put a block's run in the place of the one before, and write the page anew.

    ``known`` are its places, and ``mark`` what the run began with.
    """
    table = load(folder)
    table[block.stem] = {
        "config": config,
        "seed": seed,
        **mark._asdict(),
        "places": known,
        "mutants": len(outcomes),
        "killed": sum(outcome.verdict.killed for outcome in outcomes),
        "equivalent": [
            {
                "name": outcome.waiver.name,
                "mutant": outcome.mutant.change,
                "reason": outcome.waiver.reason,
            }
            for outcome in outcomes
            if outcome.waiver and not outcome.verdict.killed
        ],
        "survivors": [
            f"{outcome.mutant.file}: {outcome.mutant.change}"
            for outcome in outcomes
            if outcome.survives
        ],
    }
    order = [*catalogue.blocks()]
    table = dict(sorted(table.items(), key=lambda row: order.index(row[0])))
    files.write(folder / "mutation.json", json.dumps(table, indent=1) + "\n")
    files.write(folder / "mutation.md", page(table))


def page(table: dict[str, dict]) -> str:
    """The page of a table of runs."""
    lines = [HEAD.rstrip()]
    for stem, run in table.items():
        counts = len(run["equivalent"]), len(run["survivors"])
        lines.append(
            f"| {stem} | {run['config']} | {run['places']} | {run['mutants']} | {run['killed']} "
            f"| {counts[0]} | {counts[1]} | {stamp.said(run)} |"
        )
    lines += _rows(
        "Equivalent",
        "name",
        "reason",
        [
            (stem, row["name"], row["mutant"], row["reason"])
            for stem, run in table.items()
            for row in run["equivalent"]
        ],
    )
    lines += _rows(
        "Survivors",
        None,
        None,
        [(stem, name) for stem, run in table.items() for name in run["survivors"]],
    )
    return "\n".join(lines) + "\n"


def _rows(title: str, name: str | None, reason: str | None, rows: list[tuple]) -> list[str]:
    """A section with a table, if it has rows."""
    if not rows:
        return []
    heads = ["block", *([name] if name else []), "mutant", *([reason] if reason else [])]
    bars = ["|".join(["", *(f" {head} " for head in heads), ""]), "|---" * len(heads) + "|"]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    at = heads.index("mutant")
    marked = [[f"`{cell}`" if n == at else cell for n, cell in enumerate(row)] for row in cells]
    return ["", f"## {title}", *bars, *("| " + " | ".join(row) + " |" for row in marked)]
