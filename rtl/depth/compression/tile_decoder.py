# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory back to tiles of depths."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.differences.difference_coder import LAST
from fixfunc.rtl.depth.differences.difference_decoder import DifferenceDecoder
from fixfunc.rtl.depth.differences.result_order import ResultOrder
from fixfunc.rtl.depth.planes.plane_decoder import PlaneDecoder
from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.state import DIFFERENCES

BY_PLANES = 10  # decoded tiles, but those by differences: a tile a clock, until it has left
DECODED = 6  # tiles by differences: one in four clocks


class TileDecoder(wiring.Component):
    """Planes, raw tiles and anchors side by side, of which the mode selects one; differences.

    Pipelines never stop: a tile enters if there is room for its result. With differences the tile
    that came last is kept until it has begun: for four clocks, if they are its own. Others go on
    behind it, and wait for it at the end.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(stream.Signature(layout(depth_tiles.stored(params.edge, ...))))
        Tiles as memory stores them, and their modes.
    o : Out(stream.Signature(layout(depth_tiles.decoded(params.edge))))
        :meth:`latency` clocks later at the earliest.
    """

    def __init__(self, params) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(
                    stream.Signature(layout(depth_tiles.stored(params.edge, params.mode_bits)))
                ),
                "o": Out(stream.Signature(layout(depth_tiles.decoded(params.edge)))),
            }
        )

    @staticmethod
    def latency(params) -> int:
        """Clocks: with differences the tile is kept; planes, a FIFO."""
        return int(params.differences) + PlaneDecoder.latency(params) + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decoder = decoder = PlaneDecoder(self._params)
        m.submodules.credit = credit = CreditCounter(BY_PLANES)
        m.submodules.planes = planes = fifo.SyncFIFOBuffered(
            width=self.o.payload.shape().size, depth=BY_PLANES
        )
        begins = Signal()
        m.d.comb += [
            credit.consume.eq(begins),
            credit.release.eq(planes.r_en),
            planes.w_en.eq(delay(m, begins, PlaneDecoder.latency(self._params), "begun")),
        ]
        if self._params.differences:
            tile = self._with_differences(m, credit, begins, planes)
        else:
            tile = self.i.payload
            m.d.comb += [
                begins.eq(self.i.valid & credit.available),
                self.i.ready.eq(credit.available),
                planes.r_en.eq(self.o.valid & self.o.ready),
                self.o.valid.eq(planes.r_rdy),
                self.o.payload.eq(planes.r_data),
            ]
        m.d.comb += [
            decoder.i.eq(tile),
            planes.w_data.eq(decoder.o),
        ]
        return m

    def _with_differences(self, m, credit, begins, planes):
        """Differences of tiles that are coded so; the tile that came last."""
        tile = Signal(self.i.payload.shape())
        valid = Signal()
        quarter = Signal(2)
        is_coded = Cat(tile.mode == DIFFERENCES + n for n in modes.TRANSFERS).any()
        is_slow = named(m, valid & is_coded, "is_slow")
        m.submodules.room = room = CreditCounter(DECODED)
        starts = named(m, is_slow & (quarter == 0) & room.available, "starts")
        moves = named(m, ~valid | begins | (quarter == LAST), "moves")
        with m.If(starts | (quarter != 0)):
            m.d.sync += quarter.eq(quarter + 1)
        with m.If(moves):
            m.d.sync += [
                tile.eq(self.i.payload),
                valid.eq(self.i.valid),
            ]
        differences = self._differences(m, tile, quarter)
        m.submodules.decoded = decoded = fifo.SyncFIFOBuffered(
            width=len(differences.as_value()), depth=DECODED
        )
        m.submodules.order = order = ResultOrder(BY_PLANES + DECODED)
        m.d.comb += [
            self.i.ready.eq(moves),
            begins.eq(valid & ~is_coded & credit.available),
            room.consume.eq(starts),
            room.release.eq(order.take_slow),
            decoded.w_en.eq(delay(m, starts, DifferenceDecoder.LATENCY, "started")),
            decoded.w_data.eq(differences),
            order.begin.eq(begins | starts),
            order.is_slow.eq(is_slow),
            order.has_quick.eq(planes.r_rdy),
            order.has_slow.eq(decoded.r_rdy),
            order.ready.eq(self.o.ready),
            self.o.valid.eq(order.valid),
            planes.r_en.eq(order.take_quick),
            decoded.r_en.eq(order.take_slow),
        ]
        result = differences.shape()(decoded.r_data)
        is_right = named(m, order.slow & ~result.wrong, "is_right")
        by_planes = Signal(self.o.payload.shape())
        m.d.comb += [
            by_planes.eq(gated(planes.r_data, ~order.slow)),
            self.o.payload.eq(by_planes),
        ]
        m.d.comb += self.o.payload.wrong.eq(by_planes.wrong | (order.slow & result.wrong))
        for n in range(self._params.edge**2):
            depth = gated(result.depths[n], is_right)
            m.d.comb += self.o.payload[f"depth{n}"].eq(by_planes[f"depth{n}"] | depth)
        return tile

    def _differences(self, m, tile, quarter):
        """Depths by lane, and whether there are none."""
        m.submodules.differences = decoder = DifferenceDecoder(self._params.samples)
        bits = modes.TRANSFERS[-1] * payloads.TRANSFER
        data = Cat(tile[f"data{n}"] for n in range(depth_tiles.coded_words(self._params.edge)))
        m.d.comb += [
            decoder.samples.eq(tile.samples),
            decoder.transfers.eq(tile.mode - DIFFERENCES),
            decoder.data.eq(data[:bits]),
            decoder.excess.eq(data[bits:].any()),
            decoder.quarter.eq(quarter),
        ]
        return decoder.o
