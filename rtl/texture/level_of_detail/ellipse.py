# SPDX-License-Identifier: BSD-2-Clause
"""The major axis of the ellipse that two gradients span [fs 7.18.11]."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.digit_recurrence import Divide, SquareRoot
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply import Multiply
from fixfunc.rtl.texture.level_of_detail.gradients import VECTOR, late

PAIR = StructLayout({"x": VECTOR, "y": VECTOR})  # gradients to the right, and downwards
SIGN = 1 << FLOAT32.magnitude


class Ellipse(wiring.Component):
    """The major axis of an ellipse, a clock each; free-running.

    With A = xv^2 + yv^2, C = xu^2 + yu^2, B = -2 (xu xv + yu yv), p = A - C, t = sqrt(p^2 + B^2),
    L = t + |p| its square is S = (A + C + t) / 2, its longer side sqrt(L S / 2t), along v if p is
    not below 0, and its shorter one sqrt(B^2 / L S / 2t), below 0 if B is above. All are rounded
    one by one.

    Members
    -------
    texels : In(PAIR)
        Gradients x and y in texels.
    squares : In(PAIR)
        Their squares, finite ones, :attr:`SQUARES` clocks later.
    determinant : Out(31)
        |xu yv - yu xv|, :attr:`LATENCY` clocks later, as all of these.
    square : Out(31)
        Squared length of the axis.
    axis : Out(VECTOR)
    valid : Out(1)
        There is such an axis: gradients are not zero, parallel, perpendicular, infinite or no
        numbers, nor too large or small.
    """

    SQUARES = Multiply.STEPS
    _SUMS = SQUARES + Add.STEPS  # A, B, C, D
    _DIFFERENCE = _SUMS + Add.STEPS  # p, A + C
    _RADICAND = _DIFFERENCE + Multiply.STEPS + Add.STEPS
    _ROOT = _RADICAND + SquareRoot.STEPS  # t
    _TOTALS = _ROOT + Add.STEPS  # L, S
    _SHARES = _TOTALS + Divide.STEPS
    _SIDES = _SHARES + Multiply.STEPS + SquareRoot.STEPS
    LATENCY = _SIDES + 1

    def __init__(self) -> None:
        super().__init__(
            {
                "texels": In(PAIR),
                "squares": In(PAIR),
                "determinant": Out(FLOAT32.magnitude),
                "square": Out(FLOAT32.magnitude),
                "axis": Out(VECTOR),
                "valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._m = m
        a, c, b, determinant, is_perpendicular = self._forms()
        p = self._add("p", a, c ^ SIGN)
        a_and_c = self._add("a_and_c", a, c)
        b_square = self._multiply("b_square", b, b)
        late_b = late(m, "late_b", Add.STEPS, square=b_square)
        p_square = self._multiply("p_square", p, p)
        radicand = self._add("radicand", p_square, late_b.square)
        m.submodules.root = root = SquareRoot()
        m.d.comb += root.a.eq(radicand)
        t = root.o
        before = late(
            m,
            "before_root",
            self._ROOT - self._DIFFERENCE,
            p=p,
            a_and_c=a_and_c,
        )
        larger = self._add("larger", t, magnitude(before.p))
        total = self._add("total", before.a_and_c, t)
        square = named(m, halved(total), "whole_square")
        twice_t = late(m, "twice_t", Add.STEPS, t=doubled(t)).t
        behind = late(m, "behind_b", self._TOTALS - self._SUMS - Multiply.STEPS, square=b_square)
        smaller = self._divide("smaller", behind.square, larger)
        share = self._divide("share", square, twice_t)
        late_larger = late(m, "late_larger", Divide.STEPS, larger=larger).larger
        sides = [
            self._root(name, self._multiply(f"{name}_square", value, share))
            for name, value in (("long", late_larger), ("short", smaller))
        ]
        early = late(
            m,
            "early",
            self._SIDES - self._SUMS,
            determinant=determinant,
            is_perpendicular=is_perpendicular,
            b_above=b,
        )
        middle = late(m, "middle", self._SIDES - self._TOTALS, square=square)
        # A difference of equals is +0.
        upright = ~FLOAT32.sign_of(p) & ~FLOAT32.is_nan(p)
        upright = late(m, "late_upright", self._SIDES - self._DIFFERENCE, flag=upright).flag
        self._put_out(sides, early, middle.square, upright)
        return m

    def _put_out(self, sides, early, square, upright):
        """Sides as u and v, and whether they are any."""
        m = self._m
        long, short = sides
        is_above = ~FLOAT32.sign_of(early.b_above) & ~FLOAT32.is_zero(early.b_above)
        turns = named(m, is_above & ~FLOAT32.is_nan(early.b_above), "turns")
        turned = named(m, short ^ (turns << FLOAT32.magnitude), "turned")
        numbers = long, short, square, early.determinant
        is_finite = Cat(FLOAT32.exponent_of(value) != FLOAT32.top for value in numbers).all()
        above = ~FLOAT32.is_zero(early.determinant) & ~FLOAT32.is_zero(square)
        m.d.sync += [
            self.axis.u.eq(Mux(upright, turned, long)),
            self.axis.v.eq(Mux(upright, long, turned)),
            self.square.eq(square[: FLOAT32.magnitude]),
            self.determinant.eq(early.determinant[: FLOAT32.magnitude]),
            self.valid.eq(is_finite & above & ~early.is_perpendicular),
        ]

    def _forms(self):
        """A, C, B, |D|, and whether the gradients are perpendicular: sums of two products each."""
        m = self._m
        x, y = self.texels.x, self.texels.y
        squares = self.squares
        products = {
            f"{name}{first}_{other}{second}": self._multiply(
                f"{name}{first}_{other}{second}", one[first], two[second]
            )
            for name, one, first, other, two, second in (
                ("x", x, "u", "x", x, "v"),
                ("y", y, "u", "y", y, "v"),
                ("x", x, "u", "y", y, "v"),
                ("y", y, "u", "x", x, "v"),
                ("x", x, "u", "y", y, "u"),
                ("x", x, "v", "y", y, "v"),
            )
        }
        a = self._add("a", squares.x.v, squares.y.v)
        c = self._add("c", squares.x.u, squares.y.u)
        half_b = self._add("half_b", products["xu_xv"], products["yu_yv"])
        b = named(m, doubled(half_b) ^ SIGN, "b")
        determinant = self._add("determinant", products["xu_yv"], products["yu_xv"] ^ SIGN)
        dot = self._add("dot", products["xu_yu"], products["xv_yv"])
        return a, c, b, magnitude(determinant), FLOAT32.is_zero(dot)

    def _unit(self, name, unit, *operands: Any):
        self._m.submodules[name] = unit
        for port, operand in zip("ab", operands, strict=False):
            self._m.d.comb += getattr(unit, port).eq(operand)
        return unit.o

    def _add(self, name, a, b):
        return self._unit(f"{name}_sum", Add(), a, b)

    def _multiply(self, name, a, b):
        return self._unit(f"{name}_product", Multiply(), a, b)

    def _divide(self, name, a, b):
        return self._unit(f"{name}_quotient", Divide(), a, b)

    def _root(self, name, a):
        return self._unit(f"{name}_root", SquareRoot(), a)


def magnitude(value: Value) -> Value:
    """A float32 without its sign."""
    return Cat(value[: FLOAT32.magnitude], Const(0, 1))


def doubled(value: Value) -> Value:
    """A float32 twice; what is too large becomes infinite. Of infinity, and of what is no number,
    the result is anything: the halved sum of squares is not finite then, or the determinant, so
    that the ellipse is not valid.
    """
    exponent = FLOAT32.exponent_of(value)
    is_last = exponent == FLOAT32.top - 1
    fraction = Mux(is_last, 0, value[: FLOAT32.fraction])
    return Cat(fraction, (exponent + (exponent != 0))[: FLOAT32.exponent], value[FLOAT32.magnitude])


def halved(value: Value) -> Value:
    """Half a float32: what is no number stays as it is, what is too small has no exponent."""
    exponent = FLOAT32.exponent_of(value)
    step = (exponent != 0) & (exponent != FLOAT32.top)
    below = value[: FLOAT32.fraction]
    return Cat(below, (exponent - step)[: FLOAT32.exponent], value[FLOAT32.magnitude])
