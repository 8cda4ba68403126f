# SPDX-License-Identifier: BSD-2-Clause
"""Static timing and area of every block: ``python -m bench.area file.lib[.gz] [block ...]``.

Prints a table, and keeps each row as it comes in ``docs/area.json``, from which docs/bench.md is
written anew: with commit and date, in the place of the one before. Rows of chosen blocks go there
only if they are of the same library.
"""

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from bench.area import jobs, liberty, store, table, timing
from bench.area.jobs import Job
from bench.area.measure import MINUTES, PROCESSES, Keep, Meter
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog import yosys
from fixfunc.spec.errors import InputError
from fixfunc.tb import stamp


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; bad input and missing tools are one line, and exit code 2."""
    options = _parser().parse_args(arguments)
    if not options.liberty or not Path(options.liberty).is_file():
        print("area: skipped: no standard-cell library: set LIBERTY=file.lib[.gz]")
        return 0
    # To be terminated is to be interrupted: syntheses are ended, too.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        rows = _measure(options)
    except (InputError, ToolError) as error:
        print(f"area: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    failed = [name for name, row in rows.items() if row.pop("failed", False)]
    print(table.text(rows))
    if failed:
        print(f"area: failed: {', '.join(failed)}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.area", description="Static timing and area of every block."
    )
    parser.add_argument("liberty", nargs="?", help="standard-cell library, file.lib or file.lib.gz")
    parser.add_argument("blocks", nargs="*", metavar="block", help="all of them by default")
    parser.add_argument(
        "--processes", type=int, choices=(1, 2), default=PROCESSES, help="syntheses at a time"
    )
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help=f"bound of a synthesis ({MINUTES})"
    )
    return parser


def _measure(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Rows of the chosen jobs; each that has not failed is kept as it comes."""
    yosys.require()
    timing.require()
    path = Path(options.liberty)
    library = liberty.read(path)
    chosen = jobs.chosen(options.blocks)
    known = store.load()
    keep = None
    with Steps() as step:
        if options.blocks and not store.is_of(known, library):
            print(f"area: not kept: the table is of {known.get('library', 'none')}")
        else:
            keep = _keeper(store.opened(library, path.name), chosen, step)
        step("area")
        return Meter(library, options.minutes, step.note).rows(chosen, options.processes, keep)


def _keeper(area: store.Table, chosen: list[Job], step: Steps) -> Keep:
    """Puts rows into a table, each with what it speaks of."""
    marks = {job.name: stamp.stamp(job.digest()) for job in chosen}
    if any(job.block in table.RATED for job in chosen):
        step("clocks of the rasterizers")
        store.rate(area)

    def keep(job: Job, row: dict[str, Any]) -> None:
        if "failed" not in row:
            store.keep(area, job, row, marks[job.name])

    return keep


if __name__ == "__main__":
    sys.exit(main())
