# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the top: what HiZ finds, why streams end, counters that move, events of every cache."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.models.formats import MOST
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.top import TopParams
from fixfunc.spec import payloads
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.counters import COUNTERS
from fixfunc.spec.state import DepthFormat, Kind
from fixfunc.tb.coverage.bins import Seen, cross, flag, of
from fixfunc.tb.depth.bins import hiz
from fixfunc.tb.frontend import streams
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE

COUNT = 600
EVENTS = CACHE + hiz.EVENTS
PARTS = {
    "top.reader": "command_reader",
    "top.setup": "triangle_setup",
    "top.raster": "tile_rasterizer",
    "top.depth": "cached_depth",
    "top.colour": "colour_write",
}


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


def directed(params: TopParams) -> np.ndarray:
    """Triangles that come faster than they are drawn; tiles that blending leaves as cleared."""
    rng = np.random.default_rng(0)
    crowd = streams.one_list(rng, 300, params)
    side = streams.PIXELS[params.raster.edge]
    dots = _dots(side, params.raster.edge)
    packets = CommandList()
    for _ in range(8):
        # A sample of each tile has its red channel blended: now and then to what it was.
        packets.target(**streams.PLACES).state(draw_state(side, side, blend=1, colour_write=1))
        value = int(rng.integers(0, 1 << 32))
        whole = {"depth": 1, "stencil": 1, "colour": 1, "depth_value": MOST[DepthFormat.D24]}
        packets.clear((0, 0, side, side), colour_value=value, **whole)
        packets.triangles(dots)
    start = np.zeros(1, dtype(START))
    start["address"] = streams.LISTS + 32 * len(crowd)
    start["transfers"] = len(packets.transfers)
    start["limit"] = streams.SIZE
    return np.concatenate([crowd, streams.mark(start), packets.transfers])


def _dots(side, edge):
    """Triangles of one pixel each, the first of every tile of a target."""
    y, x = np.divmod(np.arange((side // edge) ** 2), side // edge) * np.array(edge << 8)
    out = np.zeros(len(x), dtype(payloads.TRIANGLE))
    for k, (dx, dy) in enumerate(((0, 0), (300, 0), (0, 300))):
        out[f"x{k}"], out[f"y{k}"] = x + dx, y + dy
    return out
