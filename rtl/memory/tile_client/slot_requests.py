# SPDX-License-Identifier: BSD-2-Clause
"""Slot requests: which tiles a draw, a clear or a fence needs on chip."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import DrainTimer
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.front import SurfaceFront
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, RectangleMask
from fixfunc.rtl.memory.surface.state_queue import StateQueue
from fixfunc.rtl.memory.surface.tile_number import TileNumber
from fixfunc.rtl.memory.tile_client.plane_states import plane_states, planes_begun
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.memory import caching
from fixfunc.spec.state import CacheOp, DepthFormat, Kind, Outcome, StencilOp

REQUESTS = 64  # of each plane, that wait for its cache
# A clear that reaches the target's edge goes on as far as coordinates do: a tile at the edge, of
# which only a part lies on the target, is then covered as a whole.
BEYOND = (1 << 15) - 1


USAGE = StructLayout({"used": 1, "needed": 1, "writes": 1})


class Plane(NamedTuple):
    """A plane of a target, and how tiles use it.

    ``usage(state, tile)`` returns the bits of ``USAGE``: the tile's values are used; they are
    needed; they may be written.
    """

    name: str
    usage: Callable
    cleared_as: str  # what a clear calls it
    number: int = 0  # of colour planes


def depth_usage(state: Value, tile: Value) -> tuple:
    """A tile that HiZ dropped uses no depths; one that it accepted needs them if some remain.

    Of a tile that is written late any sample may remain.
    """
    reads = (tile.outcome == Outcome.TEST) & state.depth_test
    writes = state.depth_test & state.depth_write
    return (
        (tile.outcome != Outcome.DROP) & (reads | writes),
        reads | ~tile.mask.all() | state.stencil_test | ~state.early_write,
        writes,
    )


def stencil_usage(state: Value, tile: Value) -> tuple:
    """Every tile that is tested needs its stencil values."""
    names = (
        f"stencil_{face}_{name}"
        for face in ("front", "back")
        for name in ("fail", "depth_fail", "pass")
    )
    modifies = (
        state.stencil_write.any() & Cat(state[name] != StencilOp.KEEP for name in names).any()
    )
    return (tile.outcome != Outcome.DROP) & state.stencil_test, 1, modifies


def reads_target(state: Value, by_bytes: bool = True) -> Value:
    """What is stored decides, with the shader's colour, what will be.

    A channel that is not written keeps its bytes if memory is written ``by_bytes``; otherwise the
    tile is read for it.
    """
    reads = state.blend_enable | state.logic_op_enable
    return reads if by_bytes else reads | ~state.colour_write.all()


def colour_usage(state: Value, tile: Value) -> tuple:
    """A tile of which samples passed needs its colours, unless all of them are overwritten.

    Of a tile that is written late any sample may remain.
    """
    return (
        tile.mask.any() & state.colour_write.any(),
        ~tile.mask.all() | ~state.colour_write.all() | reads_target(state) | ~state.early_write,
        1,
    )


DEPTHS = Plane("depth", depth_usage, "depth")
STENCILS = Plane("stencil", stencil_usage, "stencil")


def colour_planes(count: int) -> list[Plane]:
    """Colour planes of a target; all but the first have their number in their name."""
    names = [payloads.colour_plane(n) for n in range(count)]
    return [Plane(name, colour_usage, "colour", n) for n, name in enumerate(names)]


def requested_beat(
    edge: int, planes: Sequence, tile: Callable[[int], tuple] = payloads.tile
) -> StructLayout:
    """A beat, and which caches have a request of it.

    ``requested``: a bit for each plane, whose cache has a request of the beat. ``refused``: the
    tile must not be touched. ``clearing``: the tile is one of a clear. ``whole_target``: the beat
    stands for a clear of all of the target, or for a flush.
    """
    shape = beat(tile=tile(edge), **payloads.CONTROL)
    return StructLayout(
        {"beat": shape, "requested": len(planes), "refused": 1, "clearing": 1, "whole_target": 1}
    )


def unbounded(clear: Value, state: Value) -> dict[str, Value]:
    """The rectangle of a clear, cut to the target; it has no end where it reaches the edge."""
    cut = {
        f"{axis}1": Mux(clear[f"{axis}1"] == state[f"target_{side}"], BEYOND, clear[f"{axis}1"])
        for axis, side in (("x", "width"), ("y", "height"))
    }
    return {name: cut.get(name, clear[name]) for name in RECTANGLE.members}


def usages(m: Module, planes: Sequence[Plane], states: Sequence, tile: Value) -> dict[str, Signal]:
    """How a tile of the draw states of colour planes uses each plane, by its name."""
    of_planes = {}
    for plane in planes:
        of_planes[plane.name] = usage = Signal(USAGE, name=f"{plane.name}_usage")
        values = plane.usage(states[plane.number], tile)
        m.d.comb += [
            usage[name].eq(value) for name, value in zip(USAGE.members, values, strict=True)
        ]
    return of_planes


class SlotRequests(wiring.Component):
    """Ask a cache for each plane of every tile, in the order of drawing; one tile a clock.

    A clear of a part of the target becomes tiles. A clear of all of it becomes a CLEAR of the
    caches. A fence that flushes becomes a FLUSH. The rules of
    :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront` hold: a tile that must not be drawn is
    marked, and has no request. A colour plane but the first has no request before a clear of all
    of it has begun it on this target.

    Parameters
    ----------
    params
        See :class:`~fixfunc.rtl.depth.test.depth_test.DepthTestParams`: ``edge``, ``samples``,
        ``modes``, ``formats`` and ``stencil`` are read.
    planes : sequence of Plane
    ahead : int
        Tiles that are known to the caches before their turn.
    formats : sequence of Format
        What colour planes may be.
    second : bool
        Shaders give two colours.
    floats : bool
        Planes of floats are blended.
    tile : callable
        Table of a tile, by its edge.

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    flush_early : In(1)
        Nothing but a fence that flushes can come next: the FLUSH goes ahead of it, with a beat that
        is ``whole_target``.
    o : Out(stream.Signature(requested_beat(edge, planes)))
        All beats; tiles of clears; one beat that is ``whole_target`` for each CLEAR.
    <plane> : Out(stream.Signature(layout(caching.cache_request(edge))))
        One request for each beat whose ``requested`` has the plane's bit.
    """

    LATENCY = 1 + RectangleMask.LATENCY

    def __init__(
        self,
        params: Any,
        planes: Sequence,
        ahead: int,
        formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        floats: bool = False,
        tile: Callable[[int], tuple] = payloads.tile,
    ) -> None:
        self._floats = floats
        self._params = params
        self._second = second
        self._ahead = ahead
        self._planes = planes
        self._formats = formats
        self._colours = 1 + max(plane.number for plane in planes)
        self._tile = tile
        shape = beat(tile=tile(params.edge), **payloads.CONTROL)
        request = stream.Signature(layout(caching.cache_request(params.edge)))
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "flush_early": In(1),
                "o": Out(stream.Signature(requested_beat(params.edge, planes, tile))),
            }
            | {plane.name: Out(request) for plane in planes}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        names = tuple(plane.cleared_as for plane in self._planes if not plane.number)
        m.submodules.front = front = SurfaceFront(
            *(p, self.LATENCY + 2, True, names, self._colours, self._formats, self._second),
            *(self._floats, self._tile),
        )
        m.submodules.beats = beats = CreditedFIFO(self.o.payload.shape(), self._ahead, lookahead=5)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, beats.o, wiring.flipped(self.o))
        early, flushed = self._flush_early(m, front)
        planes = self._colours, self._formats, self._second, self._floats
        states = plane_states(m, front, *planes)
        request = self._request(m, front, states, early, flushed)
        begun = planes_begun(m, front, self._colours)
        m.submodules.passing = passing = StateQueue(self.LATENCY)
        m.d.comb += [
            passing.state.eq(front.state),
            passing.enters.eq(front.state_trails),
        ]
        requested = Signal(len(self._planes))
        entry = front.tile_valid | front.control_valid | early
        room = [beats.available]
        for n, plane in enumerate(self._planes):
            requests = self._request_fifo(m, plane, front, request, begun[plane.number])
            room.append(requests.available)
            m.d.comb += [
                requested[n].eq(requests.push),
                requests.consume.eq(entry),
                requests.cancel.eq(beats.push & ~requested[n]),
            ]

        out = beats.i
        valid = request["valid"]
        m.d.comb += [
            front.visit_tiles.eq(1),
            front.visit_last.eq(1),
            front.visit_room.eq(front.room),
            front.room.eq(Cat(room).all()),
            beats.consume.eq(entry),
            beats.push.eq(valid | passing.leaves | front.control_passes | early),
            out.requested.eq(requested),
            out.clearing.eq(request["clearing"] | early),
            out.whole_target.eq((request["whole_target"] & valid) | early),
            out.refused.eq(~request["clearing"] & (request["outside"] | ~request["legal"])),
            out.beat.eq(front.control),
        ]
        with m.If(passing.leaves):
            m.d.comb += out.beat.draw_state.eq(passing.o)
        with m.Elif(~front.control_passes):
            m.d.comb += [
                out.beat.tile.eq(request["tile"]),
                out.beat.tile.kind.eq(Kind.WORK),
            ]
        m.d.comb += front.outside.eq(valid & ~request["clearing"] & request["outside"])
        with m.If(front.control_valid & (front.control.kind == Kind.FENCE)):
            m.d.comb += out.beat.fence.error.eq(front.fence_error)
        return m

    def _request(self, m, front, states, early, flushed):
        """What is known of a tile, :attr:`LATENCY` clocks after it has left the front."""
        m.submodules.number = number = TileNumber(self._params.edge)
        m.submodules.clear_mask = clear_mask = RectangleMask(self._params.edge)
        tile = front.tile
        for unit in (number, clear_mask):
            m.d.comb += [
                unit.x.eq(tile.x),
                unit.y.eq(tile.y),
            ]
        m.d.comb += [
            number.state.eq(front.state),
            clear_mask.samples.eq(front.state.samples),
        ]
        for name, place in unbounded(front.clear, front.state).items():
            m.d.comb += clear_mask.rectangle[name].eq(place)

        timeline = Timeline(m)
        timeline.enter(
            0, tile=tile, valid=front.tile_valid, clearing=front.clearing, legal=front.legal
        )
        timeline.enter(TileNumber.LATENCY, number=number.number, outside=number.outside)
        timeline.enter(RectangleMask.LATENCY, covered=clear_mask.o.all())
        timeline.enter(0, **usages(m, self._planes, states, tile))
        now = timeline[self.LATENCY]
        fence = front.control_valid & (front.control.kind == Kind.FENCE)
        inside = now.valid & ~now.outside & now.legal
        return {
            "usage": {plane.name: getattr(now, plane.name) for plane in self._planes},
            "tile": now.tile,
            "valid": now.valid,
            "clearing": now.clearing,
            "legal": now.legal,
            "number": now.number,
            "outside": now.outside,
            "covered": now.covered,
            "whole_target": now.clearing & front.covers_target,
            "flush": (fence & front.control.fence.flush & ~flushed) | early,
            "drawn": inside & ~now.clearing,
            "cleared": now.valid & now.clearing,
        }

    def _flush_early(self, m, front):
        """Flush ahead of the fence, as soon as no beat is in flight in this block.

        Returns whether the flush is sent in this clock, and whether it has been sent.
        """
        m.submodules.timer = timer = DrainTimer(self.LATENCY + 2)
        front_valid = front.tile_valid | front.control_valid
        # The front is not open while a clear has tiles to visit that wait for room.
        idle = self.flush_early & ~front_valid & ~self.i.valid & front.open
        early = Signal()
        flushed = Signal()
        m.d.comb += [
            timer.enter.eq(~idle),
            early.eq(timer.drained & idle & front.room & ~flushed),
        ]
        m.d.sync += flushed.eq((flushed | early) & ~front_valid)
        return early, flushed

    def _request_fifo(self, m, plane, front, request, begun):
        """The FIFO of a plane's requests."""
        shape = layout(caching.cache_request(self._params.edge))
        m.submodules[plane.name] = requests = CreditedFIFO(shape, REQUESTS, lookahead=5)
        wiring.connect(m, requests.o, wiring.flipped(getattr(self, plane.name)))
        clear = front.clear
        tile = request["tile"]
        clearing = request["clearing"]
        usage = request["usage"][plane.name]
        used = usage.used
        op = Mux(request["whole_target"], CacheOp.CLEAR, CacheOp.USE)
        cleared = request["cleared"] & clear[plane.cleared_as]
        if plane.number:
            used &= begun
            cleared &= begun
        if self._colours > 1:
            cleared &= clear.slot == plane.number
        out = requests.i
        m.d.comb += [
            requests.push.eq((request["drawn"] & used) | cleared | request["flush"]),
            out.op.eq(Mux(request["flush"], CacheOp.FLUSH, op)),
            out.x.eq(tile.x),
            out.y.eq(tile.y),
            out.number.eq(request["number"] + request["whole_target"]),
            out.needed.eq(Mux(clearing, ~request["covered"], usage.needed)),
            out.writes.eq(clearing | usage.writes),
            out.samples.eq(front.state.samples),
            out.cleared.eq(clear[f"{plane.cleared_as}_value"]),
            out.is_float.eq(front.state.depth_format == DepthFormat.D32F),
            out.base.eq(clear[f"{plane.cleared_as}_base"]),
        ]
        return requests
