# SPDX-License-Identifier: BSD-2-Clause
"""Bins of scan-out: buffers and when they change, sizes at their ends, formats, errors."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.display.scan_out import ScanOutParams
from fixfunc.spec.colours import scanned
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag, of, ranges
from fixfunc.tb.output.scan_out import LARGEST, SIZE, Order, commands, ordered, setup_at

COUNT = 300


def directed(params: ScanOutParams) -> list[Batch]:
    """Frames of every number of buffers that change at both times; the largest frame; buffers and
    tables all over a large memory.
    """
    rows = []
    for n in range(6):
        setup = setup_at((params.side, 24), buffers=n // 2 + 1, vsync=n % 2)
        rows.append(ordered(setup, "FPFPFPF"))
    largest = setup_at((params.side, params.side), room=0, coded=1)
    return [
        Batch(np.concatenate(rows)),
        Batch(ordered(largest, "FF"), memory={"ready": 256}),
        Batch(np.concatenate([_anywhere(np.random.default_rng(n), params) for n in range(60)])),
    ]


def _anywhere(rng, params):
    """A few frames of buffers and tables at any addresses."""
    size = int(rng.integers(1, params.side + 1)), int(rng.integers(1, 17))
    setup = setup_at(size, buffers=int(rng.integers(1, 4)), coded=1)
    for name in ("vsync", "dither", "blue_first"):
        setup[name] = rng.integers(0, 2)
    for n in range(3):
        setup[f"base{n}"], setup[f"table{n}"] = rng.integers(0, LARGEST - SIZE, 2)
        setup[f"cleared{n}"] = rng.integers(0, 1 << 32)
    return ordered(setup, "FPF")


def _seen_setups(rows):
    """The setup of each command."""
    found = commands(rows)
    at = np.maximum.accumulate(np.where(found["kind"] == Order.SETUP, np.arange(len(found)), 0))
    return found, found[at]


def bins(seen: Seen, params: ScanOutParams) -> dict[str, int]:
    """Counts of one batch."""
    found, setups = _seen_setups(seen.rows)
    frames = found["kind"] == Order.FRAME
    shown = setups[frames]
    legal = (shown["buffers"] > 0) & (shown["width"] > 0) & (shown["height"] > 0)
    legal &= (shown["width"] <= params.side) & (shown["height"] <= params.side)
    fields = scanned(params.pixels)
    beats = codec.unpack(seen.out["o"], fields, dtype(fields))
    ends = beats[beats["frame_end"] == 1]
    buffers = equal(setups["buffers"], {f"{n} buffers": n for n in (1, 2, 3)})
    vsync = flag(setups["vsync"], "at once", "vsync")
    rest = {"whole": 0} | {f"{n} pixels": n for n in range(1, 8)}
    return (
        cross("order x buffers", of(Order, found["kind"]), buffers, vsync)
        | cross("last column", equal(shown["width"] % 8, rest), where=legal)
        | cross("last row", equal(shown["height"] % 8, rest), where=legal)
        | cross(
            "format",
            flag(shown["dither"], "24 bits", "dithered"),
            flag(shown["blue_first"], "red first", "blue first"),
            flag(shown["coded"], "raw", "coded"),
            where=legal,
        )
        | cross(
            "width",
            ranges(
                shown["width"],
                {
                    "1": (1, 1),
                    "a tile": (2, 8),
                    "between": (9, params.side - 1),
                    "all": (params.side,) * 2,
                },
            ),
            where=legal,
        )
        | cross("setup", flag(legal, "refused", "accepted"))
        | cross("frame", flag(ends["error"], "whole", "error"))
        | cross("shown", equal(ends["buffer"], {f"buffer {n}": n for n in range(3)}))
    )
