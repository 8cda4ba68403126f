# SPDX-License-Identifier: BSD-2-Clause
"""Area and timing of jobs; results of unchanged Verilog are taken from ``build/area``."""

import gzip
import hashlib
import json
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.area import netlist, timing
from bench.area.jobs import Job
from bench.area.liberty import Library
from fixfunc.cosim import toolchain
from fixfunc.cosim.toolchain import BUILD, ToolError
from fixfunc.cosim.verilog import yosys

FOLDER = BUILD / "area"
PROCESSES = 2  # each takes up to some gigabytes
MINUTES = 20
COMMENT = re.compile(r"(?m)^\s*//.*\n|/\*.*?\*/(?:[ \t]*//.*)?")
# Yosys unrolls the loops that clear memories, and nothing here depends on what is in them.
CLEARED = re.compile(r"(?m)^ +for \(int row = 0; .* = \d+'h0+;\n")
GENERATION = threading.Lock()  # Amaranth elaborates one component at a time

Row = dict[str, Any]
Keep = Callable[[Job, Row], object]


class Meter:
    """Measures jobs in a library, each synthesis in a process of its own with a bound in time.

    Parameters
    ----------
    library : Library
    minutes : float
        After which a synthesis is given up: its row says so.
    tell : callable
        Is called with what is under way, in words.
    """

    def __init__(
        self, library: Library, minutes: float = MINUTES, tell: Callable = lambda _text: None
    ) -> None:
        yosys.require()
        self._library = library
        self._seconds = 60 * minutes
        self._tell = tell
        self._under_way: list[str] = []
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._recipe = "\0".join([netlist.recipe(library), *toolchain.versions("pyosys")])
        self._timing = "\0".join([timing.recipe(), timing.version()])

    def rows(
        self, jobs: list[Job], processes: int = PROCESSES, keep: Keep | None = None
    ) -> dict[str, Row]:
        """A row for every job, by its name, ``processes`` of them at a time.

        ``keep`` is called with each as it comes, one at a time.
        """
        done = 0
        figures = {}

        def measured(job: Job) -> Row:
            nonlocal done
            self._note(job.name, True, f"{done} of {len(jobs)} done")
            try:
                row = self.row(job)
                if keep:
                    with self._keeping:
                        keep(job, row)
                return row
            finally:
                with self._lock:
                    done += 1
                self._note(job.name, False, f"{done} of {len(jobs)} done")

        threads = ThreadPoolExecutor(processes)
        try:
            for job, row in zip(jobs, threads.map(measured, jobs), strict=True):
                figures[job.name] = row
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            yosys.stop()
            raise
        threads.shutdown()
        return figures

    def row(self, job: Job) -> Row:
        """Figures of one job; of one that fails, or takes too long, ``omitted``: why."""
        with GENERATION:
            verilog = CLEARED.sub("", COMMENT.sub("", job.verilog()))
        name = re.sub(r"[^\w.]+", "-", job.name).strip("-")
        place = FOLDER / f"{name}-{_digest(job.module, verilog, self._recipe)}"
        try:
            figures = self._synthesis(place, job, verilog)
            if "omitted" in figures:
                return figures
            return figures | self._path(place, job)
        except ToolError as error:
            return {"omitted": str(error).splitlines()[0], "failed": True}

    def _note(self, name: str, begins: bool, more: str) -> None:
        """Tell which jobs are under way."""
        with self._lock:
            (self._under_way.append if begins else self._under_way.remove)(name)
            if self._under_way:
                self._tell(f"{', '.join(self._under_way)}; {more}")

    def _synthesis(self, place: Path, job: Job, verilog: str) -> Row:
        """What is in a netlist, which is made if it is not there."""
        if (place / "synthesis.json").is_file():
            figures = json.loads((place / "synthesis.json").read_text())
            if figures.get("seconds_given", self._seconds) >= self._seconds:
                return _without(figures, "seconds_given")
            shutil.rmtree(place)  # it may end in the time that is given now
        figures = {}
        start = time.monotonic()

        def make(folder: Path) -> None:
            folder.mkdir()
            with tempfile.TemporaryDirectory(prefix="fixfunc-") as temporary:
                figures.update(self._synthesize(Path(temporary), job, verilog))
                figures["seconds"] = round(time.monotonic() - start)
                (folder / "synthesis.json").write_text(json.dumps(figures))
                if "omitted" not in figures:
                    shutil.copy(Path(temporary) / "netlist.v.gz", folder)

        toolchain.once(place, make)
        figures = json.loads((place / "synthesis.json").read_text())
        return _without(figures, "seconds_given")

    def _synthesize(self, folder: Path, job: Job, verilog: str) -> Row:
        try:
            return netlist.synthesize(verilog, job.module, self._library, folder, self._seconds)
        except yosys.OverTime as error:
            return {"omitted": str(error), "seconds_given": self._seconds}

    def _path(self, place: Path, job: Job) -> Row:
        """The longest path of a netlist, whose report is made if it is not there."""
        path = place / f"path-{_digest(self._timing)}.txt"

        def make(report: Path) -> None:
            with tempfile.TemporaryDirectory(prefix="fixfunc-") as temporary:
                folder = Path(temporary)
                text = gzip.decompress((place / "netlist.v.gz").read_bytes()).decode()
                (folder / "netlist.v").write_text(text)
                (folder / "cells.lib").write_text(self._library.text)
                log = timing.named(timing.report(folder, job.module, self._library), text)
                timing.longest(log)  # raises rather than keep what cannot be read
                report.write_text(log)

        figures = timing.longest(toolchain.once(path, make).read_text())
        return (
            {**figures._asdict(), "mhz": round(1000 / figures.ns, 1)}
            if figures and figures.ns > 0
            else {}
        )


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
