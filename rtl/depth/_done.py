# SPDX-License-Identifier: BSD-2-Clause
"""What has been done with slots, on its way to their cache."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Credit, Queue
from fixfunc.spec import payloads


class DoneLines(wiring.Component):
    """A queue at the end of a pipeline that does what :class:`~fixfunc.rtl.depth._line_front.LineFront` lets in.

    Parameters
    ----------
    edge, bits : int
        Samples along a tile's edge; of a value.
    places : int
        Above what is under way.

    Members
    -------
    begins : In(1)
        Something is done to a slot, known a clock after it was let in.
    any : Out(1)
        There is room.
    valid, i : In
        It has been done.
    o : Out(stream.Signature(layout(payloads.line_done(edge, bits))))
    """

    def __init__(self, edge, bits, places):
        self._places, self._done = places, layout(payloads.line_done(edge, bits))
        super().__init__({"begins": In(1), "any": Out(1), "valid": In(1), "i": In(self._done), "o": Out(stream.Signature(self._done))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.credit, m.submodules.queue = credit, queue = Credit(self._places, ahead=4), Queue(self._done, self._places)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        m.d.comb += [credit.take.eq(self.begins), credit.free.eq(self.o.valid & self.o.ready), self.any.eq(credit.any),
                     queue.valid.eq(self.valid), queue.i.eq(self.i)]
        return m
