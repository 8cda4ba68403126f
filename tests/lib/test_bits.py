# SPDX-License-Identifier: BSD-2-Clause
"""Functions on bits, for every value of a few widths."""

import pytest
from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib import bits
from fixfunc.tb.bench.clocked import Clock, difference, simulate
from tests.lib.bench import broken


class Of(wiring.Component):
    """A function of a value."""

    def __init__(self, function, width):
        self._function = function
        super().__init__({"i": In(width), "o": Out(16)})

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        # A clock for the simulator.
        m.d.sync += Signal().eq(self.i[0])
        m.d.comb += self.o.eq(self._function(self.i))
        return m


def lowest(value, _width):
    return value & -value


def at_most_one(value, _width):
    return int(value.bit_count() <= 1)


def number(value, _width):
    """Of more than one bit set, the numbers of all are ORed."""
    out = 0
    for n in range(value.bit_length()):
        out |= n if value >> n & 1 else 0
    return out


def leading_zeros(value, width):
    """Of zero, a power of two of bits has one less."""
    most = width - 1 if width & width - 1 == 0 else width
    return min(width - value.bit_length(), most)


FUNCTIONS = (lowest, at_most_one, number, leading_zeros)


def trace(function, width):
    return [Clock({"i": n}, {"o": function(n, width)}) for n in range(1 << width)]


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_value(function, width):
    wanted = trace(function, width)
    found = simulate(Of(getattr(bits, function.__name__), width), wanted)
    assert difference(wanted, found) is None


@pytest.mark.parametrize("count", range(1, 9))
def test_choose_is_an_index(count):
    def function(index):
        return bits.choose(index, [10 + n for n in range(count)])

    width = max(1, (count - 1).bit_length())
    wanted = [Clock({"i": n}, {"o": 10 + n}) for n in range(count)]
    assert difference(wanted, simulate(Of(function, width), wanted)) is None


OPTIONS = 9, 6, 15, 1, 4


def picked(functions):
    """Of each bit set, and of none: the component that picks, and what it must say."""
    wanted = [Clock({"i": 1 << n}, {"o": option}) for n, option in enumerate(OPTIONS)]
    wanted.append(Clock({"i": 0}, {"o": 0}))
    return Of(lambda i: functions.pick(i, OPTIONS), len(OPTIONS)), wanted


def test_an_option_is_picked_by_its_bit():
    component, wanted = picked(bits)
    assert difference(wanted, simulate(component, wanted)) is None
    wrong = broken("lib.bits", "out | Mux(bit, option, 0)", "out | Mux(bit, option, 2)")
    component, wanted = picked(wrong)
    assert difference(wanted, simulate(component, wanted)) is not None


@pytest.mark.parametrize("width", [1, 5])
def test_a_gated_value_is_whole_or_zero(width):
    gate = Of(lambda i: bits.gated(i[1:], i[0]), width + 1)
    wanted = [Clock({"i": n}, {"o": n >> 1 if n & 1 else 0}) for n in range(1 << width + 1)]
    assert difference(wanted, simulate(gate, wanted)) is None


def negations(width):
    """Of a sign, and above it the value."""
    return [
        Clock({"i": n}, {"o": (-(n >> 1) if n & 1 else n >> 1) & (1 << width) - 1})
        for n in range(1 << width + 1)
    ]


def negation(functions, width):
    return Of(lambda i: functions.negated(i[1:], i[0])[:width].as_unsigned(), width + 1)


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_every_negation(width):
    wanted = negations(width)
    assert difference(wanted, simulate(negation(bits, width), wanted)) is None


def test_a_broken_negation_is_caught():
    functions = broken("lib.bits", "negative & value[:n].any()", "negative & value[:n].all()")
    wanted = negations(5)
    assert difference(wanted, simulate(negation(functions, 5), wanted)) is not None


def test_an_option_of_none_costs_nothing():
    index = Signal(2)
    assert bits.choose(index, [None, 5, None, None]) == 5
    assert bits.choose(index, [None] * 4) is None
    assert len(Value.cast(bits.choose(index, [None, index, index[0], None]))) == 2


def test_named_has_a_name_and_the_shape():
    m = Module()
    out = bits.named(m, Signal(3) + Signal(3), "total")
    assert out.name == "total"
    assert len(out) == 4


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        (lowest, "value[n] & ~value[:n].any()", "value[n] & ~value[:n].all()"),
        (at_most_one, "value[n] & value[:n].any()", "value[n] & value[: n - 1].any()"),
        (number, "if n >> b & 1", "if n >> b & 3"),
        (leading_zeros, "(1 << missing) - 1", "(0 << missing)"),
    ],
)
def test_a_broken_one_is_caught(function, right, wrong):
    wanted = trace(function, 5)
    component = Of(getattr(broken("lib.bits", right, wrong), function.__name__), 5)
    assert difference(wanted, simulate(component, wanted)) is not None


KEYS = {0: "a", 1: "b", 2: "a", 4: "b", 5: "c"}  # by index; none at 3; 6 and 7 never come
VALUES = {"a": 9, "b": 6, "c": 15}


class Selected(wiring.Component):
    """An option, and one that is the same for every index; options come when they count."""

    def __init__(self, ahead, of=bits.Selection):
        self._ahead = ahead
        self._of = of
        ports = {name: In(4) for name in VALUES}
        super().__init__({"index": In(3), **ports, "o": Out(4), "same": Out(4)})

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        m.d.sync += Signal().eq(self.index[0])
        selection = self._of(m, self.index, range(6), "selected", self._ahead)
        options = {name: getattr(self, name) for name in VALUES}
        m.d.comb += [
            self.o.eq(selection.of(KEYS, options)),
            self.same.eq(selection.of(dict.fromkeys(range(6), "c"), options)),
        ]
        return m


def selections(ahead):
    """Every index after every other."""
    indexes = [n for first in range(6) for second in range(6) for n in (first, second)]
    out = []
    for n, index in enumerate(indexes):
        values = {name: value ^ n & 15 for name, value in VALUES.items()}
        chosen = indexes[n - ahead]
        outputs = {"same": values["c"]}
        if n >= ahead:
            outputs["o"] = values[KEYS[chosen]] if chosen in KEYS else 0
        out.append(Clock({"index": index, **values}, outputs))
    return out


@pytest.mark.parametrize("ahead", [False, True])
def test_every_selection(ahead):
    given = selections(ahead)
    assert difference(given, simulate(Selected(ahead), given)) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("setdefault(key, set()).add(number)", "setdefault(key, {number})"),
        ("self._numbers <= those", "len(those) > 1"),
        ("equal.any()", "equal.all()"),
    ],
)
def test_a_broken_selection_is_caught(right, wrong):
    given = selections(False)
    other = Selected(False, broken("lib.bits", right, wrong).Selection)
    assert difference(given, simulate(other, given)) is not None
