# SPDX-License-Identifier: BSD-2-Clause
"""Buffer turns: which buffer is shown, which is drawn to, and which is shown next."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class BufferTurns(wiring.Component):
    """Single, double and triple buffering.

    Members
    -------
    count : In(2)
        Buffers, 1 to 3; constant from one ``begin`` to the next.
    begin : In(1)
        Buffer 0 is shown, and 1 is drawn to if there is one.
    present : In(1)
        What has been drawn to ``back`` is to be shown. It counts in a clock of ``drawable``.
    drawable : Out(1)
        ``back`` may be drawn to: with two buffers, none waits to be shown. Nor do they begin, or
        change, in this very clock.
    back, front : Out(2)
        The buffer to draw to, and the one that is shown.
    pending : Out(1)
        A buffer waits to be shown.
    change : In(1)
        What waits is shown from the next clock on. Held, buffers change at once.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "count": In(2),
                "begin": In(1),
                "present": In(1),
                "drawable": Out(1),
                "back": Out(2),
                "front": Out(2),
                "pending": Out(1),
                "change": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        drawn = Signal(2)  # shown next
        double = Signal()
        triple = Signal()
        m.d.comb += [
            double.eq(self.count == 2),
            triple.eq(self.count == 3),
            self.drawable.eq(~self.begin & ~(self.pending & (double | self.change))),
        ]
        with m.If(self.present & self.drawable & (double | triple)):
            m.d.sync += [
                drawn.eq(self.back),
                self.pending.eq(1),
            ]
            with m.If(triple):
                # 0, 1 and 2 add up to 3. What waited to be shown never will be.
                m.d.sync += self.back.eq(3 - self.front - self.back)
        with m.If(self.change & self.pending):
            m.d.sync += [
                self.front.eq(drawn),
                self.pending.eq(0),
            ]
            with m.If(double):
                m.d.sync += self.back.eq(self.front)
        with m.If(self.begin):
            m.d.sync += [
                self.front.eq(0),
                self.back.eq(Mux(self.count > 1, 1, 0)),
                self.pending.eq(0),
            ]
        return m
