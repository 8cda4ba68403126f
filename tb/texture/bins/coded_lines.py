# SPDX-License-Identifier: BSD-2-Clause
"""Bins of coded lines: modes by what became of their tiles, squares, tiles again and others."""

import numpy as np

from fixfunc.models.texture.coded_lines import NO_TABLE, read_lines
from fixfunc.rtl.texture.coded_lines.layouts import CodedLinesParams
from fixfunc.spec.textures.coded_lines import TILE_LINES
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag
from fixfunc.tb.texture.coded_lines import memory, records, requests, unreadable

CONFIG = "tiny"
COUNT = 4000
WITHOUT = (2, 3, 4, 5, 7, 8, 15)  # modes that no tile of colours has


def bins(seen: Seen, params: CodedLinesParams) -> dict[str, int]:
    """Counts of one batch."""
    reads = records(seen.rows, params)
    lines = read_lines(memory(seen.rows, params), reads, unreadable(seen.rows))
    modes = {str(n): lines.modes == n for n in range(16) if n not in WITHOUT}
    found = cross("tile of mode", modes, where=~lines.failed)
    failing = {str(n): lines.modes == n for n in (*WITHOUT, 6)}
    found |= cross("failed tile of mode", failing | {"none": lines.modes == NO_TABLE})
    square = reads["line"] % TILE_LINES
    tile = reads["line"] // TILE_LINES
    again = np.append(False, tile[1:] == tile[:-1])[: len(tile)]
    squares = equal(square, {str(n): n for n in range(TILE_LINES)})
    found |= cross("square", squares, flag(again, "of another tile", "of the tile before"))
    table = reads["mode_table"] + reads["tile"] // 64
    other = np.append(False, table[1:] != table[:-1])[: len(table)]
    return found | cross("line of the table", flag(other, "the same", "another"))


def directed(params: CodedLinesParams) -> list[Batch]:
    """Batches of other numbers of lines, each with other tiles and another fault."""
    rng = np.random.default_rng(1)
    return [Batch(requests(rng, COUNT // 2 + n, params)) for n in range(12)]
