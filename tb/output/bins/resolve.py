# SPDX-License-Identifier: BSD-2-Clause
"""Bins of resolves: sizes by samples, groups that are not whole, modes of both surfaces."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.rtl.output.resolve.resolve import ResolveParams
from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.state import TARGET_LIMIT, TileMode
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag
from fixfunc.tb.output.resolve import (
    EDGE,
    PLACE,
    is_obeyed,
    memory,
    records_of,
    request,
    requests,
    surface_shape,
)

CONFIG = "tiny_srgb"
LINE = 64  # tiles of a line of the mode table
LARGEST = 1 << 28  # bytes of memory
COUNT = 128  # tiles, as the bench's ``requests`` count them


def directed(params: ResolveParams) -> list[Batch]:
    """Surfaces all over a large memory; the longest sides; many tiles; what is refused."""
    rng = np.random.default_rng(1)
    spread = records_of(requests(rng, 3 * COUNT, params))
    room = 2 * PLACE
    place = rng.permutation(LARGEST // room).astype(np.uint32)
    for name in ("source", "target"):
        number, rest = np.divmod(spread[name], PLACE)
        spread[name] = place[number] * room + rest + rng.choice([0, PLACE // 2], len(spread))
    return [
        Batch(codec.pack(spread, RESOLVE)),
        *(Batch(rows, memory={"latency": (0, 8)}) for rows in (_long(params), _refused())),
        # Memory takes every transfer, and answers late: as many writes as can be are in flight.
        Batch(_written(params), memory={"latency": (100, 200), "ready": 256}),
    ]


def _long(params):
    """The longest sides, and more tiles than have 14 bits, of one sample and of most of them."""
    edge = EDGE << 4
    sizes = [
        (0, 1, TARGET_LIMIT),
        (params.most, TARGET_LIMIT, 5),
        (params.most, 1, TARGET_LIMIT),
        (0, 8 * edge + 1, 8 * edge),
        (params.most, 4 * edge, 8 * edge + 1),
    ]
    surfaces = [
        request(samples=samples, width=width, height=height, source=at << 24, target=at + 8 << 24)
        for at, (samples, width, height) in enumerate(sizes)
    ]
    # Requests that are refused besides: as many clocks are allowed as there are beats.
    return np.concatenate([*surfaces, *[request()] * 40])


def _written(params):
    """Targets of which every tile is written; a source in some of them is all cleared."""
    rows = [
        request(
            samples=params.most,
            width=128,
            height=64,
            source=2 * n * PLACE,
            target=(2 * n + 1) * PLACE,
            target_cleared=0x01020304,
            srgb=n % 2 if params.srgb else 0,
        )
        for n in range(6)
    ]
    return np.concatenate(rows)


def _refused():
    """One side is too long, and the other one of any length; sRGB or not."""
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(200):
        right = int(rng.integers(0, 1 << rng.integers(0, 15)))
        long = int(rng.integers(TARGET_LIMIT + 1, 1 << 15))
        sides = rng.permutation([right, long])
        samples = int(rng.integers(0, len(LANE_SHAPE)))
        srgb = int(rng.integers(0, 2))
        rows.append(request(samples=samples, width=sides[0], height=sides[1], srgb=srgb))
    return np.concatenate(rows)


def bins(seen: Seen, params: ResolveParams) -> dict[str, int]:
    """Counts of one batch."""
    records = records_of(seen.rows)
    obeyed = is_obeyed(records, params)
    used = records[obeyed]
    samples = equal(used["samples"], {str(1 << n): n for n in range(params.most + 1)})
    shapes = np.array([surface_shape(record) for record in used]).reshape(-1, 2)
    groups = np.array([[1 << n for n in LANE_SHAPE[record["samples"]][::-1]] for record in used])
    partial = (shapes % groups.reshape(-1, 2)).astype(bool)
    edges = np.array([used["height"], used["width"]]).T % EDGE
    tiles = shapes.prod(1)
    chained = np.isin(records["source"], records["target"])
    return (
        cross("samples x rows of groups", samples, flag(partial[:, 0], "whole", "cut"))
        | cross("samples x columns of groups", samples, flag(partial[:, 1], "whole", "cut"))
        | cross("samples x rows of pixels", samples, flag(edges[:, 0] != 0, "whole", "cut"))
        | cross("samples x columns of pixels", samples, flag(edges[:, 1] != 0, "whole", "cut"))
        | cross("samples x row of tiles", samples, flag(shapes[:, 1] > LINE, "a line", "more"))
        | cross("samples x tiles", samples, flag(tiles > LINE, "a line", "more"))
        | cross("tiles fill lines", flag(tiles % LINE == 0, "no", "yes"))
        | cross("samples x colours", samples, flag(used["srgb"] == 1, "UNORM", "sRGB"))
        | cross("request", flag(obeyed, "refused", "obeyed"))
        | cross("source", flag(chained, "of its own", "resolved before"))
        | _modes(seen.rows, used, samples, params)
    )


def _modes(rows, records, samples, params):
    """Modes that sources lie in."""
    data = memory(rows, params)
    planes = range(TileMode.PLANES_2, TileMode.RAW)
    names = [mode for mode in TileMode if mode not in (*planes, TileMode.DIFFERENCES_7)]
    found = np.zeros((len(records), len(names)), bool)
    for n, record in enumerate(records):
        begin = int(record["source"])
        shape = surface_shape(record)
        codes = CodedTiles(data[begin:], *shape, 4, int(record["samples"]), np.zeros(4, np.uint8))
        found[n] = np.isin(names, codes.codes)
    counts = {}
    for k, mode in enumerate(names):
        counts |= cross(f"mode {int(mode)} x samples", samples, where=found[:, k])
    return counts
