# SPDX-License-Identifier: BSD-2-Clause
"""One memory for host and card, or one each: copies that are spared, and who waits for whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fixfunc.models.memory.dram.accesses import ACCESS
from fixfunc.models.memory.dram.controller import Dram
from fixfunc.models.memory.dram.service import Service, serve
from fixfunc.models.payload import integer
from fixfunc.models.system.bus import SECOND, Bus
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class Shared:
    """Data that the host makes and the card reads, beside what each moves for itself.

    Parameters
    ----------
    size : int
        Bytes that the host writes once.
    reads : int
        How often the card reads all of them.
    host, card : int
        Bytes that each moves beside them.
    """

    size: int
    reads: int = 1
    host: int = 0
    card: int = 0

    def __post_init__(self):
        for name, value in vars(self).items():
            integer(name, value, 0, 1 << 48)


def separate_time(work: Shared, system: int, local: int, bus: Bus) -> Fraction:
    """Nanoseconds with a memory each: both memories and the bus work side by side.

    What the host has written is copied: read once more, moved by the bus, and written to local
    memory.

    Parameters
    ----------
    work : Shared
    system, local : int
        Bytes a second of the memories.
    bus : Bus
    """
    of_host = Fraction((work.host + 2 * work.size) * SECOND, system)
    of_card = Fraction((work.card + (1 + work.reads) * work.size) * SECOND, local)
    return max(of_host, Fraction(bus.time(work.size)), of_card)


def unified_time(work: Shared, bandwidth: int) -> Fraction:
    """Nanoseconds with one memory, which moves all of it by itself: nothing is copied."""
    total = work.host + work.card + (1 + work.reads) * work.size
    return Fraction(total * SECOND, bandwidth)


def serve_together(dram: Dram, streams: Mapping[str, np.ndarray]) -> dict[str, Service]:
    """Accesses of several through one DRAM, and of each alone.

    Parameters
    ----------
    dram : Dram
    streams : mapping of str to ndarray of ACCESS
        Clients of each are numbered anew, by the order of the streams.

    Returns
    -------
    dict of str to Service
        ``together``, whose clients are the streams, and each stream by its name, alone.
    """
    if "together" in streams:
        raise InputError("name of a stream", "be another one", "together")
    parts = []
    for number, accesses in enumerate(streams.values()):
        own = np.array(accesses, ACCESS)
        own["client"] = number
        parts.append(own)
    merged = np.concatenate(parts) if parts else np.zeros(0, ACCESS)
    merged = merged[np.argsort(merged["clock"], kind="stable")]
    alone = {name: serve(dram, own) for name, own in zip(streams, parts, strict=True)}
    return {"together": serve(dram, merged), **alone}
