# SPDX-License-Identifier: BSD-2-Clause
"""Static timing and area of every block: ``python -m bench.area file.lib[.gz] [block ...]``.

Prints a table, and keeps it in ``docs/area.json``, from which docs/bench.md is written anew. Rows
of chosen blocks take the place of theirs there, with their date, if they are of the same library.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import signal
import sys
from pathlib import Path
from typing import Any

from bench.area import jobs, liberty, table, timing
from bench.area.measure import MINUTES, PROCESSES, Meter
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.toolchain import ROOT, ToolError
from fixfunc.cosim.verilog import yosys
from fixfunc.spec.errors import InputError

STORE = ROOT / "docs" / "area.json"


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
    """Rows of the chosen jobs, which are kept unless one failed."""
    yosys.require()
    timing.require()
    library = liberty.read(Path(options.liberty))
    chosen = jobs.chosen(options.blocks)
    with Steps() as step:
        step("area")
        rows = Meter(library, options.minutes, step.note).rows(chosen, options.processes)
        if any("failed" in row for row in rows.values()):
            return rows
        if options.blocks:
            _keep_some(rows, library)
        else:
            step("clocks of the rasterizers")
            _keep_all(rows, library, Path(options.liberty).name)
    return rows


def _keep_some(rows: dict[str, dict[str, Any]], library: liberty.Library) -> None:
    """Put rows into the table, each with its date."""
    area = json.loads(STORE.read_text())
    if area["digest"] != library.digest[:16]:
        print(f"area: not kept: the table is of {area['library']}")
        return
    today = str(datetime.date.today())
    known = area["rows"] | {name: row | {"date": today} for name, row in rows.items()}
    area["rows"] = {job.name: known[job.name] for job in jobs.all_jobs() if job.name in known}
    _write(area)


def _keep_all(rows: dict[str, dict[str, Any]], library: liberty.Library, file: str) -> None:
    """Begin the table anew."""
    from bench import speed  # it imports all of the project

    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    area = {
        "library": library.name,
        "digest": library.digest[:16],
        "tools": {"pyosys": importlib.metadata.version("pyosys"), "OpenSTA": timing.version()},
        "date": str(datetime.date.today()),
        "machine": f"{machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "command": f"make area LIBERTY={file}",
        "rows": rows,
        "rates": {config: speed.rates(config) for config in table.RASTERIZERS},
    }
    _write(area)


def _write(area: dict[str, Any]) -> None:
    """Write docs/area.json, docs/bench.md, and what ``fixfunc list`` says."""
    from bench import page  # it imports all of the project
    from fixfunc.cosim.verilog import measured

    STORE.write_text(json.dumps(area, indent=1) + "\n")
    measured.write(
        {name: (row["um2"], row["mhz"]) for name, row in area["rows"].items() if "mhz" in row},
        f"{area['library']}, {area['date']}",
    )
    page.write()


if __name__ == "__main__":
    sys.exit(main())
