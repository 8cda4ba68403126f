# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a tile's samples, as they are stored."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.bias import UNIT, bias_bits
from fixfunc.rtl.lib.bits import gated, leading_zeros
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.raster.addends import Addends
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat

FRACTION = 12  # bits below the unit that a sample's depth is known to
DEPTH = 24 + FRACTION  # bits of one that can be stored
PLANE = 32 + FRACTION  # and of a plane's
MOST = {
    DepthFormat.D16: (1 << 16) - 1,
    DepthFormat.D24: (1 << 24) - 1,
    DepthFormat.D32F: 0x3F800000,
}  # 1.0
BITS = {DepthFormat.D16: 16, DepthFormat.D24: 24, DepthFormat.D32F: 30}  # of a stored depth


def heads(depth: Value, form: Value, formats: tuple = tuple(DepthFormat)) -> Value:
    """The highest bits of a stored depth, as HiZ keeps them."""
    return Array(depth >> BITS[f] - payloads.HIZ_BITS if f in formats else 0 for f in DepthFormat)[
        form
    ]


def sum_bits(formats: tuple) -> int:
    """Bits of a sample's depth with its bias: signed, in 2^-12 of a unit."""
    return bias_bits(formats) + FRACTION - UNIT + 2


def with_carry(a: Value, b: Value, carry: Value) -> Value:
    """A sum of three in one adder: the carry comes from a bit below those of ``a`` and ``b``."""
    return (Cat(Const(1, 1), a).as_signed() + Cat(carry, b).as_signed())[1:]


class Stored(wiring.Component):
    """A depth as a format stores it, cut to a range.

    Parameters
    ----------
    formats : tuple of DepthFormat
        Those that this unit knows.
    replaceable : bool
        A shader may replace the depth.

    Members
    -------
    form, least, most : In
        The form holds while depths are in flight; a range of the widest of the formats, a clock
        before the output.
    i : In(signed(sum_bits(formats)))
        In 2^-12 of a unit.
    exponent : In(8)
        Of D32F: a unit is 2^(exponent - 150). :attr:`EXPONENT` clocks behind ``i``.
    replace, replacement : In(1), In(32)
        A shader's depth in its place, as it is stored but for the range; a clock before the output.
        Only if ``replaceable``.
    o : Out(32)
        :meth:`latency` clocks later.
    exact : Out(1)
        Of D24: the depth is neither cut nor replaced.
    """

    EXPONENT = 4

    def __init__(self, formats: tuple, replaceable: bool) -> None:
        self._formats = formats
        self._floats = DepthFormat.D32F in formats
        self._replaceable = replaceable
        replacement = {"replace": In(1), "replacement": In(32)} if replaceable else {}
        super().__init__(
            replacement
            | {
                "form": In(2),
                "least": In(32),
                "most": In(32),
                "i": In(signed(sum_bits(formats))),
                "exponent": In(8),
                "o": Out(32),
                "exact": Out(1),
            }
        )

    @staticmethod
    def latency(formats: tuple) -> int:
        """Clocks: cut to what is stored, scaled, normalised in three, rounded, cut to the range."""
        return 4 + 3 * (DepthFormat.D32F in formats)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # The format holds for the whole draw: it comes from registers that drive all lanes.
        is_16 = Signal()
        is_float = Signal()
        m.d.sync += [
            is_16.eq(self.form == DepthFormat.D16),
            is_float.eq(self.form == DepthFormat.D32F),
        ]
        # UNORM ends at 2^24 - 1 units; a float is cut to the range alone.
        depth = Signal(len(self.i) - 1 if self._floats else DEPTH)
        uncut = Signal()  # it would be rounded to what it is cut to
        below = self.i[-1]
        beyond = self.i[DEPTH:-1].any()
        above = beyond | self.i[FRACTION:DEPTH].all()
        m.d.sync += [
            depth.eq(
                Mux(
                    below,
                    0,
                    Mux(above & ~is_float, MOST[DepthFormat.D24] << FRACTION, self.i),
                )
            ),
            uncut.eq(
                Mux(
                    below,
                    self.i[FRACTION - 1 :].all(),
                    ~above | ~(beyond | self.i[FRACTION - 1]),
                )
            ),
        ]

        # 2^-16 less makes 2^16 - 1 of 2^16. One bit more at the low end takes what a complement
        # lacks to a negation.
        scaled = Signal.like(depth)
        unorm = depth[:DEPTH]
        if DepthFormat.D16 in self._formats:
            term = gated(Cat(~unorm[16:], Const(-1, 16)), is_16)
            unorm = (Cat(is_16, unorm) + Cat(is_16, term))[1 : DEPTH + 1]
        m.d.sync += scaled.eq(Cat(unorm, depth[DEPTH:]))

        t = Timeline(m)
        t.enter(1, uncut=uncut)
        value, exponent = self._normalise(m, t, scaled, is_float)
        rounded = self._round(m, value, exponent)

        # Both candidates are cut, and then one is chosen: the choice drives all lanes, and would
        # have come before the comparisons.
        cut = Signal(32)
        from_plane, in_range = self._cut(rounded)
        whole = t[self.latency(self._formats) - 1].uncut
        if self._replaceable:
            from_shader, _ = self._cut(self.replacement[: len(rounded)])
            m.d.sync += [
                cut.eq(Mux(self.replace, from_shader, from_plane)),
                self.exact.eq(whole & ~self.replace & in_range),
            ]
        else:
            m.d.sync += [
                cut.eq(from_plane),
                self.exact.eq(whole & in_range),
            ]
        m.d.comb += self.o.eq(cut)
        return m

    def _round(self, m, value, exponent):
        """Bits below the last place round: half up, of a float half to even.

        A float below the least normal one is zero.
        """
        kinds = {
            DepthFormat.D16: (value[FRACTION + 8 : DEPTH], value[FRACTION + 7]),
            DepthFormat.D24: (value[FRACTION:DEPTH], value[FRACTION - 1]),
        }
        bits = max(BITS[form] for form in self._formats)
        if self._floats:
            bits = 32
            last = len(value) - 24
            normal = value[-1] & (exponent > 0)
            even = value[last - 1] & (value[: last - 1].any() | value[last])
            kinds[DepthFormat.D32F] = (
                Mux(normal, Cat(value[last:-1], exponent[:9]), 0),
                normal & even,
            )
        rounded = Signal(bits)
        with m.Switch(self.form):
            for form in self._formats:
                with m.Case(form):
                    m.d.sync += rounded.eq(kinds[form][0] + kinds[form][1])
        return rounded

    def _cut(self, depth):
        """A depth cut to the range of the viewport, and whether it lies there."""
        least = self.least[: len(depth)]
        most = self.most[: len(depth)]
        below = depth < least
        above = depth > most
        return Mux(below, least, Mux(above, most, depth)), ~below & ~above

    def _normalise(self, m, t, scaled, is_float):
        """A float has its highest bit in front; other formats are not shifted. Three clocks.

        Returns the value, and the exponent of a float, in clock 5.
        """
        if not self._floats:
            return scaled, None
        zeros = Signal(6)
        t.enter(3, zeros=zeros)
        value = Signal.like(scaled)
        coarse = Signal.like(scaled)
        fine = Signal.like(scaled)
        exponent = Signal(signed(10))
        # The exponent is a unit's if the highest bit has that of a mantissa of 24 bits.
        place = len(scaled) - 24 - FRACTION
        m.d.sync += [
            zeros.eq(gated(leading_zeros(scaled), is_float)),
            value.eq(scaled),
            coarse.eq(value << (zeros & 0b111000)),
            fine.eq(coarse << t[4].zeros[:3]),
            exponent.eq(self.exponent + place - t[4].zeros),
        ]
        return fine, exponent


class SampleDepths(wiring.Component):
    """Depths of all samples of a tile from its plane, by the edge evaluator's addends; one tile a
    clock.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    samples, form, least, most : In
        Of the draw state. Samples and form hold while tiles of the target are in flight; the range
        is that of the tile a clock before the output.
    z0, dx, dy, exponent : In
        As in :func:`fixfunc.spec.payloads.tile`.
    bias : In(signed(bias_bits(params.formats)))
        Of the tile, ``Addends.latency + 1`` clocks after its plane.
    replace, replacements : In(1), In(ArrayLayout(32, edge**2))
        A shader's depths in place of the plane's, a clock before the output. Only with
        ``params.shader_depths``.
    exact : Out(edge**2)
        That of every lane's :class:`Stored`.
    o : Out
        Lane (i, j) at ``j * edge + i``, :meth:`latency` clocks after the plane.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        replacements = {"replace": In(1), "replacements": In(ArrayLayout(32, params.edge**2))}
        super().__init__(
            (replacements if params.shader_depths else {})
            | {
                "samples": In(2),
                "form": In(2),
                "least": In(32),
                "most": In(32),
                "z0": In(signed(40)),
                "dx": In(signed(44)),
                "dy": In(signed(44)),
                "exponent": In(8),
                "bias": In(signed(bias_bits(params.formats))),
                "o": Out(ArrayLayout(32, params.edge**2)),
                "exact": Out(params.edge**2),
            }
        )

    @staticmethod
    def latency(params: Any) -> int:
        """Clocks: addends, rows and columns, their sum and the bias in halves, format."""
        return Addends.latency(params) + 4 + Stored.latency(params.formats)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.addends = addends = Addends(p)
        m.d.comb += [
            addends.samples.eq(self.samples),
            addends.a.eq(self.dx),
            addends.b.eq(self.dy),
            addends.c.eq(self.z0 << FRACTION - 8),
        ]
        # What lanes of a row, and of two columns, have in common is added once.
        rows = {
            (i, j): register(m, sum(addends.row_addends(i, j)), PLANE, f"row_{i}_{j}")
            for i in range(2)
            for j in range(p.edge)
        }
        columns = [
            register(m, addends.column_addends(2 * i)[0], PLANE, f"column_{i}")
            for i in range(1, p.edge // 2)
        ]

        # Whole, the sums of every lane, and the offset, would be the longest paths of the block.
        half = sum_bits(p.formats) // 2
        high = PLANE - half
        # The plane is known modulo 2^32 units, a signed number of them; only then does the bias
        # count.
        bias = self.bias << FRACTION - UNIT
        bias_low = register(m, bias[:half], half, "bias_low")
        bias_ahead = register(m, bias[half:], signed(len(bias) - half), "bias_ahead")
        bias_high = register(m, bias_ahead, signed(sum_bits(p.formats) - 1 - half), "bias_high")
        t = Timeline(m)
        t.enter(0, exponent=self.exponent)
        stored = self.latency(p) - Stored.latency(p.formats)
        exponent = t[stored + Stored.EXPONENT].exponent
        row_highs = {
            (i, j): register(m, row[half:], high, f"row_high_{i}_{j}")
            for (i, j), row in rows.items()
        }
        column_highs = [
            register(m, column[half:], high, f"column_high_{i}")
            for i, column in enumerate(columns, 1)
        ]
        for n in range(p.edge**2):
            j, i = divmod(n, p.edge)
            m.submodules[f"lane_{i}_{j}"] = lane = Stored(p.formats, p.shader_depths)
            # Low half of the plane; its high half, and the low one of the sum; the high one.
            plane_low = Signal(half + 1, name=f"plane_low_{n}")
            plane_high = Signal(high, name=f"plane_high_{n}")
            biased_low = Signal(half + 1, name=f"biased_low_{n}")
            biased = Signal(signed(sum_bits(p.formats)), name=f"biased_{n}")
            row = rows[i & 1, j][:half]
            row_high = row_highs[i & 1, j]
            column = columns[(i >> 1) - 1][:half] if i > 1 else 0
            column_high = column_highs[(i >> 1) - 1] if i > 1 else Const(0, high)
            sum_high = with_carry(plane_high, bias_high, biased_low[half])
            m.d.sync += [
                plane_low.eq(row + column),
                plane_high.eq(with_carry(row_high, column_high, plane_low[half])),
                biased_low.eq(plane_low[:half] + bias_low),
                biased.eq(Cat(biased_low[:half], sum_high)),
            ]
            if p.shader_depths:
                m.d.comb += [
                    lane.replace.eq(self.replace),
                    lane.replacement.eq(self.replacements[n]),
                ]
            m.d.comb += [
                lane.i.eq(biased),
                lane.exponent.eq(exponent),
                self.o[n].eq(lane.o),
                lane.form.eq(self.form),
                lane.least.eq(self.least),
                lane.most.eq(self.most),
                self.exact[n].eq(lane.exact),
            ]
        return m
