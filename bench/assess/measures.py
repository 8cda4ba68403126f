# SPDX-License-Identifier: BSD-2-Clause
"""The measures: rows of their pages, and the commands that measure rows again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.area import jobs, liberty, store
from fixfunc.cosim import catalogue as blocks
from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb import catalogue
from fixfunc.tb.coverage import report as coverage_report
from fixfunc.tb.coverage import run as coverage
from fixfunc.tb.mutation import places
from fixfunc.tb.mutation import report as mutation_report
from fixfunc.tb.mutation import run as mutation
from fixfunc.tb.proofs import catalogue as proofs_catalogue
from fixfunc.tb.proofs import report as proofs_report
from fixfunc.tb.proofs import run as proofs

UP_TO_DATE = "up to date"
OUT_OF_DATE = "out of date"
NEVER = "never"


class Row(NamedTuple):
    """A row of a page.

    Parameters
    ----------
    name : str
        Of its own on its page; what its command takes.
    block, config : str
        Of a proof: the block that the hardware is of, or the file of a primitive, and the proof. Of
        a part of the top: the top, and the part.
    digest : str
        Hash of the sources as they are.
    known : mapping, optional
        What the page has, with the hash that it was measured with, if it has one.
    """

    name: str
    block: str
    config: str
    digest: str
    known: Mapping[str, Any] | None

    @property
    def state(self) -> str:
        """:data:`UP_TO_DATE`, :data:`OUT_OF_DATE` or :data:`NEVER`."""
        if self.known is None:
            return NEVER
        return UP_TO_DATE if self.known.get("sources") == self.digest else OUT_OF_DATE


class Command(NamedTuple):
    """What measures some rows again, each of which it keeps as it comes."""

    title: str
    arguments: list[str]  # of Python


class Measure(NamedTuple):
    """Rows of a page, and the commands for those of them that are to be measured again.

    Both take the path of a standard-cell library, if there is one.
    """

    rows: Callable[[Path | None], list[Row]]
    commands: Callable[[list[Row], Path | None], list[Command]]


def _coverage_rows(_library: Path | None) -> list[Row]:
    table = coverage_report.load()
    return [
        Row(stem, stem, coverage.configuration(block), coverage.digest(block), table.get(stem))
        for stem, block in _benches().items()
    ]


def _coverage(rows: list[Row], _library: Path | None) -> list[Command]:
    return [
        Command(
            f"coverage of {row.block} ({row.config})", ["-m", "fixfunc.tb", "coverage", row.block]
        )
        for row in rows
    ]


def _mutation_rows(_library: Path | None) -> list[Row]:
    """In the configuration of the row as it is, which may be another than the usual."""
    table = mutation_report.load()
    rows = []
    for stem, block in _benches().items():
        known = table.get(stem)
        config = known["config"] if known else mutation.CONFIG
        if config not in block.configurations:
            config = mutation.CONFIG
        rows.append(Row(stem, stem, config, mutation.digest(block, config), known))
    return rows


def _mutation(rows: list[Row], _library: Path | None) -> list[Command]:
    return [
        Command(
            f"mutants of {row.block} ({row.config})",
            ["-m", "fixfunc.tb", "mutate", row.block, "--config", row.config],
        )
        for row in rows
    ]


def _proof_rows(_library: Path | None) -> list[Row]:
    table = proofs_report.load()
    owners = {
        path: stem for stem, block in blocks.blocks().items() for path in places.own_files(block)
    }
    rows = []
    for name, proof in proofs_catalogue.PROOFS.items():
        path = ROOT / "rtl" / proof.subject.split()[0]
        rows.append(
            Row(name, owners.get(path, path.stem), name, proofs.digest(proof), table.get(name))
        )
    return rows


def _proofs(rows: list[Row], _library: Path | None) -> list[Command]:
    names = [row.name for row in rows]
    return [Command(f"{len(names)} proofs", ["-m", "fixfunc.tb", "prove", *names])]


def _area_rows(library: Path | None) -> list[Row]:
    """Of another library nothing is known."""
    area = store.load()
    table = area["rows"]
    if library and not store.is_of(area, liberty.read(library)):
        table = {}
    return [
        Row(
            job.name,
            job.block,
            job.name if job.block == "top" else job.config,
            job.digest(),
            table.get(job.name),
        )
        for job in jobs.all_jobs()
    ]


def _area(rows: list[Row], library: Path | None) -> list[Command]:
    """Nothing without a library; the table of another begins anew if all of its rows do."""
    if not library:
        return []
    names = [] if len(rows) == len(jobs.all_jobs()) else [row.name for row in rows]
    return [Command(f"area of {len(rows)} rows", ["-m", "bench.area", str(library), *names])]


def _benches():
    return {stem: catalogue.block(stem) for stem in blocks.blocks()}


MEASURES = {
    "coverage": Measure(_coverage_rows, _coverage),
    "mutation": Measure(_mutation_rows, _mutation),
    "proofs": Measure(_proof_rows, _proofs),
    "area": Measure(_area_rows, _area),
}
