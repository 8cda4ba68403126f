# SPDX-License-Identifier: BSD-2-Clause
"""Colour codec: colours between the slots of a tile cache and memory."""

from amaranth.hdl import Module
from amaranth.lib import fifo, wiring
from amaranth.lib.memory import Memory

from fixfunc.rtl.memory.tile_cache.layouts import ENTRY, evicted, has
from fixfunc.rtl.memory.tile_cache.raw_codec import codec_members, send_coded
from fixfunc.rtl.output.compression.colour_compression import (
    ColourCompression,
    ColourCompressionParams,
)
from fixfunc.spec.colours import LANES, WORDS
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.state import SlotOp

CODING = 32  # tiles that are being coded: above the latency of that
CODED = 4  # tiles that wait for the write-back unit
EVICTED = evicted(ENTRY)


class ColourCodec(wiring.Component):
    """Decode what is read, and code what is evicted: colours of 32 bits, tiles of 8 by 8.

    Parameters
    ----------
    samples : int
        Most samples of a pixel.
    slots : int
        Tiles on chip.

    Members
    -------
    See :func:`~fixfunc.rtl.memory.tile_cache.raw_codec.codec_members`. One completion a clock.
    """

    def __init__(self, samples: int, slots: int) -> None:
        self._samples = samples
        self._slots = slots
        super().__init__(codec_members(8, COLOUR, ENTRY))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.coding = coding = ColourCompression(ColourCompressionParams(self._samples))
        m.submodules.coding_tiles = coding_tiles = fifo.SyncFIFOBuffered(
            width=EVICTED.size, depth=CODING
        )
        m.submodules.coded_tiles = coded_tiles = fifo.SyncFIFOBuffered(
            width=EVICTED.size, depth=CODED
        )
        m.d.comb += self.drained.eq((coding_tiles.level == 0) & (coded_tiles.level == 0))
        self._decode(m, coding)
        self._encode(m, coding_tiles, coding.i_tile)
        coded = coding.o_coded
        send_coded(m, self, EVICTED, coding_tiles, coded_tiles, coded, coded.payload.code)
        return m

    def _decode(self, m, coding):
        """Tiles from memory."""
        stored = coding.i_stored
        tile = coding.o_tile
        m.d.comb += [
            stored.valid.eq(self.stored.valid),
            self.stored.ready.eq(stored.ready),
            stored.payload.samples.eq(self.samples),
            stored.payload.cleared.eq(self.cleared),
            stored.payload.code.eq(self.stored.payload.mode),
            *(stored.payload[f"data{n}"].eq(self.stored.payload[f"data{n}"]) for n in range(WORDS)),
            self.filled.valid.eq(tile.valid),
            tile.ready.eq(self.filled.ready),
            self.filled.payload.wrong.eq(tile.payload.wrong),
            *(self.filled.payload.values[n].eq(tile.payload[f"colour{n}"]) for n in range(LANES)),
        ]

    def _encode(self, m, coding_tiles, uncoded):
        """A tile is coded when it leaves. It is dirty if its slot was written since it was filled
        in.
        """
        m.submodules.dirty = dirty = Memory(shape=1, depth=self._slots, init=[])
        read = dirty.read_port(domain="comb")
        write = dirty.write_port()
        completion = self.completions.payload
        evicts = has(completion.op, SlotOp.EVICT)
        fills = has(completion.op, SlotOp.FILL)
        room = coding_tiles.w_rdy & self.evictions.valid & uncoded.ready
        accept = self.completions.valid & (~evicts | room)
        tile = EVICTED(coding_tiles.w_data)
        m.d.comb += [
            self.completions.ready.eq(accept),
            read.addr.eq(completion.slot),
            write.addr.eq(completion.slot),
            write.en.eq(accept & has(completion.op, SlotOp.USE)),
            write.data.eq(completion.written.any() | (read.data & ~fills)),
            coding_tiles.w_en.eq(accept & evicts),
            self.evictions.ready.eq(accept & evicts),
            tile.number.eq(self.evictions.payload),
            tile.dirty.eq(read.data),
            uncoded.valid.eq(
                self.completions.valid & evicts & coding_tiles.w_rdy & self.evictions.valid
            ),
            uncoded.payload.samples.eq(self.samples),
            uncoded.payload.clears.eq(1),
            uncoded.payload.cleared.eq(self.cleared),
            *(uncoded.payload[f"colour{n}"].eq(completion[f"value{n}"]) for n in range(LANES)),
        ]
