# SPDX-License-Identifier: BSD-2-Clause
"""Scan-out: the tiles of a buffer in memory become the lines of a screen."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.memory.tile_cache.layouts import IN_LINE
from fixfunc.rtl.output.display.buffer_turns import BufferTurns
from fixfunc.rtl.output.display.line_store import LineStore
from fixfunc.rtl.output.display.tile_fetch import COUNT, EDGE, NUMBER, TileFetch
from fixfunc.rtl.output.display.tile_pixels import TilePixels
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import SCAN_SETUP, scanned
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TOP_LIMIT


@dataclass(frozen=True)
class ScanOutParams:
    """Shape of a :class:`ScanOut`.

    Parameters
    ----------
    pixels : int
        Of a beat: 4 or 8.
    side : int
        Greatest width and height of a buffer, pixels: up to 2048.
    reads : int
        Most reads in flight, above 2: a raw tile takes 8 clocks, so that they hide 8 times as many
        clocks of latency.
    """

    pixels: int = 8
    side: int = TOP_LIMIT
    reads: int = 64

    def __post_init__(self):
        if self.pixels not in (4, 8):
            raise InputError("pixels", "be 4 or 8", self.pixels)
        if not 8 <= self.side <= TOP_LIMIT:
            raise InputError("side", f"lie in 8..{TOP_LIMIT}", self.side)
        if self.reads < 3:
            raise InputError("reads", "be above 2", self.reads)


CONFIGS = {
    "default": ScanOutParams(),
    "tiny": ScanOutParams(pixels=4, side=64, reads=8),
}
PURPOSE = {  # of each configuration
    "default": "8 pixels a clock, up to 2048 by 2048",
    "tiny": "for benches: 4 pixels a clock, up to 64 by 64",
}


class ScanOut(wiring.Component):
    """Read buffers that take turns, and send their pixels line by line.

    One beat a clock, as long as memory keeps up: two rows of tiles are on chip. Where it does not,
    the stream waits. A tile that cannot be read, or cannot be decoded, is black, and the end of its
    frame says so.

    Parameters
    ----------
    params : ScanOutParams

    Members
    -------
    setup : In(stream.Signature(layout(SCAN_SETUP)))
        What is scanned out from now on. It is accepted when no frame is under way; buffer 0 is
        shown then, and 1 is drawn to if there is one.
    enable : In(1)
        Another frame is to be scanned out: it begins once the one before has been read.
    begins : Out(1)
        A frame begins in this clock. Its first beat leaves when a row of tiles has come.
    present : In(1)
        The buffer ``back`` has been drawn, and memory holds all of it; it is to be shown. It counts
        in a clock of ``drawable``.
    back : Out(2)
        The buffer to be drawn to.
    drawable : Out(1)
        It may be.
    front : Out(2)
        The buffer that is read.
    underruns : Out(32)
        Clocks since reset in which a beat of a frame that has begun was wanted, and not there.
    o : Out(stream.Signature(layout(scanned(params.pixels))))
        Pixels. A frame of a setup that is refused is one beat, black, with an error.
    memory : Out(Axi())
        Read channels alone are used.
    """

    def __init__(self, params: ScanOutParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "setup": In(stream.Signature(layout(SCAN_SETUP))),
                "enable": In(1),
                "begins": Out(1),
                "present": In(1),
                "back": Out(2),
                "drawable": Out(1),
                "front": Out(2),
                "underruns": Out(32),
                "o": Out(stream.Signature(layout(scanned(params.pixels)))),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.turns = turns = BufferTurns()
        m.submodules.fetch = fetch = TileFetch(p.reads)
        m.submodules.decode = decode = TilePixels()
        m.submodules.lines = lines = LineStore(p.pixels, p.side)
        wiring.connect(m, fetch.tile, decode.i)
        wiring.connect(m, fetch.memory, wiring.flipped(self.memory))
        wiring.connect(m, lines.o, wiring.flipped(self.o))
        setup = Signal(layout(SCAN_SETUP))
        legal = Signal()
        draining = Signal()
        columns = Signal(COUNT)
        rows = Signal(COUNT)
        count = Signal(NUMBER)
        m.d.comb += [
            columns.eq((setup.width + EDGE - 1) >> 3),
            rows.eq((setup.height + EDGE - 1) >> 3),
            fetch.last_line.eq((count - 1) >> IN_LINE),
            fetch.columns.eq(columns),
            fetch.rows.eq(rows),
            lines.columns.eq(columns),
            *(unit.setup.eq(setup) for unit in (fetch, decode, lines)),
            turns.count.eq(setup.buffers),
            turns.present.eq(self.present & self.drawable),
            turns.change.eq(fetch.ended | lines.refused | ~setup.vsync),
            fetch.front.eq(turns.front),
            self.back.eq(turns.back),
            # Without vsync, tiles of the row before may still come from what is drawn to next.
            draining.eq(~fetch.idle & (fetch.buffer == turns.back) & (fetch.buffer != turns.front)),
            self.drawable.eq(turns.drawable & ~draining),
            self.front.eq(turns.front),
            self.underruns.eq(lines.underruns),
            lines.i_valid.eq(decode.o_valid),
            lines.i.eq(decode.o),
            fetch.freed.eq(lines.freed),
        ]
        m.d.sync += count.eq(columns * rows)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.setup.ready.eq(~fetch.waiting & ~lines.busy)
                with m.If(self.setup.valid & self.setup.ready):
                    m.d.sync += setup.eq(self.setup.payload)
                    m.next = "SETUP"
                with m.Elif(self.enable & ~self.setup.valid):
                    m.d.comb += [
                        self.begins.eq(1),
                        fetch.start.eq(legal),
                    ]
                    with m.If(legal):
                        m.next = "FETCH"
                    with m.Else():
                        m.next = "REFUSE"
            with m.State("SETUP"):
                m.d.comb += turns.begin.eq(1)
                m.d.sync += legal.eq(
                    (setup.buffers != 0)
                    & (setup.width != 0)
                    & (setup.width <= p.side)
                    & (setup.height != 0)
                    & (setup.height <= p.side)
                )
                m.next = "IDLE"
            with m.State("FETCH"), m.If(fetch.ended):
                m.next = "IDLE"
            with m.State("REFUSE"):
                m.d.comb += lines.refuse.eq(1)
                with m.If(lines.refused):
                    m.next = "IDLE"
        return m
