# SPDX-License-Identifier: BSD-2-Clause
"""Bins of domain matching: hits by distance, waves that end, users that are waited for."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.tessellation.domain_matching import DomainMatchingParams
from fixfunc.spec.points import MATCHED_POINT, MATCHES
from fixfunc.spec.state import PointKind
from fixfunc.tb.coverage.bins import Seen, cross, flag, of


def bins(seen: Seen, params: DomainMatchingParams) -> dict[str, int]:
    """Counts of one batch."""
    records = codec.unpack(seen.out["o"], MATCHED_POINT, dtype(MATCHED_POINT))
    points = records["kind"] == PointKind.POINT
    dsid = np.where(points, records["dsid"].astype(int), -1)
    hit = records["hit"].astype(bool) & points
    same = {
        f"{n} before": np.concatenate([np.zeros(min(n, len(dsid)), bool), dsid[n:] == dsid[:-n]])
        & hit
        for n in range(1, 5)
    }
    lane = dsid % params.lanes
    wave = dsid // params.lanes
    newest = np.maximum.accumulate(np.where(points & ~hit, np.arange(len(dsid)), 0))
    same_wave = (wave == wave[newest]) if len(dsid) else hit
    kinds = of(PointKind, records["kind"][1:])
    before = of(PointKind, records["kind"][:-1])
    counted = codec.unpack(seen.out["counted"], MATCHES, dtype(MATCHES))
    return (
        cross(
            "point",
            flag(hit, "miss", "hit"),
            flag(records["first"], "later", "first"),
            where=points,
        )
        | cross("hit of the point", same)
        | cross("hit in", flag(same_wave, "an older wave", "the newest wave"), where=hit)
        | cross(
            "miss in lane", {f"{n}": (lane == n) & ~hit for n in range(params.lanes)}, where=points
        )
        | cross("beat x the one before", kinds, before)
        | {
            f"counted: {name}": int((counted[name] > 0).sum())
            for name in counted.dtype.names
            if name != "stalls"
        }
    )
