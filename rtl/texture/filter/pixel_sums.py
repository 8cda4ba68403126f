# SPDX-License-Identifier: BSD-2-Clause
"""A pixel of a quad: texels are selected, or compared, and summed over its samples."""

from itertools import product

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.rounding import normalised
from fixfunc.rtl.texture.filter.channel_sum import FRACTION, TEXEL, ChannelSum, Widths
from fixfunc.spec.textures.filter import CHANNELS, CORNERS, GATHERED, FilterOp, Unit

SIGNED = Unit.SNORM15, Unit.SNORM14
SIGN = 1 << 31
ONE = (1 << 16) - 1  # a texel that compares true, of UNORM16
TEXELS = ArrayLayout(ArrayLayout(16, len(CHANNELS)), CORNERS)
PIXEL = StructLayout(
    {
        "u": FRACTION,
        "v": FRACTION,
        "weight": FRACTION + 1,
        "reference": 32,
        "texels": TEXELS,
        "op": 2,
        "component": 2,
        "compares": 1,
        "function": 3,
        "floats": 1,
        "units": ArrayLayout(3, len(CHANNELS)),
        "valid": 1,
        "first": 1,
    }
)


def sum_layout(widths: Widths) -> StructLayout:
    """A channel's sum."""
    return StructLayout(
        {
            "negative": 1,
            "magnitude": widths.magnitude,  # its highest bit is set, unless it is zero
            "zeros": 6,  # that were above it
        }
    )


def texels_of(taps: View, pixel: int) -> View:
    """The texels of a pixel's grid, by corner and channel."""
    numbers = product(range(CORNERS), range(len(CHANNELS)))
    return TEXELS(Cat(taps[f"t{pixel}_{corner}_{n}"] for corner, n in numbers))


class PixelSums(wiring.Component):
    """Sums, or extremes, of the four channels of a pixel; free-running.

    Parameters
    ----------
    widths : Widths
    signed : bool
        Units may be signed.
    floats : bool
        float32 may be compared.

    Members
    -------
    i : In(PIXEL)
    o : Out(ArrayLayout(sum_layout(widths), 4))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 1 + ChannelSum.LATENCY + 3

    def __init__(self, widths: Widths, signed: bool, floats: bool) -> None:
        self._widths = widths
        self._signed = signed
        self._floats = floats
        super().__init__({"i": In(PIXEL), "o": Out(ArrayLayout(sum_layout(widths), len(CHANNELS)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        is_extreme = (self.i.op == FilterOp.MINIMUM) | (self.i.op == FilterOp.MAXIMUM)
        extreme = register(m, is_extreme, 1, "extreme")
        greatest = register(m, self.i.op == FilterOp.MAXIMUM, 1, "greatest")
        u = delay(m, self.i.u, 1, "u")
        v = delay(m, self.i.v, 1 + ChannelSum.V, "v")
        weight = delay(m, self.i.weight, 1 + ChannelSum.WEIGHT, "weight")
        valid = delay(m, self.i.valid, 1 + ChannelSum.VALID, "valid")
        first = delay(m, self.i.first, 1 + ChannelSum.VALID, "first")
        for n, texels in enumerate(self._selected(m)):
            m.submodules[f"channel_{n}"] = channel = ChannelSum(self._widths)
            m.d.comb += [
                channel.i.eq(texels),
                channel.u.eq(u),
                channel.v.eq(v),
                channel.weight.eq(weight),
                channel.valid.eq(valid),
                channel.first.eq(first),
                channel.extreme.eq(extreme),
                channel.greatest.eq(greatest),
            ]
            self._normalised(m, channel.o, self.o[n], n)
        return m

    def _selected(self, m):
        """Texels of each channel, a clock later: its own, a component of them, or 1.0 and 0.0."""
        texels = self.i.texels
        passes = self._passes(m)
        gathers = named(m, self.i.op == FilterOp.GATHER, "gathers")
        component = self.i.component
        gathered = [
            named(m, choose(component, [texels[corner][n] for n in range(4)]), f"of_{corner}")
            for corner in range(CORNERS)
        ]
        unit_gathered = named(m, choose(component, [self.i.units[n] for n in range(4)]), "unit")
        out = []
        for n, source in enumerate(GATHERED):
            selected = Signal(ArrayLayout(TEXEL, CORNERS), name=f"selected_{n}")
            unit = Mux(gathers, unit_gathered, self.i.units[n])
            is_signed = named(m, self._signed & (unit >= min(SIGNED)), f"is_signed_{n}")
            for corner in range(CORNERS):
                own = Mux(gathers, gathered[source], texels[corner][n])
                true = Mux(gathers, passes[source], passes[corner])
                value = Cat(own, own[15] & is_signed)
                compared = Mux(true, ONE, 0)
                m.d.sync += selected[corner].eq(Mux(self.i.compares, compared, value))
            out.append(selected)
        return out

    def _passes(self, m):
        """Whether the reference compares true with red of each texel."""
        function = self.i.function
        reference, is_nan = self._ordered(self.i.reference)
        reference = named(m, reference, "reference")
        passes = []
        for corner in range(CORNERS):
            ordered, red_is_nan = self._ordered(Cat(*self.i.texels[corner][:2]))
            red = named(m, ordered, f"red_{corner}")
            less = reference < red
            equal = reference == red
            # As the enumeration has them: bits for less, equal, greater. NaN is not equal.
            passing = Cat(less, equal, ~less & ~equal) & function
            unequal = function[0] & function[2]
            passing = Mux(is_nan | red_is_nan, unequal, passing.any())
            passes.append(named(m, passing, f"passes_{corner}"))
        return passes

    def _ordered(self, word):
        """A word that rises, without a sign, with what is compared; and whether that is NaN.

        Of float32 zeros and denormals are one word, and those below zero are complements.
        """
        is_signed = self._signed & (self.i.units[0] >= min(SIGNED))
        whole = word ^ (is_signed << 31)
        if not self._floats:
            return whole, Const(0, 1)
        number = Mux(FLOAT32.sign_of(word), ~word, word ^ SIGN)
        number = Mux(FLOAT32.is_zero(word), SIGN, number)
        return Mux(self.i.floats, number, whole), self.i.floats & FLOAT32.is_nan(word)

    def _normalised(self, m, total, out, n):
        """Its sign, and its magnitude with the highest bit on top; three clocks later."""
        negative = named(m, self._signed & (total < 0), f"is_negative_{n}")
        width = self._widths.magnitude
        whole = register(m, magnitude(total, negative), width, f"magnitude_{n}")
        upper, eights = normalised(m, whole, f"upper_{n}", range(3, 6))
        coarse = register(m, upper, width, f"coarse_{n}")
        late = register(m, eights, 3, f"eights_{n}")
        shifted, ones = normalised(m, coarse, f"sum_{n}", range(3))
        m.d.sync += [
            out.negative.eq(delay(m, negative, 2, f"negative_{n}")),
            out.magnitude.eq(shifted),
            out.zeros.eq(Cat(ones, late)),
        ]


def magnitude(total: Value, negative: Value) -> Value:
    """A number without its sign: both halves are negated at once, of the upper one the carry is
    known from the lower one's bits.
    """
    half = len(total) // 2
    low, high = total[:half], total[half:]
    carried = Mux(low.any(), ~high, -high)[: len(high)]
    return Mux(negative, Cat((-low)[:half], carried), total)
