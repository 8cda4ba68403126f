# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import HeldTimeline, Steps, Timeline
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench.clocked import Clock, difference, simulate
from fixfunc.tb.lib import delay
from tests.lib.bench import broken

CASE = delay.CASES["timeline"]
TRACE = CASE.trace(np.random.default_rng(1), 50)


def timeline():
    t = Timeline(Module())
    t.enter(2, value=Signal(8, name="value"), other=Signal())
    return t


def test_a_value_is_as_late_as_its_clock_says():
    assert difference(TRACE, simulate(CASE.create(), TRACE)) is None


def test_a_delay_too_short_by_a_clock_is_caught():
    module = broken(
        "lib.timeline", "return values[clock - first]", "return values[clock - first - 1]"
    )
    assert difference(TRACE, simulate(CASE.create(module.Timeline), TRACE)) is not None


def test_readers_share_registers():
    t = timeline()
    assert t[5].value is t[5].value
    assert t[2].value.name == "value"
    assert t[5].value.name == "value_5"
    assert t[4].value.name == "value_4"


def test_structures_stay_structures():
    t = Timeline(Module())
    t.enter(0, tile=Signal(StructLayout({"x": 3, "y": 4}), name="tile"))
    assert t[2].tile.y.shape().width == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t: t[1].value, "value must be read from clock 2 on, not 1"),
        (lambda t: t.enter(3, value=Signal()), "value must enter once, in clock 2, not 3"),
    ],
)
def test_wrong_clocks(wrong, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        wrong(timeline())


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="^tile has not entered; known: value, other$"):
        timeline()[2].tile  # noqa: B018


def conditions(m, flag):
    """Every kind of condition, each as a context."""
    yield m.If(flag)
    with m.If(flag):
        pass
    yield m.Elif(flag)
    with m.If(flag):
        pass
    yield m.Else()
    yield m.Switch(flag)
    with m.Switch(flag):
        yield m.Case(1)
    with m.FSM():
        yield m.State("start")


def test_registers_are_made_outside_of_conditions():
    """Within one they would move under that condition alone."""
    m = Module()
    t = Timeline(m)
    flag = Signal()
    out = Signal(8)
    t.enter(0, value=Signal(8))
    count = 0
    for condition in conditions(m, flag):
        with (
            condition,
            pytest.raises(
                InputError, match="^value must be read first outside of conditions, not in clock 1$"
            ),
        ):
            m.d.comb += out.eq(t[1].value)
        count += 1
    assert count == 6


def test_a_value_may_be_read_within_conditions_once_it_has_its_registers():
    m = Module()
    t = Timeline(m)
    t.enter(0, value=Signal(8))
    later = t[3].value
    with m.If(later[0]):
        assert t[0].value is not later
        assert t[3].value is later
        assert t[2].value.name == "value_2"


SPACING = 3
READ = (0, 1, 2, 3, 4, 7, 9, 10)


class Held(wiring.Component):
    """A value that changes every few clocks at most, read in several clocks."""

    def __init__(self, timeline=HeldTimeline):
        self._timeline = timeline
        super().__init__(
            {"i": In(8), "changes": In(1)} | {f"clock_{clock}": Out(8) for clock in READ}
        )

    def elaborate(self, _):
        m = Module()
        t = self._timeline(m, self.i, self.changes, SPACING)
        m.d.comb += [getattr(self, f"clock_{clock}").eq(t[clock]) for clock in READ]
        return m


def changing(rng, count):
    """A value that changes as often as it may, or later; and what it was before."""
    gaps = SPACING + rng.integers(0, 4, count) * rng.integers(0, 2, count)
    numbers = np.repeat(np.arange(count), gaps)
    values = rng.integers(0, 256, count)[numbers]
    changes = np.diff(numbers, prepend=-1)
    return [
        Clock(
            {"i": int(value), "changes": int(change)},
            {f"clock_{k}": int(values[n - k]) for k in READ if n >= k},
        )
        for n, (value, change) in enumerate(zip(values, changes, strict=True))
    ]


def test_a_value_that_is_held_is_as_late_as_its_clock_says():
    trace = changing(np.random.default_rng(2), 80)
    assert difference(trace, simulate(Held(), trace)) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("change = self.changes(clock - 1)", "change = self.changes(clock)"),
        ("self._spacing = spacing", "self._spacing = spacing + 1"),
    ],
)
def test_a_register_too_late_or_too_far_is_caught(right, wrong):
    trace = changing(np.random.default_rng(2), 80)
    module = broken("lib.timeline", right, wrong)
    assert difference(trace, simulate(Held(module.HeldTimeline), trace)) is not None


def test_registers_are_no_closer_than_they_need_be():
    m = Module()
    held = HeldTimeline(m, Signal(8, name="value"), Signal(), 4)
    assert held[0].name == "value"
    assert held[9] is held[9]
    assert sorted(held._values) == [0, 4, 8, 9]
    with pytest.raises(InputError, match="^clock must be 0 or above, not -1$"):
        held[-1]


class Cube(wiring.Component):
    """i * i * i in three steps, each of which needs the operand."""

    i: In(8)
    o: Out(24)

    def __init__(self, latency):
        self._latency = latency
        super().__init__()

    def elaborate(self, _):
        m = Module()
        t = Steps(m, 3, self._latency)
        t.enter(i=self.i)
        t.put(0, square=t[0].i * t[0].i)
        t.put(1, cube=t[1].square * t[1].i)
        t.put(2, o=t[2].cube + 0 * t[2].i)
        m.d.comb += self.o.eq(t[3].o)
        return m


@pytest.mark.parametrize("latency", [1, 2, 3])
def test_steps_share_clocks(latency):
    values = np.random.default_rng(latency).integers(0, 256, 40).tolist()
    trace = [
        Clock({"i": value}, {"o": values[n - latency] ** 3} if n >= latency else {})
        for n, value in enumerate(values)
    ]
    assert difference(trace, simulate(Cube(latency), trace)) is None
    late = [Clock(clock.inputs, trace[n - 1].outputs) for n, clock in enumerate(trace)]
    assert difference(late, simulate(Cube(latency), late)) is not None
    with pytest.raises(InputError, match="^latency must be 1 to 3, not 4$"):
        Cube(4).elaborate(None)
