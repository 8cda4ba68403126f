# SPDX-License-Identifier: BSD-2-Clause
"""Bins of transaction elimination: tiles by their place in a line, in order or not, and errors."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.display.transaction_elimination import TransactionEliminationParams
from fixfunc.spec.colours import DRAWN, SIGNED
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag
from fixfunc.tb.output.transaction_elimination import LARGEST, frame_of


def directed(_params: TransactionEliminationParams) -> list[Batch]:
    """Frames of a few tiles of any number, in tables all over a large memory; each comes twice."""
    rng = np.random.default_rng(1)
    rows = []
    for n in range(120):
        numbers = rng.integers(0, 1 << (22 if n % 2 else 8), 3)
        table = int(rng.integers(0, (LARGEST >> 5) - (1 << 20))) << 5
        tiles = rng.integers(0, 256, (3, 256), np.uint8)
        rows += [frame_of(table, numbers, tiles)] * 2
    return [Batch(codec.pack(np.concatenate(rows), DRAWN))]


def bins(seen: Seen, _params: TransactionEliminationParams) -> dict[str, int]:
    """Counts of one batch."""
    tiles = codec.unpack(seen.rows, DRAWN, dtype(DRAWN))
    out = codec.unpack(seen.out["o"], SIGNED, dtype(SIGNED))
    line = tiles["signatures"].astype(np.int64) // 32 + tiles["number"] // 4
    number = tiles["number"].astype(np.int64)
    moved = flag(out["moved"], "kept", "moved")
    behind = {
        "the same tile": np.diff(number) == 0,
        "the same line": (np.diff(line) == 0) & (np.diff(number) != 0),
        "the next line": np.diff(line) == 1,
        "another line": (np.diff(line) != 0) & (np.diff(line) != 1),
    }
    return (
        cross("place in the line", equal(number % 4, {f"{n}": n for n in range(4)}), moved)
        | cross("behind", {name: np.append(False, hit) for name, hit in behind.items()}, moved)
        | cross("last", flag(out["last"], "goes on", "last"), moved)
        | cross("memory", flag(out["error"], "answers", "has failed"))
    )
