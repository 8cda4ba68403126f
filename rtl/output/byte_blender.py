# SPDX-License-Identifier: BSD-2-Clause
"""A sample of R8G8B8A8_UNORM, blended with what is stored, or put in its place."""

from amaranth.hdl import Cat, Const, Module, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, minimum, named, negated
from fixfunc.rtl.lib.delay import delay, register
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

BYTE = 8  # bits of a channel, and of its fraction
UNIT = 255  # what 1.0 is: sums are divided by it, and of an odd number no quotient is a tie


class ByteBlender(wiring.Component):
    """Blend a sample, or replace it; one a clock, free-running.

    All of D3D11's blending but second colours and the write mask. A shader's channels, and the
    blend constant's, have 256 steps in a unit of the target's. The lane is short: a sample that is
    blended again and again waits for it each time.

    Members
    -------
    source, fraction : In(COLOUR)
        What the shader gives, and what that was rounded by: bytes, the latter signed.
    dest : In(COLOUR)
        What is stored, :attr:`ahead` clocks after ``source``.
    constants : In(ArrayLayout(2 * BYTE, 4))
        The blend constant, in steps: it holds as long as samples are in flight.
    controls : In(ArrayLayout(control_layout(formats).size, self.ahead + self.latency))
        The decoded state, the first together with ``source``, each one clock after the one before.
    o : Out(COLOUR)
        :attr:`latency` clocks after ``dest``.
    """

    ahead = 1  # clock: steps of the source
    latency = 4  # clocks: factors, products, their sum, its quotient

    def __init__(self) -> None:
        self._control = control_layout(FormatSet(BASE_FORMATS))
        super().__init__(
            {
                "source": In(COLOUR),
                "fraction": In(COLOUR),
                "dest": In(COLOUR),
                "constants": In(ArrayLayout(2 * BYTE, 4)),
                "controls": In(ArrayLayout(self._control.size, self.ahead + self.latency)),
                "o": Out(COLOUR),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        source = ArrayLayout(BYTE, 4)(delay(m, self.source, self.ahead, "source"))
        bytes_of = [source, ArrayLayout(BYTE, 4)(self.dest)]
        steps, complements = self._steps(m)
        # min(source alpha, 1 - target alpha): one less a byte is all of its bits inverted.
        room = Cat(Const(0, BYTE), ~bytes_of[OLD][ALPHA])
        room = named(m, minimum(steps[ALPHA], room), "room")
        for channel in range(4):
            t = Timeline(m)
            t.enter(1, word=self._replace(m, channel, bytes_of))
            products = []
            for n, side in enumerate(self._group(0, channel).sides):
                base = _factor(side, channel, (steps, complements), bytes_of[OLD], room)
                base = base | self._constant(side, channel)
                factor = register(m, base, 2 * BYTE, f"factor_{n}_{channel}")
                colour = (steps, bytes_of[OLD])[n][channel]
                colour = register(m, colour, len(colour), f"colour_{n}_{channel}")
                product = register(
                    m, colour * factor, len(colour) + 2 * BYTE, f"product_{n}_{channel}"
                )
                products.append(product if n == SOURCE else Cat(Const(0, BYTE), product))
            total = register(m, self._sum(m, products, channel), signed(18), f"total_{channel}")
            blends = self._group(3, channel).blends & ~self._at(3).logic
            result = Mux(blends, _quotient(total), t[3].word)
            m.d.sync += self.o.word_select(channel, BYTE).eq(result)
        return m

    def _constant(self, side, channel):
        """The blend constant, where it is the factor."""
        constant = self.constants[channel]
        inverse = (UNIT << BYTE) - constant
        return gated(Mux(side.inverse, inverse, constant)[: 2 * BYTE], side.constant)

    def _at(self, clock):
        """The state so many clocks after that of ``dest``."""
        return self._control(self.controls[self.ahead + clock])

    def _group(self, clock, channel):
        """How a channel is blended."""
        return self._at(clock).groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _steps(self, m):
        """Channels of the source in steps, and what is left of 1.0."""
        steps, complements = [], []
        for channel in range(4):
            byte, fraction = (
                value.word_select(channel, BYTE) for value in (self.source, self.fraction)
            )
            # Nothing lies beyond the range.
            beyond = Mux(fraction[-1], ~byte.any(), byte.all())
            low = named(m, gated(fraction, ~beyond), f"low_{channel}")
            high = named(m, byte - low[-1], f"high_{channel}")[:BYTE]
            steps.append(register(m, Cat(low, high), 2 * BYTE, f"steps_{channel}"))
            left = Cat(negated(low, Const(1, 1)), ~high - low.any())
            complements.append(register(m, left[: 2 * BYTE], 2 * BYTE, f"complement_{channel}"))
        return steps, complements

    def _replace(self, m, channel, colours):
        """What a channel becomes unless products are summed.

        The nearest to a source is its byte, so its fraction decides nothing.
        """
        new, old = (colour[channel] for colour in colours)
        word = replaced(self._at(0), self._group(0, channel), new < old, new, old)
        return register(m, word, BYTE, f"word_{channel}")

    def _sum(self, m, products, channel):
        """Of both products, of which at most one is subtracted, and half of what divides: in units
        of 1 / 255.
        """
        sides = self._group(2, channel).sides
        minus = Cat(sides[n].negative for n in (SOURCE, TARGET))
        # What is subtracted is inverted, and one more is added.
        terms = [
            Cat(product ^ flag.replicate(len(product)), flag).as_signed()
            for product, flag in zip(products, minus, strict=True)
        ]
        half = UNIT << 2 * BYTE - 1
        total = terms[0] + terms[1] + Mux(minus.any(), half + 1, half)
        return named(m, total, f"sum_{channel}") >> 2 * BYTE


def _factor(side, channel, source, dest, room):
    """What a side is multiplied by, in steps."""
    of_new = Mux(side.inverse, *(Mux(side.alpha, c[ALPHA], c[channel]) for c in reversed(source)))
    of_old = gated(Mux(side.alpha, dest[ALPHA], dest[channel]), side.picked[OLD])
    # One less a byte is all of its bits inverted; one less nothing is one.
    of_old = of_old ^ side.inverse.replicate(BYTE)
    of_source = side.picked[NEW] | side.saturates | side.constant
    factor = gated(of_new, side.picked[NEW]) | Cat(Const(0, BYTE), gated(of_old, ~of_source))
    return factor | gated(room, side.saturates) if channel != ALPHA else factor


def _quotient(total):
    """By 255, to the integer below, cut to a byte: below 65,535 that is (M + M / 256 + 1) / 256."""
    dividend = total[: 2 * BYTE]
    high = dividend[BYTE:]
    above = total[2 * BYTE] | high.all()
    quotient = (dividend + high + 1)[BYTE : 2 * BYTE]
    return Mux(total[-1], 0, Mux(above, Const((1 << BYTE) - 1, BYTE), quotient))
