# SPDX-License-Identifier: BSD-2-Clause
"""Counters of a tile cache, as the hardware sends them."""

from collections.abc import Mapping

import numpy as np

from fixfunc.models.memory.tile_cache import TrafficKind
from fixfunc.models.payload import dtype
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COUNTED
from fixfunc.spec.state import TileMode


def counter_record(transfers: Mapping[TrafficKind, int]) -> np.ndarray:
    """Counts of transfers as one record of :data:`fixfunc.spec.payloads.COUNTED`, shape (1,).

    Parameters
    ----------
    transfers : mapping
        From :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`; of tiles by differences,
        which the hardware does not code, :class:`~fixfunc.spec.errors.InputError`.
    """
    out = np.zeros(1, dtype(COUNTED))
    kinds = {field.name: cause_of(field.name) for field in COUNTED}
    for kind, count in transfers.items():
        if count and kind not in kinds.values():
            raise InputError("transfers", "be of modes that the hardware counts", kind)
    for name, kind in kinds.items():
        out[name] = transfers[kind]
    return out


def cause_of(name: str) -> TrafficKind:
    """What a field of :data:`fixfunc.spec.payloads.COUNTED` counts."""
    if name == "table_clear":
        return TrafficKind("clear", TileMode.CLEARED)
    if name.startswith("table"):
        return TrafficKind(name, None)
    cause, mode = name.rsplit("_", 1)
    return TrafficKind(cause, TileMode(int(mode)))
