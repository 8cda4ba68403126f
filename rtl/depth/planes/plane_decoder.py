# SPDX-License-Identifier: BSD-2-Clause
"""Tiles by planes, raw tiles, and tiles by anchors."""

from itertools import pairwise
from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorDecoder
from fixfunc.rtl.depth.planes.plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import DelayLine, delay
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.state import TileMode


class PlaneDecoder(wiring.Component):
    """Codings side by side, of which the mode selects one; all but differences. One tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(depth_tiles.stored(params.edge, ...)))
        A tile as memory stores it, and its mode.
    o : Out(layout(depth_tiles.decoded(params.edge)))
        :meth:`latency` clocks later. Of tiles by differences anything.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(layout(depth_tiles.stored(params.edge, params.mode_bits))),
                "o": Out(layout(depth_tiles.decoded(params.edge))),
            }
        )

    @staticmethod
    def latency(params: Any) -> int:
        """Clocks: parts, planes."""
        return 1 + PlaneDepths.latency(params)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i = self.i
        edge = self._params.edge
        out = self.latency(self._params)
        data = Cat(i[f"data{n}"] for n in range(depth_tiles.coded_words(edge)))
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
        is_raw = now.mode == TileMode.RAW
        is_anchored = Const(0)
        kinds = {"raw": (is_raw, raw.o)}
        if not self._params.differences:
            is_anchored = now.mode == TileMode.ANCHOR
            anchored = self._anchored(m, data)
            kinds["anchored"] = is_anchored, Cat(anchored[n] for n in range(edge**2))
        kinds["planes"] = ~is_raw & ~is_anchored, depths.o.as_value()
        values = Const(0, payloads.DEPTH * edge**2)
        for name, (flag, value) in kinds.items():
            selected = named(m, flag & ~now.wrong, f"is_{name}")
            values = values | gated(value, selected)
        m.d.comb += [
            self.o.wrong.eq(now.wrong),
            Cat(self.o[f"depth{n}"] for n in range(edge**2)).eq(values),
        ]
        self._put_out(m, count, low, high, planes, now.wrong)
        return m

    def _anchored(self, m, data):
        """Differences, by lane."""
        depths = {}
        bits = modes.bits(TileMode.ANCHOR, self._params.edge)
        wait = self.latency(self._params) - AnchorDecoder.LATENCY
        data = delay(m, data[:bits], wait, "anchors")
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

    def _put_out(self, m, count, low, high, planes, wrong):
        """What is known of the tile's planes."""
        fields = {"planes": count, "mask_low": low, "mask_high": high}
        for k in range(payloads.PLANES):
            fields |= {f"{name}_{k}": planes[k][name] for name in ("z0", "dx", "dy")}
        value = Cat(fields.values())
        m.submodules.known = line = DelayLine(
            len(value), PlaneDepths.latency(self._params), near=True
        )
        known = gated(line.o, ~wrong)
        m.d.comb += [
            line.i.eq(value),
            Cat(self.o[name] for name in fields).eq(known),
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
