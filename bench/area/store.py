# SPDX-License-Identifier: BSD-2-Clause
"""docs/area.json: rows of one library, kept as they come, and the pages that are made of them."""

import importlib.metadata
import json
import os
import platform
from typing import Any

from bench.area import jobs, table, timing
from bench.area.jobs import Job
from bench.area.liberty import Library
from fixfunc.cosim import files
from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb.stamp import Stamp

STORE = ROOT / "docs" / "area.json"
Table = dict[str, Any]


def load() -> Table:
    """The table, empty if there is none."""
    return json.loads(STORE.read_text()) if STORE.exists() else {"digest": "", "rows": {}}


def is_of(area: Table, library: Library) -> bool:
    """Whether a table is of a library."""
    return area["digest"] == library.digest[:16]


def opened(library: Library, file: str) -> Table:
    """The table as rows of a library go into it: empty, if it is of another."""
    area = load()
    kept = area if is_of(area, library) else {"rows": {}, "rates": {}}
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return kept | {
        "library": library.name,
        "digest": library.digest[:16],
        "tools": {"pyosys": importlib.metadata.version("pyosys"), "OpenSTA": timing.version()},
        "machine": f"{machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "command": f"make area LIBERTY={file}",
    }


def keep(area: Table, job: Job, row: dict[str, Any], mark: Stamp) -> None:
    """Put a row in the place of the one before, and write the table and its pages anew."""
    known = area["rows"] | {job.name: row | mark._asdict()}
    area["rows"] = {job.name: known[job.name] for job in jobs.all_jobs() if job.name in known}
    write(area)


def rate(area: Table) -> None:
    """Measure the clocks that densities of the rasterizers are made of."""
    from bench import speed  # it imports all of the project

    area["rates"] = {config: speed.rates(config) for config in table.RASTERIZERS}


def write(area: Table) -> None:
    """Write docs/area.json, docs/bench.md, and what ``fixfunc list`` says."""
    from bench import page  # it imports all of the project
    from fixfunc.cosim.verilog import measured

    files.write(STORE, json.dumps(area, indent=1) + "\n")
    measured.write(
        {name: (row["um2"], row["mhz"]) for name, row in area["rows"].items() if "mhz" in row},
        f"{area['library']}, {max(row['date'] for row in area['rows'].values())}",
    )
    page.write()
