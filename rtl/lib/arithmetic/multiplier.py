# SPDX-License-Identifier: BSD-2-Clause
"""Products, one a clock."""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError


class Multiplier(wiring.Component):
    """Signed product, one a clock, from 18-bit multipliers.

    Parameters
    ----------
    a_bits, b_bits : int
        Widths of the factors.
    out_bits : int, optional
        Width of the product; a smaller one takes it modulo 2^out_bits.

    Members
    -------
    a, b : In
        Signed factors.
    o : Out
        Signed product, :attr:`latency` clocks later.
    """

    LIMB = 17  # bits of an unsigned limb: an 18-bit signed multiplier takes it with a zero on top

    def __init__(self, a_bits: int, b_bits: int, out_bits: int | None = None) -> None:
        self._a = a_bits
        self._b = b_bits
        self._out = a_bits + b_bits if out_bits is None else out_bits
        if not 1 <= self._out <= a_bits + b_bits:
            raise InputError("out_bits", f"be 1 to {a_bits + b_bits}", out_bits)
        super().__init__(
            {"a": In(signed(a_bits)), "b": In(signed(b_bits)), "o": Out(signed(self._out))}
        )

    @classmethod
    def _limbs(cls, value, bits):
        """(shift, limb) of a value: unsigned limbs, the highest one signed."""
        whole = max(0, -(-(bits - 18) // cls.LIMB))
        limbs = [(n * cls.LIMB, value[n * cls.LIMB : (n + 1) * cls.LIMB]) for n in range(whole)]
        return [*limbs, (whole * cls.LIMB, value[whole * cls.LIMB :].as_signed())]

    def _pairs(self, a, b):
        """Limbs of two factors that make partial products, and by how much these are shifted."""
        pairs = [(i, j) for i in self._limbs(a, self._a) for j in self._limbs(b, self._b)]
        return [(i[0] + j[0], i[1], j[1]) for i, j in pairs if i[0] + j[0] < self._out]

    @property
    def latency(self) -> int:
        """Clocks from the factors to the product: one to travel to the multipliers, one for partial
        products, one a level of their sum.
        """
        return 2 + (len(self._pairs(self.a, self.b)) - 1).bit_length()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        factor_a = Signal.like(self.a)
        factor_b = Signal.like(self.b)
        m.d.sync += [
            factor_a.eq(self.a),
            factor_b.eq(self.b),
        ]
        terms = []
        for n, (shift, a, b) in enumerate(self._pairs(factor_a, factor_b)):
            part = Signal(signed(len(a) + len(b) + 1), name=f"part_{n}")
            m.d.sync += part.eq(a * b)
            terms.append(part << shift)
        level = 0
        while len(terms) > 1:
            sums = [
                Signal(signed(self._out), name=f"sum_{level}_{n}")
                for n in range((len(terms) + 1) // 2)
            ]
            for n, total in enumerate(sums):
                m.d.sync += total.eq(sum(terms[2 * n + 1 : 2 * n + 2], terms[2 * n]))
            terms = sums
            level = level + 1
        m.d.comb += self.o.eq(terms[0])
        return m
