# SPDX-License-Identifier: BSD-2-Clause
"""Line store: two rows of tiles; one is scanned line by line while the next one comes."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.output.display.dither import dithered
from fixfunc.rtl.output.display.tile_fetch import COUNT, EDGE
from fixfunc.rtl.output.display.tile_pixels import PIXEL, PIXELS
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import SCAN_SETUP, SIDE, scanned

INFORMATION = StructLayout({"wrong": 1, "buffer": 2})  # of a tile, beside its pixels


class LineStore(wiring.Component):
    """Tiles in, lines out: one beat a clock. A row is begun when all of its tiles have come.

    Tile columns of a row are freed one by one, while the last line of the row is scanned, so that
    the row after the next one can be fetched meanwhile.

    Parameters
    ----------
    pixels : int
        Of a beat: 4 or 8.
    side : int
        Most pixels of a line.

    Members
    -------
    setup : In(layout(SCAN_SETUP))
        Constant while ``busy``, or while a tile is on its way.
    columns : In(COUNT)
        Tiles of a row.
    i_valid, i : In(1), In(PIXELS)
        A tile. There is always room: see ``freed``.
    freed : Out(1)
        A tile's pixels have all been read.
    refuse : In(1)
        A frame of one black beat with an error is to be scanned out, until ``refused``.
    refused : Out(1)
    busy : Out(1)
        It holds a tile, or a beat.
    underruns : Out(32)
        Clocks since reset in which a beat of a frame that has begun was wanted, and not there.
    o : Out(stream.Signature(layout(scanned(pixels))))
    """

    def __init__(self, pixels: int, side: int) -> None:
        self._pixels = pixels
        self._columns = -(-side // EDGE)
        self._beat = layout(scanned(pixels))
        # What travels beside pixels, from the store on.
        self._place = StructLayout(
            {
                "y": 3,
                "half": 1,
                "mask": pixels,
                "line_end": 1,
                "frame_end": 1,
                "refused": 1,
            }
        )
        super().__init__(
            {
                "setup": In(layout(SCAN_SETUP)),
                "columns": In(COUNT),
                "i_valid": In(1),
                "i": In(PIXELS),
                "freed": Out(1),
                "refuse": In(1),
                "refused": Out(1),
                "busy": Out(1),
                "underruns": Out(32),
                "o": Out(stream.Signature(self._beat)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance = named(m, ~self.o.valid | self.o.ready, "advance")
        level = Signal(COUNT + 1)  # tiles
        m.d.sync += level.eq(level + self.i_valid - self.freed)
        place = Signal(self._place)
        issue = Signal()
        address = self._scan(m, level, advance, place, issue)
        under_way = self._send(m, advance, place, issue, *self._store(m, address, advance))
        m.d.comb += self.busy.eq((level != 0) | under_way)

        begun = Signal()
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += begun.eq(~self.o.payload.frame_end)
        with m.If(begun & self.o.ready & ~self.o.valid):
            m.d.sync += self.underruns.eq(self.underruns + 1)
        return m

    def _store(self, m, address, advance):
        """A memory for each line of a tile: a tile is written in one clock."""
        bank = Signal()
        column = Signal(COUNT)
        depth = 2 << (self._columns - 1).bit_length()
        with m.If(self.i_valid):
            m.d.sync += column.eq(column + 1)
            with m.If(column == self.columns - 1):
                m.d.sync += [
                    column.eq(0),
                    bank.eq(~bank),
                ]
        information = Signal(INFORMATION)
        m.d.comb += [
            information.wrong.eq(self.i.wrong),
            information.buffer.eq(self.i.buffer),
        ]
        row = PIXEL * EDGE
        words = [self.i.pixels.word_select(y, row) for y in range(EDGE)]
        found = []
        for name, value in [
            *((f"line_{y}", word) for y, word in enumerate(words)),
            ("information", information.as_value()),
        ]:
            m.submodules[name] = memory = Memory(
                shape=len(value), depth=depth, init=[], attrs=NO_COLLISION
            )
            write = memory.write_port()
            read = memory.read_port()
            m.d.comb += [
                write.en.eq(self.i_valid),
                write.addr.eq(Cat(bank, column)),
                write.data.eq(value),
                read.en.eq(advance),
                read.addr.eq(address),
            ]
            found.append(read.data)
        return found[:EDGE], INFORMATION(found[EDGE])

    def _scan(self, m, level, advance, place, issue):
        """Where the next beat lies, line by line; a row's last line frees its tiles."""
        halves = EDGE // self._pixels
        beat = Signal(SIDE)
        y = Signal(SIDE)
        bank = Signal()
        shift = halves.bit_length() - 1
        column = beat[shift:]
        across = self._pixels.bit_length() - 1
        final = named(m, self.setup.width - 1, "final_pixel")
        last_beat = named(m, beat == final[across:SIDE], "last_beat")
        last_line = named(m, y == self.setup.height - 1, "last_line")
        row_done = named(m, (y[:3] == EDGE - 1) | last_line, "row_done")
        first = named(m, (y[:3] == 0) & (beat == 0), "first")
        whole = (level != 0) & (level >= self.columns)
        available = named(m, ~first | whole, "available")
        tile_ends = last_beat | beat[:shift].all() if shift else 1
        m.d.comb += [
            self.refused.eq(self.refuse & advance),
            issue.eq(advance & available),
            self.freed.eq(issue & row_done & tile_ends),
            place.y.eq(y),
            place.half.eq(beat[:shift]),
            place.line_end.eq(last_beat | self.refuse),
            place.frame_end.eq((last_beat & last_line) | self.refuse),
            place.refused.eq(self.refuse),
            *(
                place.mask[n].eq(~self.refuse & (~last_beat | (final[:across] >= n if n else 1)))
                for n in range(self._pixels)
            ),
        ]
        with m.If(issue):
            m.d.sync += beat.eq(beat + 1)
            with m.If(last_beat):
                m.d.sync += [
                    beat.eq(0),
                    y.eq(Mux(last_line, 0, y + 1)),
                    bank.eq(bank ^ row_done),
                ]
        return Cat(bank, column)

    def _send(self, m, advance, place, issue, lines, information):
        """Pixels of a line, then their format; errors are kept until the frame's end."""
        pixels = self._pixels
        valid = Signal(2)
        stored = Signal(self._place)
        chosen = Signal(self._place)
        colours = Signal(PIXEL * pixels)
        wrong = Signal()
        error = Signal()
        buffer = Signal(2)
        line = named(m, choose(stored.y, lines), "line")
        failed = named(m, wrong | information.wrong | stored.refused, "failed")
        with m.If(advance):
            m.d.sync += [
                valid.eq(Cat(issue | self.refused, valid[0])),
                stored.eq(place),
                chosen.eq(stored),
                error.eq(failed & stored.frame_end),
                buffer.eq(Mux(stored.refused, 0, information.buffer)),
                self.o.valid.eq(valid[1]),
                self.o.payload.line_end.eq(chosen.line_end),
                self.o.payload.frame_end.eq(chosen.frame_end),
                self.o.payload.error.eq(error),
                self.o.payload.buffer.eq(buffer),
            ]
            with m.If(valid[0]):
                m.d.sync += wrong.eq(failed & ~stored.frame_end)
            for n in range(pixels):
                half = line.word_select(stored.half, PIXEL * pixels).word_select(n, PIXEL)
                m.d.sync += colours.word_select(n, PIXEL).eq(Mux(stored.mask[n], half, 0))
        for n in range(pixels):
            whole = colours.word_select(n, PIXEL)
            channels = [whole.word_select(c, 8) for c in range(3)]
            # Beats begin at multiples of four pixels. Black stays black, beyond the end as well.
            small = dithered(m, channels, n, chosen.y[:2])
            shown = Mux(self.setup.dither, small, whole)
            with m.If(advance):
                m.d.sync += self.o.payload[f"pixel{n}"].eq(shown)
        return valid.any() | self.o.valid
