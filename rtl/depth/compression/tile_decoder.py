# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory back to tiles of depths."""

from itertools import pairwise

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorDecoder
from fixfunc.rtl.depth.compression.plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.depth.differences.difference_decoder import DifferenceDecoder
from fixfunc.rtl.lib.delay import DelayLine, later
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DIFFERENCES, TileMode


class TileDecoder(wiring.Component):
    """All codings side by side, of which the mode selects one; one tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(payloads.stored(params.edge, ...)))
        A tile as memory stores it, and its mode.
    o : Out(layout(payloads.decoded(params.edge)))
        :meth:`latency` clocks later.
    """

    def __init__(self, params):
        self._params = params
        super().__init__(
            {
                "i": In(layout(payloads.stored(params.edge, params.mode_bits))),
                "o": Out(layout(payloads.decoded(params.edge))),
            }
        )

    @staticmethod
    def latency(params):
        """Clocks: parts, planes, choice; with differences a tile waits for them."""
        planes = 1 + PlaneDepths.latency(params) + 1
        return DifferenceDecoder.latency(params.samples) + 1 if params.differences else planes

    def elaborate(self, platform):
        m = Module()
        edge = self._params.edge
        out = 1 + PlaneDepths.latency(self._params)
        i = self.i
        if self._params.differences:
            i = later(m, self.i, self.latency(self._params) - 1 - out, "arriving")
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
        if self._params.differences:
            coded_depths = self._differences(m, timeline, out)
        else:
            coded_depths = self._anchored(m, data, out)

        # One of the codings; nothing, if the tile cannot be.
        now = timeline[out]
        is_coded = now.mode == TileMode.ANCHOR
        wrong = now.wrong
        if self._params.differences:
            is_coded = now.mode > DIFFERENCES
            wrong = now.wrong | (is_coded & now.no_differences)
        m.d.sync += self.o.wrong.eq(wrong)
        for n in range(edge**2):
            of_raw = raw.o[payloads.DEPTH * n : payloads.DEPTH * (n + 1)]
            depth = Mux(now.mode == TileMode.RAW, of_raw, depths.o[n])
            depth = Mux(is_coded, coded_depths[n], depth)
            m.d.sync += self.o[f"depth{n}"].eq(Mux(wrong, 0, depth))
        self._put_out(m, count, low, high, planes, wrong, out)
        return m

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

    def _differences(self, m, timeline, out):
        """Depths by lane, and whether there are any."""
        data = Cat(self.i[f"data{n}"] for n in range(payloads.coded_words(self._params.edge)))
        m.submodules.differences = decoder = DifferenceDecoder(self._params.samples)
        m.d.comb += [
            decoder.i.samples.eq(self.i.samples),
            decoder.i.transfers.eq(self.i.mode - DIFFERENCES),
            decoder.i.data.eq(data),
        ]
        timeline.enter(out, no_differences=decoder.o.wrong)
        return decoder.o.depths

    def _anchored(self, m, data, out):
        """Differences, by lane."""
        edge = self._params.edge
        bits = modes.bits(TileMode.ANCHOR, edge)
        m.submodules.waiting = waiting = DelayLine(bits, out - AnchorDecoder.LATENCY, near=True)
        m.d.comb += waiting.i.eq(data)
        depths = {}
        for n, block in enumerate(modes.blocks(edge)):
            m.submodules[f"anchor_{n}"] = decoder = AnchorDecoder()
            m.d.comb += decoder.i.eq(waiting.o[modes.BLOCK * n :])
            depths |= {lane: decoder.o[4 * y + x] for (x, y), lane in block.items()}
        return depths

    def _put_out(self, m, count, low, high, planes, wrong, out):
        """What is known of the tile's planes."""
        fields = {"planes": count, "mask_low": low, "mask_high": high}
        for k in range(payloads.PLANES):
            fields |= {f"{name}_{k}": planes[k][name] for name in ("z0", "dx", "dy")}
        width = sum(map(len, fields.values()))
        m.submodules.known = line = DelayLine(width, out - 1, near=True)
        m.d.comb += line.i.eq(Cat(fields.values()))
        bit = 0
        for name, value in fields.items():
            m.d.sync += self.o[name].eq(Mux(wrong, 0, line.o[bit : bit + len(value)]))
            bit += len(value)

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
