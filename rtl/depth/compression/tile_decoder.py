# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory back to tiles of depths."""

from itertools import pairwise

from amaranth.hdl import Array, Cat, Const, EnableInserter, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorDecoder
from fixfunc.rtl.depth.compression.plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.depth.differences.difference_coder import LAST
from fixfunc.rtl.depth.differences.difference_decoder import DifferenceDecoder
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import DelayLine, delay, later
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DIFFERENCES, TileMode


class TileDecoder(wiring.Component):
    """Planes, raw tiles, and anchors or differences side by side, of which the mode selects one.

    With differences the tile that came last is kept until another comes: for four clocks, if they
    are its own. Every other tile waits as long as differences take, so that the order stays. One
    enable stops everything.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(stream.Signature(layout(payloads.stored(params.edge, ...))))
        Tiles as memory stores them, and their modes.
    o : Out(stream.Signature(layout(payloads.decoded(params.edge))))
        :meth:`latency` clocks later at the earliest.
    """

    def __init__(self, params) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(payloads.stored(params.edge, params.mode_bits)))),
                "o": Out(stream.Signature(layout(payloads.decoded(params.edge)))),
            }
        )

    @staticmethod
    def _by_planes(params):
        """Clocks: parts, planes."""
        return 1 + PlaneDepths.latency(params)

    @classmethod
    def latency(cls, params) -> int:
        """Clocks: the tile is kept, its differences, the skid buffer; with anchors planes."""
        within = 1 + DifferenceDecoder.LATENCY if params.differences else cls._by_planes(params)
        return within + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(self.o.payload.shape())
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        inner = Module()
        tile = self.i.payload
        valid = self.i.valid
        moves = Const(1)
        coded_depths = None
        if self._params.differences:
            tile, valid, quarter, moves = self._kept(m, skid.enable)
            coded_depths = self._differences(inner, tile, quarter)
            wait = DifferenceDecoder.LATENCY - self._by_planes(self._params)
            valid = delay(inner, valid, wait, "arrives")
            tile = later(inner, tile, wait, "arriving")
        self._decode(inner, tile, coded_depths, skid)
        inner.d.comb += skid.push.eq(delay(inner, valid, self._by_planes(self._params), "valid"))
        m.submodules.inner = EnableInserter(skid.enable)(inner)
        m.d.comb += self.i.ready.eq(skid.enable & moves)
        return m

    def _kept(self, m, enable):
        """The tile that came last; whether it is there, for the first clock; which clock of it this
        is; whether another may come.
        """
        tile = Signal(self.i.payload.shape())
        valid = Signal()
        quarter = Signal(2)
        is_slow = valid & Cat(tile.mode == DIFFERENCES + n for n in modes.TRANSFERS).any()
        moves = Signal()
        m.d.comb += moves.eq(~is_slow | (quarter == LAST))
        with m.If(enable & is_slow):
            m.d.sync += quarter.eq(quarter + 1)
        with m.If(enable & moves):
            m.d.sync += [
                tile.eq(self.i.payload),
                valid.eq(self.i.valid),
            ]
        return tile, valid & (quarter == 0), quarter, moves

    def _differences(self, m, tile, quarter):
        """Depths by lane, and whether there are none."""
        m.submodules.differences = decoder = DifferenceDecoder(self._params.samples)
        words = modes.TRANSFERS[-1] * payloads.TRANSFER // 32
        m.d.comb += [
            decoder.samples.eq(tile.samples),
            decoder.transfers.eq(tile.mode - DIFFERENCES),
            decoder.data.eq(Cat(tile[f"data{n}"] for n in range(words))),
            decoder.quarter.eq(quarter),
        ]
        return decoder.o

    def _decode(self, m, i, differences, skid):
        """One of the codings; nothing, if the tile cannot be."""
        edge = self._params.edge
        out = self._by_planes(self._params)
        data = Cat(i[f"data{n}"] for n in range(payloads.coded_words(edge)))
        timeline = Timeline(m)
        timeline.enter(0, mode=i.mode, samples=i.samples)
        count, low, high, planes = self._parse(m, i, data)
        m.submodules.depths = depths = PlaneDepths(self._params)
        m.d.comb += [
            depths.samples.eq(timeline[1].samples),
            depths.low.eq(low),
            depths.high.eq(high),
            depths.planes.eq(planes),
        ]
        timeline.enter(3, wrong=self._wrong(m, timeline, data, count, low, high))
        m.submodules.raw = raw = DelayLine(modes.bits(TileMode.RAW, edge), out, near=True)
        m.d.comb += raw.i.eq(data)
        now = timeline[out]
        if differences is None:
            is_coded = now.mode == TileMode.ANCHOR
            wrong = now.wrong
            coded_depths = self._anchored(m, data)
        else:
            is_coded = now.mode > DIFFERENCES
            wrong = now.wrong | (is_coded & differences.wrong)
            coded_depths = [differences.depths[n] for n in range(edge**2)]
        is_raw = now.mode == TileMode.RAW
        kinds = {
            "raw": (is_raw, raw.o),
            "coded": (is_coded, Cat(coded_depths[n] for n in range(edge**2))),
            "planes": (~is_raw & ~is_coded, depths.o.as_value()),
        }
        tile = Const(0, payloads.DEPTH * edge**2)
        for name, (flag, value) in kinds.items():
            selected = named(m, flag & ~wrong, f"is_{name}")
            tile = tile | value & selected.replicate(len(tile))
        m.d.comb += [
            skid.i.wrong.eq(wrong),
            Cat(skid.i[f"depth{n}"] for n in range(edge**2)).eq(tile),
        ]
        self._put_out(m, count, low, high, planes, wrong, skid)

    def _anchored(self, m, data):
        """Differences, by lane."""
        depths = {}
        for n, block in enumerate(modes.blocks(self._params.edge)):
            m.submodules[f"anchor_{n}"] = decoder = AnchorDecoder()
            m.d.comb += decoder.i.eq(data[modes.BLOCK * n :])
            depths |= {lane: decoder.o[4 * y + x] for (x, y), lane in block.items()}
        return depths

    def _parse(self, m, i, data):
        """What the data of a mode mean, one clock later: planes, and the plane of each sample."""
        mode = i.mode
        edge = self._params.edge
        count = Signal(3)
        low = Signal(edge**2)
        high = Signal(edge**2)
        planes = Signal(ArrayLayout(PLANE, payloads.PLANES))
        m.d.sync += [
            count.eq(Mux(mode == TileMode.CLEARED, 1, Mux(mode <= payloads.PLANES, mode, 0))),
            low.eq(0),
            high.eq(0),
            planes.eq(0),
        ]
        with m.Switch(mode):
            with m.Case(TileMode.CLEARED):
                m.d.sync += planes[0].z0.eq(i.cleared << 8)
            for k in range(1, payloads.PLANES + 1):
                with m.Case(k):
                    mask = data[modes.PLANE * k : modes.bits(k, edge)]
                    width = modes.MASK[k]
                    m.d.sync += [
                        planes.as_value()[: modes.PLANE * k].eq(data),
                        low.eq(Cat(mask[n] for n in range(0, len(mask), max(1, width)))),
                        high.eq(Cat(mask[n] for n in range(1, len(mask), 2)) if width == 2 else 0),
                    ]
        return count, low, high, planes

    def _put_out(self, m, count, low, high, planes, wrong, skid):
        """What is known of the tile's planes."""
        fields = {"planes": count, "mask_low": low, "mask_high": high}
        for k in range(payloads.PLANES):
            fields |= {f"{name}_{k}": planes[k][name] for name in ("z0", "dx", "dy")}
        value = Cat(fields.values())
        m.submodules.known = line = DelayLine(
            len(value), PlaneDepths.latency(self._params), near=True
        )
        known = line.o & (~wrong).replicate(len(value))
        m.d.comb += [
            line.i.eq(value),
            Cat(skid.i[name] for name in fields).eq(known),
        ]

    def _wrong(self, m, timeline, data, count, low, high):
        """An undefined mode, bits set beyond its size, samples of no plane; in clock 3."""
        edge = self._params.edge
        mode_set = modes.WITH_DIFFERENCES if self._params.differences else modes.MODES
        bounds = sorted({modes.bits(mode, edge) for mode in mode_set} | {len(data)})
        parts = [
            Signal(-(-(end - begin) // 16), name=f"part_{begin}") for begin, end in pairwise(bounds)
        ]
        for (begin, end), part in zip(pairwise(bounds), parts, strict=True):
            m.d.sync += part.eq(
                Cat(data[n : min(n + 16, end)].any() for n in range(begin, end, 16))
            )
        part_used = Signal(len(parts))
        m.d.sync += part_used.eq(Cat(part.any() for part in parts))
        beyond = {
            mode: Cat(
                flag
                for begin, flag in zip(bounds, part_used, strict=False)
                if begin >= modes.bits(mode, edge)
            ).any()
            for mode in mode_set
        }
        timeline.enter(1, fourth_plane=(count == 3) & (low & high).any())
        wrong = Signal()
        mode_numbers = range(1 << self._params.mode_bits)
        mode_wrong = Array(beyond.get(mode, Const(1)) for mode in mode_numbers)[timeline[2].mode]
        m.d.sync += wrong.eq(timeline[2].fourth_plane | mode_wrong)
        return wrong
