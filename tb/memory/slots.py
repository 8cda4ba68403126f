# SPDX-License-Identifier: BSD-2-Clause
"""Harness: a tile cache with slots that hold values, and writes in place of tests."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.depth_compression import DepthCompressionParams
from fixfunc.rtl.depth.planes.plane_depths import PLANE, PlaneDepths
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCache
from fixfunc.rtl.payload import layout
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import DEPTH, Field
from fixfunc.spec.state import CacheOp, SlotOp


def work(edge):
    """Fields of a request, and of what is written to its tile.

    Samples have the depths of a plane; without ``exact`` their lowest bit is inverted.
    """
    plane = Field("z0", 32), Field("dx", 32, True), Field("dy", 32, True)
    return (*caching.cache_request(edge), Field("written", edge**2), Field("exact", 1), *plane)


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
                "counted": Out(stream.Signature(layout(caching.counted(params.differences)))),
                "memory": Out(Axi(params.ids)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self._params
        shape = DepthCompressionParams(p.edge, p.samples, False)
        m.submodules.cache = cache = TileCache(p)
        m.submodules.planes = planes = StallablePipeline(_Planes(shape), PlaneDepths.latency(shape))
        m.submodules.requests = requests = fifo.SyncFIFOBuffered(
            width=layout(work(p.edge)).size, depth=256
        )
        m.submodules.depths = depths = fifo.SyncFIFOBuffered(width=DEPTH * p.edge**2, depth=256)
        wiring.connect(m, cache.counted, wiring.flipped(self.counted))
        wiring.connect(m, cache.memory, wiring.flipped(self.memory))
        wiring.connect(m, planes.o, depths.w_stream)

        # A request goes to the cache, to its planes, and to a queue, all in one clock.
        request = self.i.payload
        ready = Signal()
        m.d.comb += [
            ready.eq(cache.i.ready & planes.i.ready & requests.w_rdy),
            self.i.ready.eq(ready),
            requests.w_data.eq(request),
            requests.w_en.eq(self.i.valid & ready),
            planes.i.payload.eq(request),
            planes.i.valid.eq(self.i.valid & cache.i.ready & requests.w_rdy),
            cache.i.valid.eq(self.i.valid & planes.i.ready & requests.w_rdy),
        ]
        m.d.comb += [
            cache.i.payload[f.name].eq(request[f.name]) for f in caching.cache_request(p.edge)
        ]

        m.submodules.slots = slots = Slots(p, cache)
        wiring.connect(m, cache.o, slots.commands)
        wiring.connect(m, slots.done, cache.done)
        wiring.connect(m, slots.o, wiring.flipped(self.o))
        m.d.comb += [
            slots.request.eq(requests.r_data),
            slots.depths.eq(depths.r_data),
            slots.available.eq(requests.r_rdy & depths.r_rdy),
            requests.r_en.eq(slots.taken),
            depths.r_en.eq(slots.taken),
        ]
        return m


class Slots(wiring.Component):
    """Values of slots, which commands of a tile cache fill, use and evict. One command a clock.

    Parameters
    ----------
    params : TileCacheParams
    cache : TileCache
        Whose commands they are.

    Members
    -------
    commands : In(stream)
        Of the cache.
    done : Out(stream)
        Completions for the cache, two clocks later.
    request, depths : In
        The oldest request, and the depths of its plane.
    available : In(1)
        There is one.
    taken : Out(1)
        It is answered.
    o : Out(stream.Signature(layout(answer(params))))
    """

    def __init__(self, params, cache):
        self._params = params
        lanes = params.edge**2
        members = cache.signature.members
        self.is_float = Signal()  # the target's depths are D32F
        self._completion = layout(caching.completion(params.edge, params.bits))
        super().__init__(
            {
                "commands": In(members["o"].signature),
                "done": Out(members["done"].signature.flip()),
                "request": In(layout(work(params.edge))),
                "depths": In(DEPTH * lanes),
                "available": In(1),
                "taken": Out(1),
                "o": Out(stream.Signature(layout(answer(params)))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self._params
        lanes = p.edge**2
        with m.If(self.taken & (self.request.op == CacheOp.CLEAR)):
            m.d.sync += self.is_float.eq(self.request.is_float)
        m.submodules.values = values = Memory(shape=p.bits * lanes, depth=p.slots, init=[])
        m.submodules.done_fifo = done = fifo.SyncFIFOBuffered(width=self._completion.size, depth=8)
        read = values.read_port(domain="comb")
        write = values.write_port()
        wiring.connect(m, done.r_stream, wiring.flipped(self.done))
        command = self.commands.payload
        uses = has(command.op, SlotOp.USE)
        ends = ~command.op.any()
        answers = uses | ends
        sent = Signal()
        m.d.comb += [
            sent.eq(
                self.commands.valid & done.w_rdy & (~answers | (self.o.ready & self.available))
            ),
            self.commands.ready.eq(sent),
            self.taken.eq(sent & answers),
            self.o.valid.eq(self.commands.valid & done.w_rdy & answers & self.available),
            done.w_en.eq(sent & ~ends),
            read.addr.eq(command.slot),
            write.addr.eq(read.addr),
            write.en.eq(sent & uses),
            self.o.payload.op.eq(self.request.op),
            self.o.payload.error.eq(Mux(ends, command.error, 0)),
        ]
        completion = self._completion(done.w_data)
        m.d.comb += [
            completion[name].eq(self.request[name])
            for name in self._completion.members
            if not name.startswith("value") and name not in ("op", "slot")
        ]
        m.d.comb += [
            completion.op.eq(command.op),
            completion.slot.eq(command.slot),
        ]
        for n in range(lanes):
            stored = read.data.word_select(n, p.bits)
            old = Mux(has(command.op, SlotOp.FILL), command[f"value{n}"], stored)
            depth = self.depths.word_select(n, DEPTH)
            plane_value = Cat(depth, Mux(self.is_float, depth, 0))[: p.bits] ^ ~self.request.exact
            used = Mux(self.request.written[n], plane_value, old)
            m.d.comb += [
                write.data.word_select(n, p.bits).eq(used),
                completion[f"value{n}"].eq(stored),
                self.o.payload[f"value{n}"].eq(Mux(uses & self.request.needed, old, 0)),
            ]
        return m
