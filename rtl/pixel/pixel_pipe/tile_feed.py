# SPDX-License-Identifier: BSD-2-Clause
"""Tile feed: triangles are fetched while their tiles wait for the quads before them."""

from amaranth.hdl import Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.triangle_intake import numbered_quad
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.points import QUAD, quad_tile

TILES = 64  # that wait: runs of tiles without a sample to shade come before the next one
TRIANGLES = 16  # that are to be fetched
DISPATCHED = 4  # tiles whose quads are on their way out


class TileFeed(wiring.Component):
    """Around the quad dispatch: each triangle is fetched once, with its first tile, and its
    tiles wait until the interpolator has its corners.

    A tile a clock. Latency of the fetch, and of the planes, is hidden behind the quads of earlier
    tiles. A quad passes without a clock of its own.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    triangles : int
        That the interpolator holds.

    Members
    -------
    i : In(stream.Signature(layout(quad_tile(edge))))
        Tiles of triangles, triangle by triangle; each has a quad.
    tiles : Out(stream.Signature(layout(quad_tile(edge))))
        They, as the dispatch takes them.
    quads : In(stream.Signature(layout(QUAD)))
        Quads of ``tiles``, which come :data:`~fixfunc.rtl.lib.fifo.StreamFIFO.LATENCY` clocks
        later, or more.
    o : Out(stream.Signature(numbered_quad(triangles)))
        They, as the interpolator takes them.
    current : Out
        The triangle of the quad that left last.
    forget : In(1)
        The triangle of the last tile is over: its ``slot`` may be that of another.
    request : Out(stream.Signature(SLOT_BITS))
        A triangle that is to be fetched.
    fetched : In(1)
        The interpolator takes the last beat of a triangle.
    """

    def __init__(self, edge: int, triangles: int) -> None:
        self._tile = layout(quad_tile(edge))
        super().__init__(
            {
                "i": In(stream.Signature(self._tile)),
                "tiles": Out(stream.Signature(self._tile)),
                "quads": In(stream.Signature(layout(QUAD))),
                "o": Out(stream.Signature(numbered_quad(triangles))),
                "current": Out(range(2 * triangles)),
                "forget": In(1),
                "request": Out(stream.Signature(SLOT_BITS)),
                "fetched": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        number = self.current.shape()
        numbered = StructLayout({"triangle": number, "tile": self._tile})
        m.submodules.waiting = waiting = StreamFIFO(numbered, TILES)
        # Nothing hides the fetch of a triangle for which the pipe has run dry: this FIFO is one
        # whose beats can be read in the next clock.
        m.submodules.requests = requests = fifo.SyncFIFO(width=SLOT_BITS, depth=TRIANGLES)
        m.submodules.numbers = numbers = StreamFIFO(number, DISPATCHED)
        wiring.connect(m, requests.r_stream, wiring.flipped(self.request))
        newest = Signal(number, init=-1)  # triangle that was asked for
        first_unknown = Signal(number)  # triangle whose corners the interpolator lacks
        slot = Signal(SLOT_BITS)
        is_known = Signal()
        tile = self.i.payload
        is_first = named(m, ~is_known | (tile.slot != slot), "is_first")
        own = named(m, (newest + is_first)[: len(newest)], "own_number")
        has_room = named(m, waiting.i.ready & requests.w_rdy, "has_room")
        accept = named(m, self.i.valid & has_room, "accept")
        m.d.comb += [
            self.i.ready.eq(has_room),
            waiting.i.valid.eq(accept),
            waiting.i.payload.tile.eq(tile),
            waiting.i.payload.triangle.eq(own),
            requests.w_en.eq(accept & is_first),
            requests.w_data.eq(tile.slot),
        ]
        with m.If(accept):
            m.d.sync += [slot.eq(tile.slot), is_known.eq(1), newest.eq(own)]
        with m.If(self.forget):
            m.d.sync += is_known.eq(0)
        with m.If(self.fetched):
            m.d.sync += first_unknown.eq(first_unknown + 1)
        head = waiting.o.payload
        is_ready = named(m, (head.triangle != first_unknown) & numbers.i.ready, "is_ready")
        m.d.comb += [
            self.tiles.valid.eq(waiting.o.valid & is_ready),
            self.tiles.payload.eq(head.tile),
            waiting.o.ready.eq(self.tiles.ready & is_ready),
            numbers.i.valid.eq(self.tiles.valid & self.tiles.ready),
            numbers.i.payload.eq(head.triangle),
        ]
        self._number(m, numbers.o)
        return m

    def _number(self, m, numbers):
        """Quads get the number of their tile's triangle."""
        quad = self.quads.payload
        moves = named(m, self.o.valid & self.o.ready, "moves")
        m.d.comb += [
            self.o.valid.eq(self.quads.valid & numbers.valid),
            self.quads.ready.eq(self.o.ready & numbers.valid),
            self.o.payload.quad.eq(quad),
            self.o.payload.triangle.eq(numbers.payload),
            numbers.ready.eq(moves & quad.last),
        ]
        with m.If(moves):
            m.d.sync += self.current.eq(numbers.payload)
