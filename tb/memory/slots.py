# SPDX-License-Identifier: BSD-2-Clause
"""Harness: a tile cache with slots that hold values, and writes in place of tests."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.depth_compression import DepthCompressionParams
from fixfunc.rtl.depth.compression.plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCache
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.payloads import DEPTH, Field
from fixfunc.spec.state import SlotOp


def work(edge):
    """Fields of a request, and of what is written to its tile.

    Samples have the depths of a plane; without ``exact`` their lowest bit is inverted.
    """
    plane = Field("z0", 32), Field("dx", 32, True), Field("dy", 32, True)
    return (*payloads.cache_request(edge), Field("written", edge**2), Field("exact", 1), *plane)


def answer(params):
    """What a tile was, if it was needed; or a DONE."""
    return (
        Field("op", 2),
        Field("error", 3),
        *(Field(f"value{n}", params.bits) for n in range(params.edge**2)),
    )


class _Planes(wiring.Component):
    """Depths of a request's plane."""

    def __init__(self, params):
        self._params = params
        lanes = params.edge**2
        super().__init__({"i": In(layout(work(params.edge))), "o": Out(DEPTH * lanes)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.depths = depths = PlaneDepths(self._params)
        m.d.comb += [
            depths.samples.eq(self.i.samples),
            self.o.eq(Cat(depths.o[n] for n in range(self._params.edge**2))),
        ]
        m.d.comb += [depths.planes[0][name].eq(self.i[name]) for name in PLANE.members]
        return m


class Harness(wiring.Component):
    """Requests in, what their tiles were out; whatever the cache moves goes to memory.

    Parameters
    ----------
    params : TileCacheParams
    """

    def __init__(self, params):
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(work(params.edge)))),
                "o": Out(stream.Signature(layout(answer(params)))),
                "counted": Out(stream.Signature(layout(payloads.COUNTED))),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, lanes, bits, beat = (
            self._params,
            self._params.edge**2,
            self._params.bits,
            layout(payloads.completion(self._params.edge, self._params.bits)),
        )
        shape = DepthCompressionParams(p.edge, p.samples)
        m.submodules.cache = cache = TileCache(p)
        m.submodules.planes = planes = StallablePipeline(_Planes(shape), PlaneDepths.latency(shape))
        m.submodules.waiting = waiting = fifo.SyncFIFOBuffered(
            width=layout(work(p.edge)).size, depth=256
        )
        m.submodules.depths = depths = fifo.SyncFIFOBuffered(width=DEPTH * lanes, depth=256)
        wiring.connect(m, cache.counted, wiring.flipped(self.counted))
        wiring.connect(m, cache.memory, wiring.flipped(self.memory))
        wiring.connect(m, planes.o, depths.w_stream)

        # A request goes three ways at once.
        request_in = self.i.payload
        ready = Signal()
        m.d.comb += [
            ready.eq(cache.i.ready & planes.i.ready & waiting.w_rdy),
            self.i.ready.eq(ready),
            waiting.w_data.eq(request_in),
            waiting.w_en.eq(self.i.valid & ready),
            planes.i.payload.eq(request_in),
            planes.i.valid.eq(self.i.valid & cache.i.ready & waiting.w_rdy),
            cache.i.valid.eq(self.i.valid & planes.i.ready & waiting.w_rdy),
        ]
        m.d.comb += [
            cache.i.payload[f.name].eq(request_in[f.name]) for f in payloads.cache_request(p.edge)
        ]

        # What the cache wants done takes a clock.
        m.submodules.slots = slots = Memory(shape=bits * lanes, depth=p.slots, init=[])
        read = slots.read_port(domain="comb")
        write = slots.write_port()
        op = cache.o.payload.op
        request = layout(work(p.edge))(waiting.r_data)
        new = Signal(bits * lanes)
        m.submodules.done = done = fifo.SyncFIFOBuffered(width=beat.size, depth=8)
        wiring.connect(m, done.r_stream, cache.done)
        uses = op == SlotOp.USE
        ends = op == SlotOp.DONE
        answers = uses | ends
        sent = Signal()
        m.d.comb += [
            sent.eq(
                cache.o.valid
                & done.w_rdy
                & (~answers | (self.o.ready & waiting.r_rdy & depths.r_rdy))
            ),
            cache.o.ready.eq(sent),
            done.w_en.eq(sent & ~ends),
            waiting.r_en.eq(sent & answers),
            depths.r_en.eq(sent & answers),
            self.o.valid.eq(cache.o.valid & done.w_rdy & answers & waiting.r_rdy & depths.r_rdy),
            read.addr.eq(cache.o.payload.slot),
            write.addr.eq(read.addr),
            write.en.eq(sent & (uses | (op == SlotOp.FILL))),
        ]
        completion = beat(done.w_data)
        put = self.o.payload
        m.d.comb += [
            completion[name].eq(request[name])
            for name in beat.members
            if not name.startswith("value")
        ]
        m.d.comb += [
            put.op.eq(request.op),
            put.error.eq(Mux(ends, cache.o.payload.error, 0)),
        ]
        for n in range(lanes):
            old = read.data.word_select(n, bits)
            filled = cache.o.payload[f"value{n}"]
            new_value = depths.r_data.word_select(n, DEPTH)[:bits] ^ ~request.exact
            m.d.comb += [
                new.word_select(n, bits).eq(
                    Mux(uses, Mux(request.written[n], new_value, old), filled)
                ),
                completion[f"value{n}"].eq(old),
                put[f"value{n}"].eq(Mux(uses & request.needed, old, 0)),
            ]
        m.d.comb += write.data.eq(new)
        return m
