# SPDX-License-Identifier: BSD-2-Clause
"""Plane codec: depths between the slots of a depth test and memory."""

from amaranth.hdl import Module
from amaranth.lib import fifo, wiring

from fixfunc.rtl.depth.compression.depth_compression import DepthCompression, DepthCompressionParams
from fixfunc.rtl.depth.compression.plane_table import PlaneTable, known_planes
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.memory.tile_cache.layouts import evicted, has
from fixfunc.rtl.memory.tile_cache.raw_codec import codec_members, send_coded
from fixfunc.spec import payloads
from fixfunc.spec.state import SlotOp

CODING = 40  # tiles that are being coded: more than the clocks that it takes
CODED = 4  # tiles that wait for the write-back unit


class PlaneCodec(wiring.Component):
    """Decode what is read, keep what is known of every slot's planes, code what is evicted.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    samples : int
        Most samples of a pixel.
    slots : int
        Tiles on chip.
    fills : int
        Most tiles that have been decoded, and whose FILL is not complete.
    differences : bool
        Tiles that no planes give are coded by differences; else by anchors.

    Members
    -------
    See :func:`~fixfunc.rtl.memory.tile_cache.raw_codec.codec_members`. One completion a clock.
    """

    def __init__(self, edge: int, samples: int, slots: int, fills: int, differences: bool) -> None:
        self._edge = edge
        self._slots = slots
        self._fills = fills
        self._params = DepthCompressionParams(edge, samples, differences)
        mode = self._params.mode_bits
        self._evicted = evicted(mode)
        super().__init__(codec_members(edge, payloads.DEPTH, mode))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.coding = coding = DepthCompression(self._params)
        m.submodules.table = table = StallablePipeline(
            PlaneTable(self._edge, self._slots), PlaneTable.LATENCY
        )
        m.submodules.filled_planes = filled_planes = fifo.SyncFIFOBuffered(
            width=known_planes(self._edge).size, depth=self._fills
        )
        m.submodules.coding_tiles = coding_tiles = fifo.SyncFIFOBuffered(
            width=self._evicted.size, depth=CODING
        )
        m.submodules.coded_tiles = coded_tiles = fifo.SyncFIFOBuffered(
            width=self._evicted.size, depth=CODED
        )
        m.d.comb += self.drained.eq((coding_tiles.level == 0) & (coded_tiles.level == 0))
        self._decode(m, coding, filled_planes)
        self._account(m, table, filled_planes)
        self._encode(m, table.o, coding_tiles, coding.i_tile)
        coded = coding.o_coded
        send_coded(m, self, self._evicted, coding_tiles, coded_tiles, coded, coded.payload.mode)
        return m

    def _decode(self, m, coding, filled_planes):
        """Tiles from memory. Their planes wait until their FILL is complete."""
        tile = coding.o_tile
        stored = coding.i_stored
        planes = known_planes(self._edge)(filled_planes.w_data)
        m.d.comb += [
            stored.valid.eq(self.stored.valid),
            self.stored.ready.eq(stored.ready),
            stored.payload.samples.eq(self.samples),
            stored.payload.cleared.eq(self.cleared),
        ]
        for name in self.stored.payload.shape().members:
            m.d.comb += stored.payload[name].eq(self.stored.payload[name])
        m.d.comb += [
            self.filled.valid.eq(tile.valid & filled_planes.w_rdy),
            tile.ready.eq(self.filled.ready & filled_planes.w_rdy),
            filled_planes.w_en.eq(tile.valid & self.filled.ready),
            self.filled.payload.wrong.eq(tile.payload.wrong),
        ]
        for n in range(self._edge**2):
            m.d.comb += self.filled.payload.values[n].eq(tile.payload[f"depth{n}"])
        for name in planes.shape().members:
            m.d.comb += planes[name].eq(tile.payload[name])

    def _account(self, m, table, filled_planes):
        """What is done to a slot changes what is known of its planes."""
        done = self.completions.payload
        fills = has(done.op, SlotOp.FILL)
        transfer = table.i.valid & table.i.ready
        m.d.comb += [
            table.i.valid.eq(self.completions.valid & (filled_planes.r_rdy | ~fills)),
            self.completions.ready.eq(transfer),
            filled_planes.r_en.eq(transfer & fills),
        ]
        m.d.comb += [
            table.i.payload.valid.eq(transfer),
            table.i.payload.done.eq(done),
            table.i.payload.filled.eq(filled_planes.r_data),
        ]

    def _encode(self, m, entry, coding_tiles, uncoded):
        """A tile is coded when it leaves, dirty or not."""
        slot = entry.payload
        evicts = has(slot.op, SlotOp.EVICT)
        room = coding_tiles.w_rdy & uncoded.ready
        transfer = entry.valid & evicts & room
        planes = slot.known
        evicted = self._evicted(coding_tiles.w_data)
        m.d.comb += [
            entry.ready.eq(room | ~evicts),
            self.evictions.ready.eq(transfer),
            coding_tiles.w_en.eq(transfer),
            evicted.number.eq(self.evictions.payload),
            evicted.dirty.eq(slot.written),
            uncoded.valid.eq(entry.valid & evicts & coding_tiles.w_rdy),
        ]
        was_cleared = (
            (planes.planes == 1)
            & (planes.z0_0 == self.cleared << 8)
            & ~planes.dx_0.any()
            & ~planes.dy_0.any()
        )
        tile = uncoded.payload
        m.d.comb += [
            tile.samples.eq(self.samples),
            tile.cleared.eq(self.cleared),
            tile.clears.eq(was_cleared),
        ]
        for name in planes.shape().members:
            m.d.comb += tile[name].eq(planes[name])
        for n in range(self._edge**2):
            m.d.comb += tile[f"depth{n}"].eq(slot.depths[n])
