# SPDX-License-Identifier: BSD-2-Clause
"""Wave constructor: points that are to be shaded, packed into waves."""

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
    """Pack points that are to be shaded into waves, and pass on the place of every point.

    One point a clock. A wave leaves when its last lane is filled. It leaves unfinished when the
    next wave begins, a draw ends or a FLUSH arrives; after a FLUSH its remaining lanes follow as a
    wave of their own.

    Parameters
    ----------
    params : WaveConstructorParams

    Members
    -------
    i : In(stream.Signature(layout(points.MATCHED_POINT)))
    o : Out(stream.Signature(layout(points.wave(params.lanes))))
        Waves to be shaded.
    index : Out(stream.Signature(layout(points.VERTEX_INDEX)))
        The place of every point, in order; END of a draw, behind its last wave.
    """

    def __init__(self, params: WaveConstructorParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(points.MATCHED_POINT))),
                "o": Out(stream.Signature(layout(points.wave(params.lanes)))),
                "index": Out(stream.Signature(layout(points.VERTEX_INDEX))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self._params.lanes
        point = self.i.payload
        is_point = point.kind == PointKind.POINT
        is_miss = is_point & ~point.hit
        lane = point.dsid[: lanes.bit_length() - 1]
        o_ready = ~self.o.valid | self.o.ready
        index_ready = ~self.index.valid | self.index.ready

        # Lanes begin..end - 1 of a wave are pending.
        wave = Signal(ArrayLayout(StructLayout({"patch": 16, "u": 17, "v": 17}), lanes))
        wave_dsid = Signal(16)
        begin = Signal(range(lanes + 1))
        end = Signal(range(lanes + 1))
        pending = Signal()

        # They leave when the wave is full, or ahead of a beat that they must not wait for.
        flush = Signal()
        request = Signal()
        send = Signal()
        accept = Signal()
        append = Signal()
        m.d.comb += [
            pending.eq(begin != end),
            flush.eq(self.i.valid & Mux(is_point, is_miss & (lane == 0), 1)),
            request.eq(pending & ((end == lanes) | flush)),
            send.eq(request & o_ready),
            accept.eq(self.i.valid & index_ready & (~request | o_ready)),
            append.eq(accept & is_miss),
            self.i.ready.eq(accept),
        ]
        with m.If(send):
            m.d.sync += [
                wave.eq(0),
                begin.eq(end),
            ]
        with m.If(append):
            m.d.sync += [
                wave_dsid.eq(point.dsid & ~(lanes - 1)),
                end.eq(lane + 1),
            ]
            with m.If(send | ~pending):
                m.d.sync += begin.eq(lane)
            for n in range(lanes):
                with m.If(lane == n):
                    m.d.sync += wave[n].eq(Cat(point.patch, point.u, point.v))
        with m.If(o_ready):
            m.d.sync += [
                self.o.valid.eq(send),
                self.o.payload.eq(Cat(wave_dsid, begin, end, wave)),
            ]
        with m.If(index_ready):
            m.d.sync += [
                self.index.valid.eq(accept & (point.kind != PointKind.FLUSH)),
                self.index.payload.eq(Cat(point.kind, point.first, point.dsid)),
            ]
        return m
