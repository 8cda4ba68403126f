# SPDX-License-Identifier: BSD-2-Clause
"""A sample of R8G8B8A8_UNORM, blended with what is stored, or put in its place."""

from amaranth.hdl import Cat, Const, Module, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, minimum, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.blender import replaced
from fixfunc.rtl.output.merger.control import (
    ALPHA_GROUP,
    COLOUR_GROUP,
    NEW,
    OLD,
    SOURCE,
    TARGET,
    control_layout,
)
from fixfunc.rtl.output.merger.formats import ALPHA, FormatSet
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.payloads import COLOUR

BYTE = 8  # bits of a channel
HALF = 127  # of 255, by which sums are divided: of an odd number no quotient is a tie


class ByteBlender(wiring.Component):
    """Blend a sample, or replace it; one a clock, free-running.

    All of D3D11's blending but the blend constant, second colours and the write mask. It is short:
    a sample that is blended again and again waits for it each time.

    Members
    -------
    source, dest : In(COLOUR)
        What the shader gives, and what is stored.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        The decoded state, the first together with ``source``, each one clock after the one before.
    o : Out(COLOUR)
        :attr:`latency` clocks after ``source``.
    """

    latency = 4  # clocks: factors, products, their sum, its quotient

    def __init__(self) -> None:
        self._control = control_layout(FormatSet(BASE_FORMATS))
        super().__init__(
            {
                "source": In(COLOUR),
                "dest": In(COLOUR),
                "controls": In(ArrayLayout(self._control.size, self.latency)),
                "o": Out(COLOUR),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        colours = [ArrayLayout(BYTE, 4)(colour) for colour in (self.source, self.dest)]
        # min(source alpha, 1 - target alpha): one less a byte is all of its bits inverted.
        room = named(m, minimum(colours[NEW][ALPHA], ~colours[OLD][ALPHA]), "room")
        for channel in range(4):
            t = Timeline(m)
            t.enter(1, word=self._replace(m, channel, colours))
            sides = self._group(0, channel).sides
            products = []
            for n, side in enumerate(sides):
                pair = _factor(side, channel, colours, room), colours[n][channel]
                factor, colour = (
                    register(m, value, BYTE, f"{name}_{n}_{channel}")
                    for name, value in zip(("factor", "colour"), pair, strict=True)
                )
                product = colour * factor
                products.append(register(m, product, 2 * BYTE, f"product_{n}_{channel}"))
            total = register(m, self._sum(products, channel), signed(18), f"total_{channel}")
            blends = self._group(3, channel).blends & ~self._at(3).logic
            result = Mux(blends, _quotient(total), t[3].word)
            m.d.sync += self.o.word_select(channel, BYTE).eq(result)
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _group(self, clock, channel):
        """How a channel is blended."""
        return self._at(clock).groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _replace(self, m, channel, colours):
        """What a channel becomes unless products are summed."""
        new, old = (colour[channel] for colour in colours)
        word = replaced(self._at(0), self._group(0, channel), new < old, new, old)
        return register(m, word, BYTE, f"word_{channel}")

    def _sum(self, products, channel):
        """Of both products, of which at most one is subtracted, and half of what divides."""
        sides = self._group(2, channel).sides
        minus = Cat(sides[n].negative for n in (SOURCE, TARGET))
        # What is subtracted is inverted, and one more is added.
        terms = [
            Cat(product ^ flag.replicate(len(product)), flag).as_signed()
            for product, flag in zip(products, minus, strict=True)
        ]
        return terms[0] + terms[1] + Mux(minus.any(), HALF + 1, HALF)


def _factor(side, channel, colours, room):
    """What a side is multiplied by."""
    chosen = [
        gated(Mux(side.alpha, colour[ALPHA], colour[channel]), side.picked[n])
        for n, colour in zip((NEW, OLD), colours, strict=True)
    ]
    base = chosen[NEW] | chosen[OLD]
    if channel != ALPHA:
        base |= gated(room, side.saturates)
    return base ^ side.inverse.replicate(BYTE)


def _quotient(total):
    """By 255, to the integer below, cut to a byte: below 65,535 that is (M + M / 256 + 1) / 256."""
    dividend = total[: 2 * BYTE]
    high = dividend[BYTE:]
    above = total[2 * BYTE] | high.all()
    quotient = (dividend + high + 1)[BYTE : 2 * BYTE]
    return Mux(total[-1], 0, Mux(above, Const((1 << BYTE) - 1, BYTE), quotient))
