# SPDX-License-Identifier: BSD-2-Clause
"""A sweep: points that are not there yet are drawn, then all become a table and charts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fixfunc.cosim import files
from fixfunc.cosim.progress import Bar, Steps
from fixfunc.cosim.sweep import plots, point, workers
from fixfunc.cosim.sweep.parameters import Point
from fixfunc.cosim.sweep.store import Store


def run(
    points: Sequence[Point], swept: Sequence[str], folder: Path, jobs: int, scheduler: str | None
) -> list[dict[str, Any]]:
    """Draw points, write the table and a chart for each parameter, and say what was done.

    A point that the folder has, of the same sources and files, is not drawn again.

    Parameters
    ----------
    points : sequence of Point
        Of one machine, golden or hardware.
    swept : sequence of str
        Parameters that have a chart.
    folder : Path
    jobs : int
        Processes of this machine.
    scheduler : str, optional
        Of a Dask cluster, which draws in their place.

    Returns
    -------
    list of dict
        Rows of the points, in order.

    Raises
    ------
    InputError
        A scene that cannot be drawn, or a folder that cannot be written. Points that were drawn
        before stay.
    """
    with workers.drawing(point.draw, jobs, scheduler) as draw:
        store = Store(folder)
        rows, stale = _drawn(points, store)
        waiting = [one for one in points if one.key not in rows]
        said = f"{len(points)} points, {len(rows)} drawn already"
        print(f"{said}; {stale} stale, of other sources or files" if stale else said)
        if waiting and not scheduler and not points[0].golden:
            _build()
        if waiting:
            with Bar("drawing points", len(waiting)) as bar:
                for drawn in draw(waiting):
                    row = rows[drawn["key"]] = store.add(drawn)
                    bar.advance(words(row, swept))
    ordered = [rows[one.key] for one in points]
    written = [store.merge(ordered)]
    for name in swept:
        has = [row for row in ordered if row[name] is not None]
        written.append(folder / f"{name}.svg")
        files.write(written[-1], plots.chart(name, has, swept))
    for row in ordered:
        for failure in row["failures"]:
            print(f"failed: {words(row, swept)}: {failure}")
    print(f"wrote {folder}: {', '.join(path.name for path in written)}")
    return ordered


def words(row: dict[str, Any], swept: Sequence[str]) -> str:
    """A row in a line."""
    values = " ".join([row["scene"], *(f"{name}={row[name]}" for name in swept)])
    said = (
        f"{row['clocks']:,} clocks" if row["clocks"] else f"at least {row['least_clocks']:,} clocks"
    )
    return f"{values}: {said}, {row['seconds']:.1f} s"


def _drawn(points, store):
    """Rows that are there, by key, and how many of others are stale."""
    source = point.source_hash()
    scenes = {scene: point.scene_hash(scene) for scene in {one.scene for one in points}}
    rows = {}
    stale = 0
    for one in points:
        row = store.row(one.key)
        if row and (row["source_hash"], row["scene_hash"]) == (source, scenes[one.scene]):
            rows[one.key] = row
        elif row:
            stale += 1
    return rows, stale


def _build():
    """The hardware, once, before processes wait for it."""
    from fixfunc.cosim.frame import hardware
    from fixfunc.cosim.simulation.library import share

    with Steps() as step:
        step("building top, once", lambda: share("top"))
        hardware.library("top", point.CONFIG)
