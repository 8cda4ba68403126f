# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour compression: codes, turns, widths at their ends, and what is wrong with a code."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.output.colour_decoder import decode
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.compression.colour_compression import ColourCompressionParams
from fixfunc.spec import colours
from fixfunc.spec.colours import LANES, TRANSFERS, WORDS
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, samples_of
from fixfunc.tb.output.colour_compression import (
    kind_of,
    octets,
    put_few,
    requests,
    to_code,
    to_decode,
    width,
    words,
    words_of,
)

CODES = {"cleared": TileMode.CLEARED, "palette": TileMode.PALETTE, "raw": TileMode.RAW} | {
    f"{n} transfers": DIFFERENCES + n for n in range(1, TRANSFERS + 1)
}
FEW = 2000  # tiles of few colours, and codes of wide payloads


def directed(params: ColourCompressionParams) -> np.ndarray:
    """Palettes whose colours begin at any lane; headers of the greatest widths."""
    rng = np.random.default_rng(1)
    rows = requests(rng, FEW, params)
    decodes = (rows[:, 0] & 1).astype(bool)
    table = to_code(params)
    tiles = codec.unpack(rows[~decodes], table, dtype(table))
    size = params.colour // 8
    lanes = octets(tiles, "colour", LANES, size).view(kind_of(params.bits)).reshape(-1, 8, 8, 4)
    put_few(rng, lanes, 1)
    words(tiles, "colour", lanes, size)
    rows[~decodes] = codec.pack(tiles, table, width(params))
    table = to_decode(params)
    stored = codec.unpack(rows[decodes], table, dtype(table))
    data = octets(stored, "data", words_of(params))
    stored["code"] = rng.choice([TileMode.RAW, max(CODES.values())], len(stored))
    data[:] = rng.integers(0, 256, data.shape)
    data[:, :64] = 255
    words(stored, "data", data)
    rows[decodes] = codec.pack(stored, table, width(params))
    return rows


def bins(seen: Seen, params: ColourCompressionParams) -> dict[str, int]:
    """Counts of one batch."""
    decodes = (seen.rows[:, 0] & 1).astype(bool)
    tables = to_code(params), to_decode(params), colours.coded(), colours.decoded()
    rows = seen.rows[~decodes], seen.rows[decodes], seen.out["o"], seen.out["tile"]
    tiles, stored, coded, decoded = (
        codec.unpack(beats, table, dtype(table)) for beats, table in zip(rows, tables, strict=True)
    )
    code = coded["code"]
    differences = code > DIFFERENCES
    flags = coded["data1"]
    return (
        cross(
            "coded: code x samples",
            equal(code, CODES),
            samples_of(tiles["samples"], params.modes),
        )
        | cross(
            "differences: alpha x turn",
            {
                "alpha follows": differences & (flags & 1 == 1),
                "one alpha": differences & (flags & 1 == 0),
            },
            {"along x": differences & (flags & 2 == 0), "turned": differences & (flags & 2 == 2)},
        )
        | cross(
            "decoded: code x wrong",
            equal(stored["code"], {f"{n}": n for n in range(16)}),
            flag(decoded["wrong"], "right", "wrong"),
        )
        | cross("decoded: what is wrong", _wrong(stored, params))
    )


def _wrong(stored: np.ndarray, params: ColourCompressionParams) -> dict[str, np.ndarray]:
    """Why differences cannot be a tile."""
    data = octets(stored, "data", WORDS)
    transfers = stored["code"].astype(np.int64) - DIFFERENCES
    some = (transfers >= 1) & (transfers <= TRANSFERS)
    spare = some & (data[:, 4] & 12 != 0)
    rest = some & ~spare
    # With all transfers there: is it short, or does something trail?
    longest = np.full(len(stored), DIFFERENCES + TRANSFERS, np.uint8)
    whole = data.copy()
    whole[np.arange(data.shape[1]) >= 32 * np.maximum(transfers, 0)[:, None]] = 0
    wrong = np.zeros(len(stored), bool)
    longer = np.zeros(len(stored), bool)
    for mode in params.modes:
        chosen = rest & (stored["samples"] == mode)
        none = np.zeros(4, np.uint8)
        codes = stored["code"][chosen].astype(np.uint8)
        wrong[chosen] = decode(codes, data[chosen], mode, none).wrong
        longer[chosen] = decode(longest[chosen], whole[chosen], mode, none).wrong
    return {
        "spare bits": spare,
        "payloads beyond the transfers": wrong & ~longer,
        "trailing bits, or more than six transfers": wrong & longer,
        "nothing": rest & ~wrong,
    }
