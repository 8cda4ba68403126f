# SPDX-License-Identifier: BSD-2-Clause
"""Points that have been drawn: a file each, whole or not there, and the table of all of them.

A file of its own needs no lock and no repair: whenever the sweep is killed, what was there stays.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fixfunc.cosim import files
from fixfunc.cosim.sweep import schema
from fixfunc.spec.errors import InputError

TABLE = "sweep.parquet"


class Store:
    """The folder of a sweep.

    Parameters
    ----------
    folder : Path
        Made, or found; ``points/`` in it has a file for each point.

    Raises
    ------
    InputError
        Nothing can be written there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = files.open_folder(folder)
        self._points = files.open_folder(folder / "points")

    def add(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a row of :func:`fixfunc.cosim.sweep.point.draw`; the same with every column."""
        table = _table([row])
        _write(self._points / f"{row['key']}.parquet", table)
        return table.to_pylist()[0]

    def row(self, key: str) -> dict[str, Any] | None:
        """The row of a point; None: it is not there, or is none of this version's columns."""
        path = self._points / f"{key}.parquet"
        if not path.is_file():
            return None
        try:
            table = pq.ParquetFile(path).read()
        except pa.ArrowException:
            return None
        return table.to_pylist()[0] if table.schema == schema.schema() else None

    def merge(self, rows: Sequence[Mapping[str, Any]]) -> Path:
        """Write the table of some rows; its path."""
        path = self.folder / TABLE
        _write(path, _table(rows))
        return path


def _table(rows):
    columns = schema.schema()
    held = [{name: row.get(name) for name in columns.names} for row in rows]
    return pa.Table.from_pylist(held, columns)


def _write(path, table):
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    files.write(path, out.getvalue().to_pybytes())


def read(path: Path) -> list[dict[str, Any]]:
    """Rows of a table.

    Raises
    ------
    InputError
        No such file, or none that a sweep of this version wrote.
    """
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        said = f"{path}: {str(error).splitlines()[0]}"
        raise InputError("table", "be one of a sweep", said) from None
    if table.schema != schema.schema():
        raise InputError("table", "have the columns of this version", path)
    return table.to_pylist()
