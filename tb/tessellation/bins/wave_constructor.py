# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the wave constructor: where waves begin and end, and what ends them."""

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.tessellation.wave_constructor import WaveConstructorParams
from fixfunc.spec.points import MATCHED_POINT, wave
from fixfunc.spec.state import PointKind
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, of


def bins(seen: Seen, params: WaveConstructorParams) -> dict[str, int]:
    """Counts of one batch."""
    points = codec.unpack(seen.rows, MATCHED_POINT, dtype(MATCHED_POINT))
    waves = codec.unpack(seen.out["o"], wave(params.lanes), dtype(wave(params.lanes)))
    lanes = range(params.lanes)
    is_point = points["kind"] == PointKind.POINT
    return (
        cross(
            "wave: begin x end",
            equal(waves["begin"], {f"{n}": n for n in lanes}),
            equal(waves["end"], {f"{n + 1}": n + 1 for n in lanes}),
        )
        | cross(
            "beat x the one before",
            of(PointKind, points["kind"][1:]),
            of(PointKind, points["kind"][:-1]),
        )
        | cross(
            "point",
            flag(points["hit"], "miss", "hit"),
            flag(points["first"], "later", "first"),
            where=is_point,
        )
        | cross("half of the places", flag(points["dsid"] >> 15, "lower", "upper"), where=is_point)
    )
