# SPDX-License-Identifier: BSD-2-Clause
"""Arithmetic: products and quotients, values that hold for an interval; places of bits."""

from types import ModuleType

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from fixfunc.rtl.lib import bits
from fixfunc.rtl.lib.arithmetic import divider, interval_register, multiplier, shared_multiplier
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.streams import no_deadlock

INTERVAL = 3
WIDTHS = range(1, 10)


def _elapsed(p: Properties, clocks: int) -> Value:
    """So many clocks have passed since the reset."""
    return p.past(1, clocks)[0]


def interval(module: ModuleType = interval_register) -> Properties:
    """A beat every three clocks."""
    p = Properties()
    unit = module.IntervalRegister(2, INTERVAL)
    p.add(unit)
    since = Signal(range(INTERVAL + 1), init=INTERVAL)
    p.m.d.sync += since.eq(Mux(unit.accept, 1, Mux(since == INTERVAL, INTERVAL, since + 1)))
    last = Signal(2)
    p.m.d.sync += last.eq(Mux(unit.accept, unit.i.payload, last))
    p.prove("apart", ~unit.accept | (since == INTERVAL))
    p.prove("with_room", ~unit.accept | (unit.room & unit.i.valid))
    p.prove("accept", unit.accept == (unit.i.valid & unit.i.ready))
    p.prove("start", unit.start == p.past(unit.accept))
    p.prove("held", unit.o == last)
    p.prove("since", since != 0)
    p.prove("wait", p.inner("unit.wait") == INTERVAL - since)
    no_deadlock(p, unit.i.valid & unit.room, unit.accept, INTERVAL - 1)
    p.reach("again", unit.accept & (p.past(unit.accept, INTERVAL)))
    return p


def product(a_bits: int, b_bits: int, out_bits: int, module: ModuleType) -> Properties:
    """A product of factors of these widths."""
    p = Properties()
    unit = module.Multiplier(a_bits, b_bits, out_bits)
    p.add(unit)
    a = p.past(unit.a, unit.latency)
    b = p.past(unit.b, unit.latency)
    exact = p.named("exact", a * b)
    known = _elapsed(p, unit.latency)
    p.prove("product", ~known | (unit.o == exact[:out_bits].as_signed()))
    p.reach("negative", known & (unit.o < 0))
    return p


def narrow_product(module: ModuleType = multiplier) -> Properties:
    """One limb."""
    return product(5, 4, 9, module)


def wide_product(module: ModuleType = multiplier) -> Properties:
    """Two limbs."""
    return product(20, 3, 22, module)


def shared_product(module: ModuleType = shared_multiplier) -> Properties:
    """Three products of two multipliers in two turns."""
    p = Properties()
    count, turns = 3, 2
    unit = module.SharedMultiplier(count, 3, 3, interval=turns)
    p.add(unit)
    _every(p, unit.start, turns)
    for factors in (Value.cast(unit.a), Value.cast(unit.b)):
        p.assume(unit.start | (factors == p.past(factors)))
    for age in range(turns):
        starts = p.past(unit.start, unit.latency + age)
        for k in range(count):
            a = p.past(unit.a[k], unit.latency + age)
            b = p.past(unit.b[k], unit.latency + age)
            p.prove(f"product_{k}_{age}", ~starts | (unit.o[k] == a * b))
    p.reach("next", p.past(unit.start, unit.latency) & p.past(unit.start, unit.latency + turns))
    return p


def _every(p: Properties, start: Value, interval: int) -> None:
    """Assume that starts are so many clocks apart, at least."""
    for clocks in range(1, interval):
        p.assume(~start | ~p.past(start, clocks))


def quotients(count: int, interval: int, module: ModuleType) -> Properties:
    """Quotients of 7 bits by a divisor of 3 bits, of which 3 bits come out."""
    p = Properties()
    width, dividend_bits, fraction, out_bits = 3, 5, 2, 3
    unit = module.Divider(width, dividend_bits, fraction, out_bits, count, interval)
    p.add(unit)
    p.assume(unit.divisor != 0)
    start = unit.start
    if interval > 1:
        _every(p, start, interval)
        for value in (Value.cast(unit.dividend), unit.divisor):
            p.assume(start | (value == p.past(value)))
    for age in range(interval):
        clocks = unit.latency + age
        starts = p.past(start, clocks) if interval > 1 else _elapsed(p, clocks)
        divisor = p.past(unit.divisor, clocks)
        for k in range(count):
            scaled = Signal(signed(dividend_bits + fraction + 1), name=f"scaled_{k}_{age}")
            least = Signal(signed(dividend_bits + fraction + 4), name=f"floor_{k}_{age}")
            p.m.d.comb += [
                scaled.eq(p.past(unit.dividend[k], clocks) << fraction),
                least.eq(scaled // divisor),
            ]
            half = 1 << out_bits - 1
            beyond = (least < -half) | (least >= half)
            p.prove(f"floor_{k}_{age}", ~starts | (unit.o[k] == least[:out_bits].as_signed()))
            p.prove(f"beyond_{k}_{age}", ~starts | (unit.beyond[k] == beyond))
            p.reach(f"both_{k}_{age}", starts & ~beyond & (unit.o[k] < -2))
    return p


def one_quotient(module: ModuleType = divider) -> Properties:
    """A quotient a clock."""
    return quotients(1, 1, module)


def shared_quotients(module: ModuleType = divider) -> Properties:
    """Two dividends that take turns, two bits a stage."""
    return quotients(2, 4, module)


def places(module: ModuleType = bits) -> Properties:
    """Functions of bits, of every width up to nine."""
    p = Properties()
    value = p.free(WIDTHS[-1], "value")
    unit = Module()
    for width in WIDTHS:
        part = value[:width]
        ones = sum(part)
        is_lowest = module.lowest(part)
        zeros = module.leading_zeros(part)
        expected = width
        for n in range(width):
            expected = Mux(part[n], width - 1 - n, expected)
        first = Const(0, width)
        position = Const(0, 4)
        for n in reversed(range(width)):
            first = Mux(part[n], 1 << n, first)
            position = Mux(part[n], n, position)
        p.prove(f"lowest_{width}", is_lowest == first)
        # Of no bit at all: all bits, or one less where their number is a power of two.
        none = width - 1 if width & (width - 1) == 0 else width
        p.prove(f"zeros_{width}", zeros == Mux(ones == 0, none, expected))
        p.prove(f"number_{width}", (ones != 1) | (module.number(part) == position))
        if width > 1:
            p.prove(f"at_most_one_{width}", module.at_most_one(part) == (ones < 2))
        index = Cat(value[:4])
        options = [Const(5 * n + 3, 6) for n in range(width)]
        chosen = Const(0, 6)
        for n, option in enumerate(options):
            chosen = Mux(index == n, option, chosen)
        p.prove(f"choose_{width}", (index >= width) | (module.choose(index, options) == chosen))
    p.add_module(unit)
    p.reach("one", sum(value) == 1)
    return p


PROOFS = [
    Proof(
        "interval_register",
        "lib/arithmetic/interval_register.py IntervalRegister",
        "Beats are at least an interval apart, start a clock after they move, and hold until the "
        "next; with room a beat waits no longer than the interval.",
        interval,
        depth=3,
        size="2 bits, 3 clocks",
    ),
    Proof(
        "multiplier",
        "lib/arithmetic/multiplier.py Multiplier",
        "The product is exact, one a clock.",
        narrow_product,
        depth=4,
        size="5 by 4 bits, one limb",
    ),
    Proof(
        "multiplier_limbs",
        "lib/arithmetic/multiplier.py Multiplier",
        "The product is exact modulo its width, of two limbs too.",
        wide_product,
        depth=5,
        size="20 by 3 bits, two limbs, 22 bits of 23",
    ),
    Proof(
        "shared_multiplier",
        "lib/arithmetic/shared_multiplier.py SharedMultiplier",
        "Products are exact and hold for the interval.",
        shared_product,
        depth=8,
        size="3 products of 3 by 3 bits, 2 turns",
        assumed="Starts are an interval apart; factors hold between them.",
    ),
    Proof(
        "divider",
        "lib/arithmetic/divider.py Divider",
        "Quotients are the floors; `beyond` says exactly that one does not fit.",
        one_quotient,
        depth=8,
        size="5 bits and 2 of fraction by 3 bits, a set a clock",
        assumed="The divisor is above zero.",
    ),
    Proof(
        "divider_shared",
        "lib/arithmetic/divider.py Divider",
        "The same of dividends that share a subtractor.",
        shared_quotients,
        depth=14,
        size="2 dividends, 4 clocks a set",
        assumed="The divisor is above zero; starts are an interval apart; operands hold between.",
    ),
    Proof(
        "bits",
        "lib/bits.py choose, lowest, at_most_one, number, leading_zeros",
        "Each is what it says, of every value.",
        places,
        depth=1,
        size="1 to 9 bits",
    ),
]
