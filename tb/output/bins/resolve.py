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

LINE = 64  # tiles of a line of the mode table
LARGEST = 1 << 28  # bytes of memory
COUNT = 200  # tiles, as the bench's ``requests`` count them


def directed(params: ResolveParams) -> list[Batch]:
    """Surfaces all over a large memory; the longest sides."""
    rng = np.random.default_rng(1)
    records = records_of(requests(rng, 3 * COUNT, params))
    place = rng.permutation(LARGEST // PLACE).astype(np.uint32)
    for name in ("source", "target"):
        number, rest = np.divmod(records[name], PLACE)
        records[name] = place[number] * PLACE + rest
    long = [
        request(samples=samples, width=width, height=height, source=at << 24, target=at + 8 << 24)
        for at, (samples, width, height) in enumerate(
            [(0, 1, TARGET_LIMIT), (params.most, TARGET_LIMIT, 5)]
        )
    ]
    return [
        Batch(codec.pack(records, RESOLVE)),
        # Requests that are refused besides: as many clocks are allowed as there are beats.
        Batch(np.concatenate([*long, *[request()] * 10]), memory={"latency": (0, 8)}),
    ]


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
