# SPDX-License-Identifier: BSD-2-Clause
"""Counters of a tile cache, as the hardware sends them."""

from collections.abc import Mapping

import numpy as np

from fixfunc.models.memory.tile_cache import TrafficKind
from fixfunc.models.payload import dtype
from fixfunc.spec.payloads import COUNTED
from fixfunc.spec.state import TileMode


def counter_record(transfers: Mapping[TrafficKind, int]) -> np.ndarray:
    """Counts of transfers as one record of :data:`fixfunc.spec.payloads.COUNTED`, shape (1,).

    Parameters
    ----------
    moves : mapping
        From :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`.
    """
    out = np.zeros(1, dtype(COUNTED))
    for field in COUNTED:
        out[field.name] = transfers[cause_of(field.name)]
    return out


def cause_of(name: str) -> TrafficKind:
    """What a field of :data:`fixfunc.spec.payloads.COUNTED` counts."""
    if name == "table_clear":
        return TrafficKind("clear", TileMode.CLEARED)
    if name.startswith("table"):
        return TrafficKind(name, None)
    cause, mode = name.rsplit("_", 1)
    return TrafficKind(cause, TileMode(int(mode)))
