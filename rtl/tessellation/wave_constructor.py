# SPDX-License-Identifier: BSD-2-Clause
"""The wave constructor."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.spec import points
from fixfunc.spec.state import PointKind


@dataclass(frozen=True)
class WaveConstructorParams:
    """Shape of a :class:`WaveConstructor`.

    Parameters
    ----------
    lanes : int
        Points of a wave: a power of two above 1.
    """

    lanes: int = 32

    def __post_init__(self):
        if self.lanes < 2 or self.lanes & self.lanes - 1:
            raise ValueError(f"lanes must be a power of two above 1, not {self.lanes!r}")


CONFIGS = {"default": WaveConstructorParams(), "tiny": WaveConstructorParams(lanes=4)}
PURPOSE = {  # of each configuration
    "default": "waves of 32 points",
    "tiny": "for benches: waves of 4 points",
}


class WaveConstructor(wiring.Component):
    """Pack points that are to be shaded into waves; hand on where each vertex is.

    One point a clock. A wave leaves when its last lane is taken; when the next one begins, a draw ends or a FLUSH comes, with
    what it has: then the same wave may come again with the rest.

    Parameters
    ----------
    params : WaveConstructorParams

    Members
    -------
    i : In(stream.Signature(layout(points.MATCHED_POINT)))
    o : Out(stream.Signature(layout(points.wave(params.lanes))))
        Waves.
    index : Out(stream.Signature(layout(points.VERTEX_INDEX)))
        Every point's place, in order; END of a draw, behind its last wave.
    """

    def __init__(self, params: WaveConstructorParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(layout(points.MATCHED_POINT))), "o": Out(stream.Signature(layout(points.wave(params.lanes)))),
            "index": Out(stream.Signature(layout(points.VERTEX_INDEX))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes, given = self._params.lanes, self.i.payload
        vertex = StructLayout({"patch": 16, "u": 17, "v": 17})
        waiting, begin, end, row = Signal(ArrayLayout(vertex, lanes)), Signal(range(lanes + 1)), Signal(range(lanes + 1)), Signal(16)
        some, cuts, wants, sends, takes, misses = (Signal(name=name) for name in ("some", "cuts", "wants", "sends", "takes", "misses"))
        lane = given.dsid[:lanes.bit_length() - 1]

        # What waits leaves when it is full, or when something comes that it must not wait for.
        is_point, leaves, heard = given.kind == PointKind.POINT, ~self.o.valid | self.o.ready, ~self.index.valid | self.index.ready
        m.d.comb += [some.eq(begin != end), cuts.eq(self.i.valid & Mux(is_point, ~given.hit & (lane == 0), 1)),
                     wants.eq(some & ((end == lanes) | cuts)), sends.eq(wants & leaves)]
        m.d.comb += [takes.eq(self.i.valid & heard & (~wants | leaves)), self.i.ready.eq(takes), misses.eq(takes & is_point & ~given.hit)]
        with m.If(sends):
            m.d.sync += [waiting.eq(0), begin.eq(end)]
        with m.If(misses):
            m.d.sync += [row.eq(given.dsid & ~(lanes - 1)), end.eq(lane + 1)]
            with m.If(sends | ~some):
                m.d.sync += begin.eq(lane)
            for n in range(lanes):
                with m.If(lane == n):
                    m.d.sync += waiting[n].eq(Cat(given.patch, given.u, given.v))
        with m.If(leaves):
            m.d.sync += [self.o.valid.eq(sends), self.o.payload.eq(Cat(row, begin, end, waiting))]
        with m.If(heard):
            m.d.sync += [self.index.valid.eq(takes & (given.kind != PointKind.FLUSH)),
                         self.index.payload.eq(Cat(given.kind, given.first, given.dsid))]
        return m
