# SPDX-License-Identifier: BSD-2-Clause
"""Places of Amaranth's FIFOs, for inductions: what they hold, the next beat first."""

from amaranth.hdl import Mux, Value, ValueLike

from fixfunc.tb.proofs.engine.properties import Properties


def ring_rows(
    p: Properties, path: str, first: Value, level: Value, depth: int
) -> list[tuple[ValueLike, ValueLike]]:
    """Rows of a memory of ``depth``, ``level`` of them from ``first`` on: (valid, payload)."""
    rows = []
    for n in range(depth):
        address = first + n
        row = p.row(path, Mux(address >= depth, address - depth, address))
        rows.append((level > n, row))
    return rows


def buffered_fifo(
    p: Properties, path: str, depth: int, name: str = ""
) -> list[tuple[ValueLike, ValueLike]]:
    """Places of a ``SyncFIFOBuffered``, and the invariants of its pointers."""
    inner = depth - 1
    level = p.inner(f"{path}.inner_level")
    valid = p.inner(f"{path}.r_rdy")
    data = p.read_data(f"{path}.storage")
    rows = [(level != 0, p.row(f"{path}.storage", 0))]
    p.prove(f"{name}levels", level <= inner)
    if inner > 1:
        produce = p.inner(f"{path}.produce")
        consume = p.inner(f"{path}.consume")
        place = consume + level
        p.prove(
            f"{name}pointers",
            (consume < inner) & (produce == Mux(place >= inner, place - inner, place)),
        )
        rows = ring_rows(p, f"{path}.storage", consume, level, inner)
    return [(valid, data), *rows]
