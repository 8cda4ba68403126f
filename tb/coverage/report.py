# SPDX-License-Identifier: BSD-2-Clause
"""What the runs came to: docs/coverage/results.json, and the page that is made of it."""

import json
import os
import platform
from pathlib import Path

from fixfunc.cosim import catalogue, files
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb import stamp
from fixfunc.tb.coverage.run import TOGGLES, Outcome
from fixfunc.tb.stamp import Stamp

FOLDER = ROOT / "docs" / "coverage"
MOST = 40  # names of what was missed, on the page
HEAD = """\
# Coverage

What the stimuli of each block have tried. A run sends random beats through the simulated block, at
every pair of paces, and holds it to its golden model. `make coverage BLOCK=hiz` repeats it and
writes its row; [CONTRIBUTING.md](../../CONTRIBUTING.md#coverage) tells how to close a gap.

Bins are declared beside the stimuli, in `tb/<stage>/bins/`. Lines are Verilator's line and branch
points of the generated Verilog. Toggles are the share that moved of its rising and falling edges of
every bit of the signals that have a name, each net counted once: temporaries, memory arrays and
other names of the same net, such as the fields of a payload, are not counted. They are shown, and
ask for nothing.

Constant is what no input can ever change: Yosys flattens and optimises the Verilog that is
simulated, and ties the bit, or the condition of the branch, to 0 or 1. It is not among the points
that are asked for. Waived is what cannot be hit for another cause, by name and reason, in
`tb/coverage/waivers.toml`. A waiver that matches nothing that was missed fails the gate, and so
does one of a bin that was hit.

A block of which parts are blocks with rows of their own declares them. Of such a part only its
inputs are counted in the row of the whole, as toggles: that is what the blocks give each other, and
what comes from outside. Its lines and inner signals are counted in its own row. So `top` counts the
inputs of its five blocks, its own signals, and its counters.

A block is `closed` if every bin and line is hit or waived, and `open` if not: then the gate
fails, and the section Open names what was missed. A dash stands for what has not been counted yet;
such a block is open, too. A row is of the commit that Runs names; `make assess DRY=1` tells which
rows are of sources that have changed since, and `make assess` runs those again.

"""
COLUMNS = ("block", "configuration", "beats", "bins", "lines", "toggles", "state")
PLURALS = {"bin": "bins", "line": "lines"}  # the gates


def load(folder: Path = FOLDER) -> dict[str, dict]:
    """Rows by block."""
    path = folder / "results.json"
    return json.loads(path.read_text()) if path.exists() else {}


def record(
    block: Bench, seed: int, batches: int, outcome: Outcome, mark: Stamp, folder: Path = FOLDER
) -> None:
    """Put a block's run in the place of the one before, and write the page anew."""
    folder.mkdir(parents=True, exist_ok=True)
    table = load(folder)
    table[block.stem] = {
        "config": outcome.config,
        "seed": seed,
        "batches": batches,
        "beats": outcome.beats,
        **mark._asdict(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        **{kind: _verdict(kind, verdict) for kind, verdict in outcome.verdicts.items()},
    }
    order = [*catalogue.blocks()]
    table = dict(sorted(table.items(), key=lambda one: order.index(one[0])))
    files.write(folder / "results.json", json.dumps(table, indent=1) + "\n")
    files.write(folder / "README.md", page(table))


def _verdict(kind, verdict):
    """A verdict as it is kept: of toggles, how many there are and how many were seen."""
    counts = {"declared": verdict.declared, "hit": verdict.hit, "constant": verdict.constant}
    if kind == TOGGLES:
        return counts
    return counts | {
        "waived": {reason: len(names) for reason, names in verdict.waived.items()},
        "missed": verdict.missed,
        "stale": verdict.stale,
    }


def said(block: Bench, outcome: Outcome) -> list[str]:
    """A run in lines: counts, and names of what was missed."""
    alone = "" if set(PLURALS) <= set(outcome.verdicts) else "bins alone, "
    lines = [f"{block.stem} ({outcome.config}): {alone}{'closed' if outcome.passes else 'open'}"]
    for kind, plural in PLURALS.items():
        verdict = outcome.verdicts.get(kind)
        if not verdict:
            continue
        waived = sum(map(len, verdict.waived.values()))
        lines.append(
            f"  {plural}: {verdict.hit:,} of {verdict.declared:,} hit, {waived:,} waived, "
            f"{len(verdict.missed):,} missed; {verdict.constant:,} constant"
        )
        lines += [f"    missed: {name}" for name in verdict.missed[:MOST]]
        if len(verdict.missed) > MOST:
            lines.append(f"    and {len(verdict.missed) - MOST} more")
        lines += [f"    waived without cause: {pattern}" for pattern in verdict.stale]
    if TOGGLES in outcome.verdicts:
        kept = _verdict(TOGGLES, outcome.verdicts[TOGGLES])
        lines.append(f"  toggles: {_share(kept)} of {kept['declared']:,}")
    return lines


def _share(toggles):
    return f"{100 * toggles['hit'] / max(1, toggles['declared']):.1f} %"


def state(run: dict) -> str:
    """``closed`` or ``open``, which it is, too, where only its bins have been counted."""
    if not set(PLURALS) <= set(run):
        return "open"
    return (
        "open" if any(run[kind]["missed"] or run[kind]["stale"] for kind in PLURALS) else "closed"
    )


def page(table: dict[str, dict]) -> str:
    """The page of a table of runs."""
    heads = " | ".join(
        f"{name} | {' | '.join(_columns(name))}" if name in PLURALS.values() else name
        for name in COLUMNS
    )
    lines = [HEAD.rstrip(), "", f"| {heads} |", "|---" * (heads.count("|") + 1) + "|"]
    for stem, run in table.items():
        cells = [stem, run["config"], f"{run['beats']:,}"]
        for kind in PLURALS:
            cells += _counts(kind, run[kind]) if kind in run else ["-"] * len(_columns(kind))
        cells.append(_share(run[TOGGLES]) if TOGGLES in run else "-")
        lines.append("| " + " | ".join([*cells, state(run)]) + " |")
    lines += ["", *_runs(table), *_waived(table), *_open(table)]
    return "\n".join(lines) + "\n"


def _columns(kind):
    """What is said of points of a kind, behind how many there are."""
    return ["hit", "waived"] if kind in ("bin", "bins") else ["constant", "hit", "waived"]


def _counts(kind, verdict):
    waived = sum(verdict["waived"].values())
    values = {"constant": verdict.get("constant", 0), "hit": verdict["hit"], "waived": waived}
    counts = [verdict["declared"], *(values[column] for column in _columns(kind))]
    return [f"{count:,}" for count in counts]


def _runs(table):
    """When, where and how; one row for all that agree."""
    said = {}
    for stem, run in table.items():
        alone = " --bins" * (not set(PLURALS) <= set(run))
        command = f"`python -m fixfunc.tb coverage BLOCK --batches {run['batches']}{alone}`"
        said.setdefault(
            f"{stamp.said(run)} | {run['machine']} | {run['seed']} | {command}", []
        ).append(stem)
    head = [
        "## Runs",
        "| commit, day | machine | seed | command | blocks |",
        "|---|---|---|---|---|",
    ]
    return [*head, *(f"| {key} | {', '.join(stems)} |" for key, stems in said.items())]


def _waived(table):
    rows = [
        f"| {stem} | {PLURALS[kind]} | {count} | {reason} |"
        for stem, run in table.items()
        for kind in PLURALS
        for reason, count in run.get(kind, {"waived": {}})["waived"].items()
    ]
    head = ["", "## Waived", "| block | of | how many | reason |", "|---|---|---|---|"]
    return [*head, *rows] if rows else []


def _open(table):
    lines = []
    for stem, run in table.items():
        for kind, plural in PLURALS.items():
            if kind not in run:
                lines.append(f"| {stem} | {plural} | | not counted yet |")
                continue
            missed = run[kind]["missed"]
            if missed:
                lines.append(
                    f"| {stem} | {plural} | {len(missed)} | "
                    + "; ".join(f"`{name.replace('|', '/')}`" for name in missed[:MOST])
                    + (f"; {len(missed) - MOST} more in `results.json`" * (len(missed) > MOST))
                    + " |"
                )
            if run[kind]["stale"]:
                lines.append(
                    f"| {stem} | waivers of {plural} | | {', '.join(run[kind]['stale'])} |"
                )
    head = ["", "## Open", "| block | of | how many | names |", "|---|---|---|---|"]
    return [*head, *lines] if lines else []
