# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of depths to what lies in memory."""

from amaranth.hdl import Cat, Const, EnableInserter, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorCoder
from fixfunc.rtl.depth.differences.difference_coder import LAST, DifferenceCoder
from fixfunc.rtl.depth.differences.result_order import ResultOrder
from fixfunc.rtl.depth.planes.plane_coder import PlaneCoder
from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.state import DIFFERENCES, TileMode

FOUND = 16  # tiles of planes that may wait for differences of one before them
CODED = 8  # tiles whose differences are under way: a tile in four clocks, until it has left


class TileCoder(wiring.Component):
    """Cleared, or planes, or what a tile takes otherwise, in the order of transfers: planes never
    take more than differences or anchors.

    A tile that no planes give is coded by anchors, or stays at the end of the plane coder for the
    four clocks that its differences take. These have a pipeline that never stops: a tile enters it
    if there is room for its result. Tiles behind it go on, and wait for it at the end.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(stream.Signature(layout(depth_tiles.uncoded(params.edge))))
    o : Out(stream.Signature(layout(depth_tiles.coded(params.edge, ...))))
        :meth:`latency` clocks later at the earliest, those by differences
        :meth:`~fixfunc.rtl.depth.differences.difference_coder.DifferenceCoder.latency` more.
    """

    def __init__(self, params) -> None:
        self._params = params
        coded = layout(depth_tiles.coded(params.edge, payloads.DEPTH, params.mode_bits))
        super().__init__(
            {
                "i": In(stream.Signature(layout(depth_tiles.uncoded(params.edge)))),
                "o": Out(stream.Signature(coded)),
            }
        )

    @staticmethod
    def latency(params) -> int:
        """Clocks: planes, a FIFO or the skid buffer."""
        return PlaneCoder.latency(params) + (2 if params.differences else 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        front = Module()
        enable = Signal()
        front.submodules.planes = planes = PlaneCoder(self._params)
        front.d.comb += planes.i.eq(self.i.payload)
        arrived = delay(front, self.i.valid, PlaneCoder.latency(self._params), "valid")
        m.submodules.front = EnableInserter(enable)(front)
        m.d.comb += self.i.ready.eq(enable)
        if self._params.differences:
            m.d.comb += enable.eq(self._with_differences(m, planes.o, arrived))
            return m
        m.submodules.skid = skid = SkidBuffer(self.o.payload.shape())
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        self._with_anchors(front, planes.o, skid.i)
        m.d.comb += [
            enable.eq(skid.enable),
            skid.push.eq(arrived),
        ]
        return m

    def _put_out(self, m, coded, mode, options):
        """A coded tile: data of a few kinds, each with its flag."""
        words = depth_tiles.coded_words(self._params.edge)
        data = Const(0, 32 * words)
        for flag, value in options:
            data = data | gated(value, flag)
        m.d.comb += [
            coded.mode.eq(mode),
            Cat(coded[f"data{n}"] for n in range(words)).eq(data),
        ]

    def _with_anchors(self, m, tile, coded):
        """Blocks are coded while planes are evaluated."""
        timeline = Timeline(m)
        coders = []
        for n, block in enumerate(modes.blocks(self._params.edge)):
            m.submodules[f"anchor_{n}"] = coder = AnchorCoder()
            m.d.comb += [
                coder.i[4 * y + x].eq(self.i.payload[f"depth{lane}"])
                for (x, y), lane in block.items()
            ]
            coders.append(coder)
        timeline.enter(
            AnchorCoder.LATENCY,
            anchored=Cat(coder.fits for coder in coders).all(),
            blocks=Cat(coder.o for coder in coders),
        )
        end = timeline[PlaneCoder.latency(self._params)]
        otherwise = Mux(end.anchored, TileMode.ANCHOR, TileMode.RAW)
        self._put_out(
            m,
            coded,
            Mux(tile.found, tile.mode, otherwise),
            [
                (tile.found, tile.data),
                (~tile.found & end.anchored, end.blocks),
                (~tile.found & ~end.anchored, tile.depths.as_value()),
            ],
        )

    def _with_differences(self, m, tile, valid):
        """Differences of tiles that are not found; whether the plane coder moves."""
        m.submodules.differences = coder = DifferenceCoder(self._params.samples)
        m.submodules.order = order = ResultOrder(FOUND + CODED)
        m.submodules.found = found = fifo.SyncFIFOBuffered(
            width=len(Cat(tile.mode, tile.data)), depth=FOUND
        )
        m.submodules.coded = coded = fifo.SyncFIFOBuffered(
            width=len(coder.o.as_value()), depth=CODED
        )
        # Tiles wait, too, in case that they turn out to be raw. Their room is that of the results.
        m.submodules.tiles = tiles = fifo.SyncFIFOBuffered(
            width=len(tile.depths.as_value()), depth=CODED
        )
        quarter = Signal(2)
        is_slow = named(m, valid & ~tile.found, "is_slow")
        begins = named(m, is_slow & (quarter == 0) & tiles.w_rdy, "begins")
        is_found = named(m, valid & tile.found & found.w_rdy, "is_found")
        with m.If(begins | (quarter != 0)):
            m.d.sync += quarter.eq(quarter + 1)
        latency = DifferenceCoder.latency(self._params.samples)
        m.d.comb += [
            coder.samples.eq(tile.samples),
            coder.depths.eq(tile.depths),
            coder.quarter.eq(quarter),
            found.w_en.eq(is_found),
            found.w_data.eq(Cat(tile.mode, tile.data)),
            tiles.w_en.eq(begins),
            tiles.w_data.eq(tile.depths),
            coded.w_en.eq(delay(m, begins, latency, "coded")),
            coded.w_data.eq(coder.o),
            order.begin.eq(is_found | begins),
            order.is_slow.eq(is_slow),
            order.has_quick.eq(found.r_rdy),
            order.has_slow.eq(coded.r_rdy),
            order.ready.eq(self.o.ready),
            self.o.valid.eq(order.valid),
            found.r_en.eq(order.take_quick),
            coded.r_en.eq(order.take_slow),
            tiles.r_en.eq(order.take_slow),
        ]
        result = coder.o.shape()(coded.r_data)
        fits = result.transfers <= modes.TRANSFERS[-1]
        otherwise = Mux(fits, DIFFERENCES + result.transfers, TileMode.RAW)
        self._put_out(
            m,
            self.o.payload,
            Mux(order.slow, otherwise, found.r_data[: len(tile.mode)]),
            [
                (~order.slow, found.r_data[len(tile.mode) :]),
                (order.slow & fits, result.data),
                (order.slow & ~fits, tiles.r_data),
            ],
        )
        return ~valid | is_found | (quarter == LAST)
