# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory back to tiles of depths."""

from itertools import pairwise

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth import _tile_modes as modes
from fixfunc.rtl.depth._anchor import AnchorDecoder
from fixfunc.rtl.depth._plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import DelayLine, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import TileMode


class TileDecoder(wiring.Component):
    """All codings side by side, of which one is taken; one tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(payloads.stored(params.edge)))
    o : Out(layout(payloads.decoded(params.edge)))
        :meth:`latency` clocks later.
    """

    def __init__(self, params):
        self._params = params
        super().__init__({"i": In(layout(payloads.stored(params.edge))), "o": Out(layout(payloads.decoded(params.edge)))})

    @staticmethod
    def latency(params):
        """Clocks: parts, planes, choice."""
        return 1 + PlaneDepths.latency(params) + 1

    def elaborate(self, platform):
        m = Module()
        p, edge, at, i = self._params, self._params.edge, 1 + PlaneDepths.latency(self._params), self.i
        data, lanes = Cat(i[f"data{n}"] for n in range(payloads.coded_words(edge))), edge**2

        # What a mode's data mean, then the planes' depths.
        count, low, high, planes = Signal(3), Signal(lanes), Signal(lanes), Signal(ArrayLayout(PLANE, payloads.PLANES))
        m.d.sync += [count.eq(Mux(i.mode == TileMode.CLEARED, 1, Mux(i.mode <= payloads.PLANES, i.mode, 0))), low.eq(0), high.eq(0), planes.eq(0)]
        with m.Switch(i.mode):
            with m.Case(TileMode.CLEARED):
                m.d.sync += planes[0].z0.eq(i.cleared << 8)
            for k in range(1, payloads.PLANES + 1):
                with m.Case(k):
                    mask, width = data[modes.PLANE * k:modes.bits(k, edge)], modes.MASK[k]
                    m.d.sync += [planes.as_value()[:modes.PLANE * k].eq(data), low.eq(Cat(mask[n] for n in range(0, len(mask), max(1, width)))),
                                 high.eq(Cat(mask[n] for n in range(1, len(mask), 2)) if width == 2 else 0)]
        m.submodules.depths = depths = PlaneDepths(p)
        m.d.comb += [depths.samples.eq(delay(m, i.samples, 1, "samples")), depths.low.eq(low), depths.high.eq(high), depths.planes.eq(planes)]
        wrong = delay(m, self._wrong(m, data, count, low, high), at - 3, "wrong")

        # Differences, and the tile as it is.
        m.submodules.waiting = waiting = DelayLine(modes.bits(TileMode.ANCHOR, edge), at - AnchorDecoder.LATENCY, near=True)
        m.submodules.raw = raw = DelayLine(modes.bits(TileMode.RAW, edge), at, near=True)
        m.d.comb += [waiting.i.eq(data), raw.i.eq(data)]
        anchored = {}
        for n, block in enumerate(modes.blocks(edge)):
            m.submodules[f"anchor_{n}"] = decoder = AnchorDecoder()
            m.d.comb += decoder.i.eq(waiting.o[modes.BLOCK * n:])
            anchored |= {lane: decoder.o[4 * y + x] for (x, y), lane in block.items()}

        # One of them, with its planes; nothing, if it cannot be.
        mode, o = delay(m, i.mode, at, "mode"), self.o
        known = {"planes": count, "mask_low": low, "mask_high": high}
        known |= {f"{name}_{k}": planes[k][name] for k in range(payloads.PLANES) for name in ("z0", "dx", "dy")}
        m.submodules.known = line = DelayLine(sum(map(len, known.values())), at - 1, near=True)
        m.d.comb += line.i.eq(Cat(known.values()))
        bit = 0
        for name, value in known.items():
            m.d.sync += o[name].eq(Mux(wrong, 0, line.o[bit:bit + len(value)]))
            bit += len(value)
        m.d.sync += o.wrong.eq(wrong)
        for n in range(lanes):
            by_planes = Mux(mode == TileMode.RAW, raw.o[payloads.DEPTH * n:payloads.DEPTH * (n + 1)], depths.o[n])
            m.d.sync += o[f"depth{n}"].eq(Mux(wrong, 0, Mux(mode == TileMode.ANCHOR, anchored[n], by_planes)))
        return m

    def _wrong(self, m, data, count, low, high):
        """A mode that there is not, bits beyond what it says, samples of no plane; three clocks later."""
        edge = self._params.edge
        ends = sorted({modes.bits(mode, edge) for mode in TileMode} | {len(data)})
        parts = [Signal(-(-(end - begin) // 16), name=f"part_{begin}") for begin, end in pairwise(ends)]
        for (begin, end), part in zip(pairwise(ends), parts, strict=True):
            m.d.sync += part.eq(Cat(data[n:min(n + 16, end)].any() for n in range(begin, end, 16)))
        some = Signal(len(parts))
        m.d.sync += some.eq(Cat(part.any() for part in parts))
        beyond = {mode: Cat(flag for begin, flag in zip(ends, some, strict=False) if begin >= modes.bits(mode, edge)).any() for mode in TileMode}
        fourth = delay(m, (count == 3) & (low & high).any(), 1, "fourth")
        wrong = Signal()
        m.d.sync += wrong.eq(fourth | Array([*beyond.values(), Const(1)])[delay(m, self.i.mode, 2, "early_mode")])
        return wrong
