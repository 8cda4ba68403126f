# SPDX-License-Identifier: BSD-2-Clause
"""Measure frames, predict them, and write ``docs/architecture/predicted.md``."""

import argparse
import datetime
import platform

from bench.predicted import choices, page, tried
from bench.predicted.rows import jobs, measured, row
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.performance.params import MEMORIES


def main():
    """Draw every frame by the hardware: takes an hour and a half."""
    figures = {"rows": [], "without": {}, "machines": {}, "processors": {}}
    for name, job in jobs():
        for memory in MEMORIES:
            counted, events, seconds = measured(job, memory)
            figures["rows"].append(row(name, memory, counted, events, seconds))
            if memory == "near":
                add(figures, name, events)
    figures["tried"] = list(tried.rows())
    finish(figures)


def add(figures, name, events):
    """Predictions of a frame for which there is no hardware."""
    figures["without"][name] = choices.without(events)
    figures["machines"][name] = choices.machines(events)
    figures["processors"][name] = choices.processors(events)


def finish(figures):
    """Write what was found."""
    figures["machine"] = f"{platform.system()} {platform.machine()}, 2 cores"
    figures["date"] = str(datetime.date.today())
    print(f"wrote {page.write(figures).relative_to(ROOT)}")


if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m bench.predicted",
        description="Measure frames, predict them, and write docs/architecture/predicted.md.",
    ).parse_args()
    main()
