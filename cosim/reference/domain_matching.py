# SPDX-License-Identifier: BSD-2-Clause
"""Golden domain matching as packed beats."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.reference.vertex_users import Harness
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.domain_matching import match_points
from fixfunc.rtl.tessellation.domain_matching import DomainMatchingParams
from fixfunc.spec.points import DOMAIN_POINT, MATCHED_POINT, MATCHES
from fixfunc.spec.state import PointKind

__all__ = ["Harness"]


def expected(rows: np.ndarray, params: DomainMatchingParams) -> dict[str, np.ndarray]:
    """Packed outputs of packed points, without FLUSHes: matched points, and counters of draws."""
    points = codec.unpack(rows, DOMAIN_POINT, dtype(DOMAIN_POINT))
    matched, counters = match_points(points, params.rows, params.lanes, params.waves, params.across)
    return {"o": codec.pack(matched, MATCHED_POINT), "counted": codec.pack(counters, MATCHES)}


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: DomainMatchingParams
) -> dict[str, np.ndarray]:
    """Expected outputs with a FLUSH wherever one was received, at most one ahead of a point."""
    golden = expected(rows, params)
    flush = np.zeros(1, dtype(MATCHED_POINT))
    flush["kind"] = PointKind.FLUSH
    flush = codec.pack(flush, MATCHED_POINT)
    is_flush = (outputs["o"] == flush).all(1)
    is_flush[1:] &= ~is_flush[:-1]
    positions = np.flatnonzero(is_flush)
    positions = np.minimum(positions - np.arange(len(positions)), len(golden["o"]))
    golden["o"] = np.insert(golden["o"], positions, flush, 0)
    return golden


def describe(row: np.ndarray, _params: DomainMatchingParams) -> str:
    """A beat in words."""
    record = codec.unpack(row[None], MATCHED_POINT, dtype(MATCHED_POINT))[0]
    return f"{PointKind(record['kind']).name} " + " ".join(
        f"{name}={record[name]}" for name in record.dtype.names[1:]
    )
