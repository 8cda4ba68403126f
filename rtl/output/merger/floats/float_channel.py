# SPDX-License-Identifier: BSD-2-Clause
"""A channel of floats, blended by float32."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.compare import less
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply_add import MultiplyAdd
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import GROUP, NEW, OLD, SOURCE, TARGET

SIGN = FLOAT32.magnitude  # bit of a float32
MINUS_ZERO = 1 << SIGN


class FloatChannel(wiring.Component):
    """Source times its factor, added to target times its own by a multiply-add; free-running.

    Members
    -------
    colours, alphas : In(ArrayLayout(32, 3))
        The channel, and alpha: the shader's, the target's, the shader's second; float32.
    constant : In(32)
        The channel's blend constant.
    group : In(GROUP)
        Factors and operation.
    write : In(1)
        The channel is written; else it stays.
    o : Out(32)
        :attr:`LATENCY` clocks later.
    """

    FACTORS = MultiplyAdd.STEPS + 2  # colours chosen, one less them, the less of alpha and that
    SUMMED = FACTORS + 2 * MultiplyAdd.STEPS
    LATENCY = SUMMED + 1

    def __init__(self) -> None:
        super().__init__(
            {
                "colours": In(ArrayLayout(32, 3)),
                "alphas": In(ArrayLayout(32, 3)),
                "constant": In(32),
                "group": In(GROUP),
                "write": In(1),
                "o": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        new, old = self.colours[NEW], self.colours[OLD]
        t.enter(0, new=new, old=old, new_alpha=self.alphas[NEW])
        t.enter(0, takes=self.write & self.group.blends, group=self.group.as_value())
        factors = [self._factor(m, t, n) for n in (SOURCE, TARGET)]
        sides = [self._side(t, self.FACTORS, n) for n in (SOURCE, TARGET)]
        m.submodules.product = product = MultiplyAdd()
        m.d.comb += [
            product.a.eq(t[self.FACTORS].old),
            product.b.eq(factors[TARGET]),
            product.c.eq(MINUS_ZERO),
        ]
        clock = self.FACTORS + product.latency
        t.enter(self.FACTORS, factor=factors[SOURCE])
        t.enter(self.FACTORS, **{f"negative_{n}": sides[n].negative for n in (SOURCE, TARGET)})
        m.submodules.total = total = MultiplyAdd()
        after = t[clock]
        m.d.comb += [
            total.a.eq(_negated(after.new, after.negative_0)),
            total.b.eq(after.factor),
            total.c.eq(_negated(product.o, after.negative_1)),
        ]
        t.enter(1, kept=self._replaced(m, new, old))
        end = t[self.SUMMED]
        m.d.sync += self.o.eq(Mux(end.takes, total.o, end.kept))
        return m

    def _side(self, t, clock, n):
        return GROUP(t[clock].group).sides[n]

    def _factor(self, m, t, n):
        """The factor of a side, in the clock FACTORS."""
        side = self.group.sides[n]
        picked = [
            Mux(side.alpha, alpha, colour)
            for alpha, colour in zip(self.alphas, self.colours, strict=True)
        ]
        base = register(m, Mux(side.constant, self.constant, pick(side.picked, picked)), 32, "base")
        # One less the target's alpha, if it saturates.
        taken = register(
            m,
            Mux(
                side.saturates,
                self.alphas[OLD],
                Mux(side.constant, self.constant, pick(side.picked, picked)),
            ),
            32,
            "subtrahend",
        )
        m.submodules[f"complement_{n}"] = complement = MultiplyAdd()
        m.d.comb += [
            complement.a.eq(_negated(taken, Const(1))),
            complement.b.eq(FLOAT32.one),
            complement.c.eq(FLOAT32.one),
        ]
        clock = 1 + complement.latency
        t.enter(1, **{f"base_{n}": base})
        side = self._side(t, clock, n)
        alpha = t[clock].new_alpha
        takes_alpha = less(FLOAT32, alpha, complement.o) | FLOAT32.is_nan(alpha)
        saturated = Mux(takes_alpha, alpha, complement.o)
        return register(
            m,
            Mux(
                side.saturates,
                saturated,
                Mux(side.inverse, complement.o, t.value(f"base_{n}", clock)),
            ),
            32,
            f"factor_{n}",
        )

    def _replaced(self, m, new, old):
        """What the channel becomes unless products are summed; of NaN and a number the number."""
        group = self.group
        is_new_less, is_old_less = less(FLOAT32, new, old), less(FLOAT32, old, new)
        takes_new = Mux(group.least, is_new_less, is_old_less) | FLOAT32.is_nan(old)
        chosen = FLOAT32.flushed(Mux(takes_new, new, old))
        out = Signal(32, name="replaced")
        m.d.sync += out.eq(Mux(self.write, Mux(group.least | group.greatest, chosen, new), old))
        return out


def _negated(value, negative):
    return Cat(value[:SIGN], value[SIGN] ^ negative)
