# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of depths to what lies in memory."""

from amaranth.hdl import Cat, Const, EnableInserter, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorCoder
from fixfunc.rtl.depth.compression.plane_coder import PlaneCoder
from fixfunc.rtl.depth.differences.difference_coder import LAST, DifferenceCoder
from fixfunc.rtl.lib.delay import DelayLine, delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DIFFERENCES, TileMode


class TileCoder(wiring.Component):
    """Cleared, or planes, or what a tile takes otherwise, in the order of transfers: planes never
    take more than differences or anchors.

    A tile that no planes give is coded by anchors, or stays at the end of the plane coder for the
    four clocks that its differences take. All results take as long from there, so that their order
    is that of the tiles. One enable stops everything.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(stream.Signature(layout(payloads.uncoded(params.edge))))
    o : Out(stream.Signature(layout(payloads.coded(params.edge, ...))))
        :meth:`latency` clocks later at the earliest.
    """

    def __init__(self, params) -> None:
        self._params = params
        coded = layout(payloads.coded(params.edge, payloads.DEPTH, params.mode_bits))
        super().__init__(
            {
                "i": In(stream.Signature(layout(payloads.uncoded(params.edge)))),
                "o": Out(stream.Signature(coded)),
            }
        )

    @staticmethod
    def latency(params) -> int:
        """Clocks: planes, differences, the skid buffer."""
        differences = DifferenceCoder.latency(params.samples) if params.differences else 0
        return PlaneCoder.latency(params) + differences + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(self.o.payload.shape())
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        front = Module()
        front.submodules.planes = planes = PlaneCoder(self._params)
        front.d.comb += planes.i.eq(self.i.payload)
        arrived = delay(front, self.i.valid, PlaneCoder.latency(self._params), "valid")
        if self._params.differences:
            back = Module()
            moves = self._with_differences(back, planes.o, arrived, skid)
            m.submodules.back = EnableInserter(skid.enable)(back)
            enable = Signal()
            m.d.comb += enable.eq(skid.enable & moves)
        else:
            self._with_anchors(front, planes.o, arrived, skid)
            enable = skid.enable
        m.submodules.front = EnableInserter(enable)(front)
        m.d.comb += self.i.ready.eq(enable)
        return m

    def _put_out(self, m, skid, mode, options):
        """A coded tile: data of a few kinds, each with its flag."""
        words = payloads.coded_words(self._params.edge)
        data = Const(0, 32 * words)
        for flag, value in options:
            data = data | value & Cat(flag).replicate(len(value))
        m.d.comb += [
            skid.i.mode.eq(mode),
            Cat(skid.i[f"data{n}"] for n in range(words)).eq(data),
        ]

    def _with_anchors(self, m, tile, valid, skid):
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
            skid,
            Mux(tile.found, tile.mode, otherwise),
            [
                (tile.found, tile.data),
                (~tile.found & end.anchored, end.blocks),
                (~tile.found & ~end.anchored, tile.depths.as_value()),
            ],
        )
        m.d.comb += skid.push.eq(valid)

    def _with_differences(self, m, tile, valid, skid):
        """Differences of tiles that are not found; whether the plane coder moves on."""
        m.submodules.differences = coder = DifferenceCoder(self._params.samples)
        latency = DifferenceCoder.latency(self._params.samples)
        quarter = Signal(2)
        is_slow = Signal()
        is_first = Signal()
        m.d.comb += [
            is_slow.eq(valid & ~tile.found),
            is_first.eq(is_slow & (quarter == 0)),
            coder.samples.eq(tile.samples),
            coder.depths.eq(tile.depths),
            coder.quarter.eq(quarter),
        ]
        with m.If(is_slow):
            m.d.sync += quarter.eq(quarter + 1)

        # Tiles whose differences are under way wait in case that they are raw.
        m.submodules.tiles = tiles = fifo.SyncFIFOBuffered(
            width=len(tile.depths.as_value()), depth=-(-latency // (LAST + 1)) + 1
        )
        m.submodules.found = found = DelayLine(len(Cat(tile.mode, tile.data)), latency, near=True)
        timeline = Timeline(m)
        timeline.enter(0, found=valid & tile.found, coded=is_first)
        end = timeline[latency]
        m.d.comb += [
            tiles.w_en.eq(is_first),
            tiles.w_data.eq(tile.depths),
            tiles.r_en.eq(end.coded),
            found.i.eq(Cat(tile.mode, tile.data)),
            skid.push.eq(end.found | end.coded),
        ]
        fits = coder.o.transfers <= modes.TRANSFERS[-1]
        otherwise = Mux(fits, DIFFERENCES + coder.o.transfers, TileMode.RAW)
        self._put_out(
            m,
            skid,
            Mux(end.found, found.o[: len(tile.mode)], otherwise),
            [
                (end.found, found.o[len(tile.mode) :]),
                (~end.found & fits, coder.o.data),
                (~end.found & ~fits, tiles.r_data),
            ],
        )
        return ~is_slow | (quarter == LAST)
