# SPDX-License-Identifier: BSD-2-Clause
"""Counters of a tile cache, as the hardware sends them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from fixfunc.models.memory.tile_cache import TrafficKind
from fixfunc.models.payload import dtype
from fixfunc.spec.errors import InputError
from fixfunc.spec.memory.caching import COUNTED
from fixfunc.spec.payloads import Field
from fixfunc.spec.state import TileMode


def counter_record(
    transfers: Mapping[TrafficKind, int], table: tuple[Field, ...] = COUNTED
) -> np.ndarray:
    """Counts of transfers as one record of :func:`fixfunc.spec.memory.caching.counted`, shape (1,).

    Parameters
    ----------
    transfers : mapping
        From :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`; of modes that
        the hardware does not count there, :class:`~fixfunc.spec.errors.InputError`.
    table : sequence of Field
        From :func:`fixfunc.spec.memory.caching.counted`.
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
    """What a field of :func:`fixfunc.spec.memory.caching.counted` counts."""
    if name == "table_clear":
        return TrafficKind("clear", TileMode.CLEARED)
    if name.startswith("table"):
        return TrafficKind(name, None)
    cause, mode = name.rsplit("_", 1)
    return TrafficKind(cause, TileMode(int(mode)))


def by_name(traffic: Mapping[str, Mapping[TrafficKind, int]]) -> Counter[str]:
    """Counts of transfers by the names of :data:`fixfunc.spec.counters.MOVED`.

    ``traffic`` is by client, each of :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`.
    """
    out = Counter()
    for client, transfers in traffic.items():
        for kind, count in transfers.items():
            out[f"{client}_{_name_of(kind)}"] += count
    return out


def _name_of(kind):
    """The inverse of :func:`cause_of`."""
    if kind.cause == "clear":
        return "table_clear"
    return kind.cause if kind.mode is None else f"{kind.cause}_{int(kind.mode)}"
