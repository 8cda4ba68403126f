# SPDX-License-Identifier: BSD-2-Clause
"""Shaded colours: what a shader gives for tiles, those of late draws until their answer comes."""

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import colour_name, colours, fraction_name
from fixfunc.spec.payloads import COLOUR

LATE = 32  # tiles whose colours wait for a late test: its latency at its rate


class ShadedColours(wiring.Component):
    """Offer the colours of each tile when it is known which of its samples passed.

    Colours of late draws wait in a FIFO, so that the depth test hears of many tiles ahead.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    depths : bool
        Shaders may put out depths.
    outputs : int
        Colours of a sample: one for each plane; the second may be one more for the first plane.

    Members
    -------
    colours : In(stream.Signature(layout(colours(edge, depths, outputs))))
    shaded : Out(stream.Signature(layout(payloads.survivors(edge, depths))))
        Of tiles of late draws, what ``colours`` says of their samples.
    answers : In(stream.Signature(layout(payloads.coverage(edge**2))))
        Samples of the same tiles that passed in the end.
    next_late : In(1)
        The next tile of ``colours`` is of a late draw.
    entry_late : In(1)
        The next tile to enter is of a late draw.
    enter : In(1)
        A shaded tile enters: only if ``ready``.
    returned : Out(1)
        A tile of ``colours`` has come.
    ready : Out(1)
        The next tile may enter.
    o : Out(ArrayLayout(ArrayLayout(ArrayLayout(COLOUR, edge**2), 2), outputs))
        Of each output the packed colours of the next tile, and their fractions.
    passed : Out(edge**2)
        Samples of it that passed after the shader; of an early draw all.
    """

    def __init__(self, edge: int, depths: bool, outputs: int) -> None:
        self._lanes = range(edge**2)
        self._outputs = range(outputs)
        survivors = layout(payloads.survivors(edge, depths))
        words = ArrayLayout(ArrayLayout(ArrayLayout(COLOUR, edge**2), 2), outputs)
        super().__init__(
            {
                "colours": In(stream.Signature(layout(colours(edge, depths, outputs)))),
                "shaded": Out(stream.Signature(survivors)),
                "answers": In(stream.Signature(layout(payloads.coverage(edge**2)))),
                "next_late": In(1),
                "entry_late": In(1),
                "enter": In(1),
                "returned": Out(1),
                "ready": Out(1),
                "o": Out(words),
                "passed": Out(edge**2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        result = self.colours.payload
        new = Cat(
            result[name(output, n)]
            for output in self._outputs
            for name in (colour_name, fraction_name)
            for n in self._lanes
        )
        m.submodules.waiting = waiting = fifo.SyncFIFOBuffered(width=len(new), depth=LATE)
        late_pop = self.enter & self.entry_late
        m.d.comb += [
            self.shaded.valid.eq(self.colours.valid & self.next_late & waiting.w_rdy),
            *(
                self.shaded.payload[name].eq(result[name])
                for name in self.shaded.payload.shape().members
            ),
            waiting.w_en.eq(self.shaded.valid & self.shaded.ready),
            waiting.w_data.eq(new),
            waiting.r_en.eq(late_pop),
            self.answers.ready.eq(late_pop),
            self.colours.ready.eq(Mux(self.next_late, waiting.w_en, self.enter & ~self.entry_late)),
            self.returned.eq(self.colours.valid & self.colours.ready),
            self.ready.eq(
                Mux(
                    self.entry_late,
                    waiting.r_rdy & self.answers.valid,
                    self.colours.valid & ~self.next_late,
                )
            ),
            self.o.eq(Mux(self.entry_late, waiting.r_data, new)),
            self.passed.eq(Mux(self.entry_late, self.answers.payload.mask, ~0)),
        ]
        return m
