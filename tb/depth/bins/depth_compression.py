# SPDX-License-Identifier: BSD-2-Clause
"""Bins of depth compression: modes of tiles, and whether an anchor fits, by what it needs."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.depth.compression.planes import MOST, PLANE, evaluate
from fixfunc.models.payload import dtype
from fixfunc.rtl.depth.compression.depth_compression import DepthCompressionParams
from fixfunc.rtl.depth.compression.tile_modes import MODES, WITH_DIFFERENCES
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.payloads import DEPTH
from fixfunc.tb.coverage.bins import Axis, Seen, cross, equal, flag, of, samples_of
from fixfunc.tb.depth.depth_compression import coded_table, depths, known_planes, tables, width

SLOPE = 1 << 14  # slopes of an anchored block are below, from its negative on
CORRECTION = 1 << 4  # and so are corrections


def bins(seen: Seen, params: DepthCompressionParams) -> dict[str, int]:
    """Counts of one batch."""
    edge = params.edge
    decodes = (seen.rows[:, 0] & 1).astype(bool)
    to_code, to_decode = tables(params)
    tiles = codec.unpack(seen.rows[~decodes], to_code, dtype(to_code))
    codes = codec.unpack(seen.rows[decodes], to_decode, dtype(to_decode))
    coded = codec.unpack(seen.out["o"], coded_table(params), dtype(coded_table(params)))
    decoded = codec.unpack(
        seen.out["tile"], depth_tiles.decoded(edge), dtype(depth_tiles.decoded(edge))
    )
    known = WITH_DIFFERENCES if params.differences else MODES
    modes = of(known, coded["mode"])
    return (
        cross("coded: mode x samples", modes, samples_of(tiles["samples"], params.modes))
        | cross("coded: mode x clears", modes, flag(tiles["clears"], "not cleared", "cleared"))
        | cross("coded: planes known", equal(tiles["planes"], {f"{n}": n for n in range(5)}))
        | ({} if params.differences else _anchors(tiles, edge))
        | cross(
            "decoded: mode x samples",
            of(known, codes["mode"]),
            samples_of(codes["samples"], params.modes),
        )
        | cross(
            "decoded: mode x wrong",
            equal(codes["mode"], {f"{n}": n for n in range(1 << params.mode_bits)}),
            flag(decoded["wrong"], "right", "wrong"),
        )
    )


def _anchors(tiles: np.ndarray, edge: int) -> dict[str, int]:
    """The first block of 4 by 4 of tiles: slopes and corrections at the ends of what fits."""
    lanes = np.stack([tiles[f"depth{n}"].astype(np.int64) for n in range(edge**2)], -1)
    lanes = lanes.reshape(-1, edge, edge)[:, :4, :4]
    anchor = lanes[:, :1, :1]
    dx, dy = (_signed(side - anchor[:, 0, 0]) for side in (lanes[:, 0, 1], lanes[:, 1, 0]))
    j, i = np.mgrid[:4, :4]
    plane = anchor + dx[:, None, None] * i + dy[:, None, None] * j
    correction = _signed(lanes - plane).reshape(-1, 16)
    least, most = correction.min(1, initial=0), correction.max(1, initial=0)
    slopes_fit = _fits(dx, SLOPE) & _fits(dy, SLOPE)
    corrections_fit = (least >= -CORRECTION) & (most < CORRECTION)
    return (
        cross(
            "anchor: slopes x corrections",
            flag(slopes_fit, "slopes too great", "slopes fit"),
            flag(corrections_fit, "corrections too great", "corrections fit"),
        )
        | cross("anchor: slope x by its sign", _signs(dx, SLOPE))
        | cross("anchor: slope y by its sign", _signs(dy, SLOPE))
        | cross(
            "anchor: correction by its sign",
            {
                "none": (least == 0) & (most == 0),
                "negative fits": (least < 0) & (least >= -CORRECTION),
                "least that fits": least == -CORRECTION,
                "negative does not": least < -CORRECTION,
                "positive fits": (most > 0) & (most < CORRECTION),
                "greatest that fits": most == CORRECTION - 1,
                "positive does not": most >= CORRECTION,
            },
        )
    )


def _signed(values):
    return (values + (1 << DEPTH - 1) & (1 << DEPTH) - 1) - (1 << DEPTH - 1)


def _fits(values, limit):
    return (values >= -limit) & (values < limit)


def _signs(slope: np.ndarray, limit: int) -> Axis:
    return {
        "zero": slope == 0,
        "negative fits": (slope < 0) & (slope >= -limit),
        "negative does not": slope < -limit,
        "positive fits": (slope > 0) & (slope < limit),
        "positive does not": slope >= limit,
    }


def directed(params: DepthCompressionParams) -> np.ndarray:
    """Tiles of four known planes, of which every subset has samples."""
    edge = params.edge
    to_code, to_decode = tables(params)
    cleared = np.zeros(1, dtype(to_decode))
    cleared["decodes"] = 1
    lanes = np.arange(edge**2).reshape(edge, edge)
    rows = []
    for mode in params.modes:
        cleared["samples"] = mode
        rows.append(codec.pack(cleared, to_decode, width(params)))
        for used in range(1, 1 << MOST):
            chosen = np.flatnonzero(used >> np.arange(MOST) & 1)
            planes = np.zeros((1, MOST), PLANE)
            planes["z0"] = (1 + np.arange(MOST)) * 3_000_001
            planes["dx"] = np.arange(MOST) * 1000
            masks = chosen[lanes % len(chosen)][None]
            out = np.zeros(1, dtype(to_code))
            out["samples"] = mode
            known_planes(out, planes, np.array([MOST]), masks)
            depths(out, evaluate(planes, masks, mode))
            rows.append(codec.pack(out, to_code, width(params)))
    return np.concatenate(rows)
