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
from fixfunc.spec.counters import COUNTERS, RESOLVES
from fixfunc.spec.state import Compare, DepthFormat, Kind
from fixfunc.tb.coverage.bins import Batch, Seen, cross, flag, of
from fixfunc.tb.depth.bins import hiz
from fixfunc.tb.frontend import streams
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE

COUNT = 600
EVENTS = CACHE + hiz.EVENTS
CLEARED = {"depth": 1, "stencil": 1, "colour": 1, "depth_value": MOST[DepthFormat.D24]}
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
            if params.resolve or name not in RESOLVES
        }
    )


def directed(params: TopParams) -> list[Batch]:
    """Beats of their own for what random lists leave out."""
    return [Batch(_crowd(params)), Batch(_refused()), Batch(_noise()), Batch(_wide())]


def _crowd(params):
    """Triangles that come faster than they are drawn; tiles that blending leaves as cleared."""
    rng = np.random.default_rng(0)
    crowd = streams.one_list(rng, 300, params)
    side = streams.PIXELS[params.raster.edge]
    dots = _dots(side, params.raster.edge)
    packets = CommandList()
    for _ in range(8):
        # A sample of each tile has its red channel blended: now and then to what it was.
        packets.target(**streams.PLACES).state(
            draw_state(side, side, blend_enable=1, colour_write=1)
        )
        value = int(rng.integers(0, 1 << 32))
        packets.clear((0, 0, side, side), colour_value=value, **CLEARED)
        packets.triangles(dots)
    return np.concatenate([crowd, _listed(packets.transfers, len(crowd))])


def _listed(transfers, at):
    """A START and its list, which lies so many transfers behind the first place of lists."""
    start = np.zeros(1, dtype(START))
    start["address"] = streams.LISTS + 32 * at
    start["transfers"] = len(transfers)
    start["limit"] = streams.SIZE
    return np.concatenate([streams.mark(start), transfers])


def _refused():
    """STARTs anywhere, of any length, that end beyond their limit: more than half of what the
    harness can count.
    """
    rng = np.random.default_rng(0)
    start = np.zeros(1, dtype(START))
    rows = []
    for _ in range(200):
        start["address"] = address = int(rng.integers(0, 1 << 32))
        start["transfers"] = transfers = int(rng.integers(1, 1 << 24))
        start["limit"] = rng.integers(0, min(address + 32 * transfers, 1 << 32))
        rows.append(streams.mark(start, 0, transfers))
    return np.concatenate(rows)


def _noise():
    """Lists that hold no packet."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 1 << 64, (40, 8, 4), np.uint64)
    return np.concatenate([_listed(transfers, 8 * n) for n, transfers in enumerate(noise)])


def _wide():
    """Triangles that reach as far as coordinates do, over targets as wide as the configuration's.

    Each edge in its turn is a diagonal, of both slopes and both windings.
    """
    far = (1 << 23) - 1
    packets = CommandList()
    corners = [(-far, far), (far, -far), (far, far)], [(-far, -far), (far, far), (-far, far)]
    triangles = np.zeros(12, dtype(payloads.TRIANGLE))
    for n in range(len(triangles)):
        places = np.roll(corners[n % 2], n // 2 % 3, 0)[:: 1 if n < 6 else -1]
        for k, (x, y) in enumerate(places.tolist()):
            triangles[n][f"x{k}"], triangles[n][f"y{k}"] = x, y
    for n, side in enumerate((40, 63, 48, 33) * 2):
        # What is beyond 1.0 as an end of the viewport's range counts as 1.0.
        end = (MOST[DepthFormat.D24], (1 << 32) - 1)[n % 2]
        packets.target(**streams.PLACES)
        packets.state(draw_state(side, side, depth_compare=Compare.ALWAYS, depth_max=end))
        packets.clear((0, 0, side, side), colour_value=0x01234567, **CLEARED)
        packets.triangles(triangles).fence(side, begin=1)
    return _listed(packets.transfers, 0)


def _dots(side, edge):
    """Triangles of one pixel each, the first of every tile of a target."""
    y, x = np.divmod(np.arange((side // edge) ** 2), side // edge) * np.array(edge << 8)
    out = np.zeros(len(x), dtype(payloads.TRIANGLE))
    for k, (dx, dy) in enumerate(((0, 0), (300, 0), (0, 300))):
        out[f"x{k}"], out[f"y{k}"] = x + dx, y + dy
    return out
