# SPDX-License-Identifier: BSD-2-Clause
"""Line cache: the lines of the second level, in the order of fills."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.spec.textures.cache import LINE


class LineCache(wiring.Component):
    """Lines on chip, or those that memory has given: one a clock, in the order of fills.

    A line is written here when its turn comes, not when memory gives it. So the line that it
    replaces has been used by all misses before.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(params.ordered))
    present, take, data, error : In(1), Out(1), In(8 * LINE), In(1)
        Of :class:`~fixfunc.rtl.texture.cache.line_reads.LineReads`.
    o : Out(stream.Signature(params.filling))
        A clock later at the earliest.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(params.ordered)),
                "present": In(1),
                "take": Out(1),
                "data": In(8 * LINE),
                "error": In(1),
                "o": Out(stream.Signature(params.filling)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Beside each line, whether memory failed.
        m.submodules.lines = lines = Memory(shape=8 * LINE + 1, depth=self._params.lines, init=[])
        write = lines.write_port()
        read = lines.read_port(transparent_for=(write,))
        fill = self.i.payload
        current = Signal(self._params.ordered)
        may_move = named(m, ~self.o.valid | self.o.ready, "may_move")
        moves = named(m, self.i.valid & may_move & (~fill.fetched | self.present), "moves")
        line = Signal(8 * LINE + 1)
        m.d.comb += [
            self.i.ready.eq(may_move & (~fill.fetched | self.present)),
            self.take.eq(moves & fill.fetched),
            read.en.eq(moves),
            read.addr.eq(fill.index),
            line.eq(Mux(current.fetched, Cat(self.data, self.error), read.data)),
            # As long as the line waits it is written again, which changes nothing.
            write.en.eq(self.o.valid & current.fetched),
            write.addr.eq(current.index),
            write.data.eq(Cat(self.data, self.error)),
            self.o.payload.data.eq(line),
            self.o.payload.error.eq(line[-1]),
            *carried(self.o.payload, current),
        ]
        with m.If(may_move):
            m.d.sync += [
                self.o.valid.eq(moves),
                current.eq(fill),
            ]
        return m
