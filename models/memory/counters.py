# SPDX-License-Identifier: BSD-2-Clause
"""Counters of a tile cache, as the hardware sends them."""

from collections.abc import Mapping

import numpy as np

from fixfunc.models.memory.tile_cache import TrafficKind
from fixfunc.models.payload import dtype
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COUNTED, Field
from fixfunc.spec.state import TileMode


def counter_record(
    transfers: Mapping[TrafficKind, int], table: tuple[Field, ...] = COUNTED
) -> np.ndarray:
    """Counts of transfers as one record of :func:`fixfunc.spec.payloads.counted`, shape (1,).

    Parameters
    ----------
    transfers : mapping
        From :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`; of modes that
        the hardware does not count there, :class:`~fixfunc.spec.errors.InputError`.
    table : sequence of Field
        From :func:`fixfunc.spec.payloads.counted`.
    """
    out = np.zeros(1, dtype(table))
    kinds = {field.name: cause_of(field.name) for field in table}
    for kind, count in transfers.items():
        if count and kind not in kinds.values():
            raise InputError("transfers", "be of modes that the hardware counts", kind)
    for name, kind in kinds.items():
        out[name] = transfers[kind]
    return out


def cause_of(name: str) -> TrafficKind:
    """What a field of :func:`fixfunc.spec.payloads.counted` counts."""
    if name == "table_clear":
        return TrafficKind("clear", TileMode.CLEARED)
    if name.startswith("table"):
        return TrafficKind(name, None)
    cause, mode = name.rsplit("_", 1)
    return TrafficKind(cause, TileMode(int(mode)))
