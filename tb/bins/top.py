# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the top: what HiZ finds, why streams end, counters that move, events of every cache."""

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.top import TopParams
from fixfunc.spec.commands import STATUS, CommandError
from fixfunc.spec.counters import COUNTERS
from fixfunc.spec.state import Kind
from fixfunc.tb.coverage.bins import Seen, cross, flag, of
from fixfunc.tb.depth.bins import hiz
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE

COUNT = 600
EVENTS = CACHE + hiz.EVENTS


def bins(seen: Seen, params: TopParams) -> dict[str, int]:
    """Counts of one batch."""
    found = seen.out["probe_hiz"]
    work = found[:, 0] & 3 == Kind.WORK
    status = codec.unpack(seen.out["o"], STATUS, dtype(STATUS))
    counters = seen.out["counter_value"][:, 0]
    return (
        hiz.outcomes(found, work, found, params.raster.edge, params.raster.samples.bit_length())
        | cross("status", flag(status["last"], "fence", "last"), flag(status["any"], "none", "any"))
        | cross("error", of(CommandError, status["error"]))
        | {
            f"counter: {name}": int(counters[n]) if len(counters) else 0
            for n, name in enumerate(COUNTERS)
        }
    )
