# SPDX-License-Identifier: BSD-2-Clause
"""float32 as integers: a shader's channels, and constant factors."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named, pick
from fixfunc.rtl.output.merger.control import CONSTANT, FRACTION
from fixfunc.rtl.output.merger.formats import FormatSet
from fixfunc.spec.colours import THRESHOLD

MANTISSA = 24  # bits, with the one that is not stored
BIAS = 127
ONE = BIAS << MANTISSA - 1  # bits of 1.0
INFINITY = 255 << MANTISSA - 1
HALF = 1 << THRESHOLD - 1  # what is added before a value is cut
DITHER = 10  # bits below a mantissa's lowest, of the least value that dithering can raise


def magnitude(m: Module, value: Signal, room: int, name: str) -> Signal:
    """A float's magnitude at most 1.0, in units of 2^-(24 + room); NaN and what is less are 0."""
    exponent = value[MANTISSA - 1 : 31]
    mantissa = Cat(value[: MANTISSA - 1], Const(1, 1))
    distance = named(m, BIAS - 1 - exponent, f"{name}_distance")
    shifted = Cat(Const(0, room), mantissa) >> distance[: room.bit_length()]
    least = BIAS - 1 - room
    fixed = Mux(
        value[:31] > INFINITY,
        0,
        Mux(
            value[:31] >= ONE,
            1 << MANTISSA + room,
            Mux(exponent >= least, shifted, 0),
        ),
    )
    return named(m, fixed[: MANTISSA + room + 1], f"{name}_fixed")


def nearest_integer(
    m: Module, value: Value, is_signed: Value, which: Value, cuts: Sequence[int], name: str
) -> Value:
    """An integer of 32 bits in a format's range: of so many bits as a flag of ``which`` says."""
    sign = named(m, is_signed & value[31], f"{name}_sign")
    magnitude = named(m, value ^ sign.replicate(32), f"{name}_magnitude")
    over = pick(which, [magnitude[n:].any() for n in cuts])
    most = pick(which, [(1 << n) - 1 for n in cuts])
    return Mux(over, most, magnitude) ^ sign.replicate(32)


class Quantiser(wiring.Component):
    """A shader's channel in a format's range: the nearest, ties away from zero; free-running.

    Parameters
    ----------
    formats : FormatSet
    dithers : bool
        ``rounding`` may be another than :data:`HALF`.

    Members
    -------
    i : In(32)
        float32.
    widths : In(len(formats.widths))
        Which of ``formats.widths`` the channel has, one clock after ``i``.
    is_signed : In(1)
        The range is -1..1, else 0..1; two clocks after ``i``.
    rounding : In(5)
        What is added before the value is cut, in thirty-seconds; two clocks after ``i``.
    o : Out(formats.value_shape)
        :attr:`LATENCY` clocks after ``i``.
    """

    LATENCY = 3

    def __init__(self, formats: FormatSet, dithers: bool) -> None:
        self._formats = formats
        # A value below half a step of the widest channel is 0, and so is what dithering cannot
        # raise.
        self._room = max(formats.value, DITHER) if dithers else formats.value
        super().__init__(
            {
                "i": In(32),
                "widths": In(len(formats.widths)),
                "is_signed": In(1),
                "rounding": In(THRESHOLD),
                "o": Out(formats.value_shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fraction = MANTISSA + self._room
        fixed = Signal(fraction + 1)
        fixed_2 = Signal(fraction + 1)
        above = Signal(fraction + 1 + self._formats.value)
        scaled = Signal(fraction + self._formats.value)
        negative = Signal()
        negative_2 = Signal()
        whole = Signal(self._formats.value)
        m.d.sync += [
            fixed.eq(magnitude(m, self.i, self._room, "value")),
            negative.eq(self.i[31]),
            above.eq(pick(self.widths, [fixed << n for n in self._formats.widths])),
            fixed_2.eq(fixed),
            negative_2.eq(negative),
        ]
        # Times 2^n - 1.
        m.d.comb += [
            scaled.eq(above - fixed_2 + (self.rounding << fraction - THRESHOLD)),
            whole.eq(scaled >> fraction),
        ]
        if self._formats.has_sign:
            below = Mux(self.is_signed, -whole, 0)
        else:
            below = Const(0)
        m.d.sync += self.o.eq(Mux(negative_2, below, whole))
        return m


class ConstantFactor(wiring.Component):
    """A constant factor in units of 2^-24: the nearest, ties to even; free-running.

    Members
    -------
    i : In(32)
        float32.
    is_signed : In(1)
        The range is -1..1, else 0..1; one clock after ``i``.
    o : Out(CONSTANT)
        :attr:`LATENCY` clocks after ``i``.
    """

    LATENCY = 2
    ROOM = MANTISSA + 1  # bits: what is less is less than half a unit

    def __init__(self) -> None:
        super().__init__({"i": In(32), "is_signed": In(1), "o": Out(CONSTANT)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fixed = Signal(MANTISSA + self.ROOM + 1)
        negative = Signal()
        whole = fixed[self.ROOM :]
        half = fixed[self.ROOM - 1]
        sticky = fixed[: self.ROOM - 1].any()
        nearest = Signal(FRACTION + 1)
        m.d.comb += nearest.eq(whole + (half & (sticky | whole[0])))
        m.d.sync += [
            fixed.eq(magnitude(m, self.i, self.ROOM, "constant")),
            negative.eq(self.i[31]),
            self.o.eq(Mux(negative, Mux(self.is_signed, -nearest, 0), nearest)),
        ]
        return m
