# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.arithmetic`: sets of operands that share units for an interval."""

from collections.abc import Iterator, Sequence
from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import arithmetic as golden
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.interval_register import IntervalRegister
from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier
from fixfunc.tb.bench.clocked import Case, Clock, Example, Hit, check, pace
from fixfunc.tb.lib.arithmetic.pipelined import divisors, equal, signed

INTERVALS = (1, 2, 3, 4)
# Sets of products: widths, and how many. With 5 of them in 2 clocks a multiplier has a free turn.
SET_PRODUCTS = (20, 9, 29)
PRODUCT_COUNTS = (1, 2, 5)
# Sets of quotients: every stage finds 1 to 4 bits, of which both parts are multiples.
SET_QUOTIENTS = (8, 13, 12, 20)
SET_BITS = 24  # of a quotient
SMALL_QUOTIENTS = (2, 5, 2, 6)  # of the example
QUOTIENT_COUNTS = (1, 2, 3)
BITS = 8  # of a beat of the interval register


def packed(values: Sequence[int], bits: int) -> int:
    """Elements of an array as the bits of its port, the first one lowest."""
    return sum(int(value) % (1 << bits) << n * bits for n, value in enumerate(values))


def starts(rng: np.random.Generator, clocks: int, interval: int) -> list[int]:
    """Clocks in which a set begins: back to back for a while, or later."""
    out = []
    for n, go in enumerate(pace(rng, clocks)):
        if go and (not out or n >= out[-1] + interval):
            out.append(n)
    return out


def on_clocks(
    begins: Sequence[int],
    sets: Sequence[tuple[dict[str, int], dict[str, int]]],
    timing: tuple[int, int],
    others: Iterator[dict[str, int]],
) -> list[Clock]:
    """Sets of operands and their results, each for the clocks of an interval.

    ``timing`` is the interval and the latency. ``others`` has operands for every clock; those of
    sets replace them, so that nothing depends on operands after their interval.
    """
    interval, latency = timing
    inputs = [{"start": 0} | operands for operands in others]
    outputs = [{} for _ in inputs]
    for begin, (ports, result) in zip(begins, sets, strict=True):
        for n in range(begin, min(begin + interval, len(inputs))):
            inputs[n] = {"start": int(n == begin)} | ports
        for n in range(begin + latency, min(begin + latency + interval, len(inputs))):
            outputs[n] = result
    return [Clock(i, o) for i, o in zip(inputs, outputs, strict=True)]


def shared_products(a: np.ndarray, b: np.ndarray) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Sets of factors, one a row, as ports; and the port of their products."""
    a_bits, b_bits, bits = SET_PRODUCTS
    return [
        ({"a": packed(x, a_bits), "b": packed(y, b_bits)}, {"o": packed(product, bits)})
        for x, y, product in zip(a, b, golden.multiply(a, b, bits), strict=True)
    ]


def random_shared_products(
    rng: np.random.Generator, clocks: int, count: int, interval: int
) -> list[Clock]:
    """Sets of factors of any size; other factors between the sets."""
    a, b = (signed(rng, clocks * count, bits).reshape(clocks, count) for bits in SET_PRODUCTS[:2])
    sets = shared_products(a, b)
    begins = starts(rng, clocks, interval)
    latency = golden.shared_multiplier_latency(count, *SET_PRODUCTS, interval)
    others = (ports for ports, _ in reversed(sets))
    return on_clocks(begins, sets[: len(begins)], (interval, latency), others)


def shared_quotients(
    dividends: np.ndarray, divisor: np.ndarray, widths: tuple[int, ...] = SET_QUOTIENTS
) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Sets of dividends, one a row, and their divisors as ports; and the ports of quotients."""
    _, dividend_bits, fraction, bits = widths
    quotients, beyond = golden.divide(dividends, divisor[:, None], fraction, bits)
    return [
        (
            {"dividend": packed(n, dividend_bits), "divisor": int(d)},
            {"o": packed(q, bits), "beyond": packed(flags, 1)},
        )
        for n, d, q, flags in zip(dividends, divisor, quotients, beyond, strict=True)
    ]


def random_shared_quotients(
    rng: np.random.Generator, clocks: int, count: int, interval: int
) -> list[Clock]:
    """Sets of dividends of any size by one divisor; other ones between the sets."""
    dividends = signed(rng, clocks * count, SET_QUOTIENTS[1]).reshape(clocks, count)
    sets = shared_quotients(dividends, divisors(rng, clocks, SET_QUOTIENTS[0]))
    begins = starts(rng, clocks, interval)
    latency = golden.divider_latency(count, SET_BITS, interval)
    others = (ports for ports, _ in reversed(sets))
    return on_clocks(begins, sets[: len(begins)], (interval, latency), others)


def interval_step(model: golden.IntervalRegister, valid: int, payload: int, room: int) -> Clock:
    """One clock of the golden model, with the ports of the hardware."""
    outputs = model.step(valid, payload, room)
    return Clock(
        {"i__valid": int(valid), "i__payload": payload, "room": int(room)},
        {"i__ready" if name == "ready" else name: outputs[name] for name in outputs},
    )


def random_beats(rng: np.random.Generator, clocks: int, interval: int) -> list[Clock]:
    """Beats that are offered until they move; room, or none, for a while each."""
    model = golden.IntervalRegister(interval)
    beat = None
    out = []
    for offer, room in zip(pace(rng, clocks), pace(rng, clocks), strict=True):
        if beat is None and offer:
            beat = int(rng.integers(0, 1 << BITS))
        out.append(interval_step(model, int(beat is not None), beat or 0, int(room)))
        if out[-1].outputs["accept"]:
            beat = None
    return out


def element(port: str, k: int, bits: int, value: int) -> Hit:
    """A bin: an element of a set has this value."""
    pattern = value % (1 << bits)
    return lambda trace, n: bool(
        trace[n].inputs["start"] and trace[n].inputs[port] >> k * bits & (1 << bits) - 1 == pattern
    )


def set_bins(interval: int) -> dict[str, Hit]:
    """Sets back to back, and later than they might be; operands that change between them."""
    return {
        "a set as soon as may be": lambda trace, n: bool(
            trace[n].inputs["start"] and trace[n - interval].inputs["start"]
        ),
        "a set later": lambda trace, n: (
            not any(trace[n - k].inputs["start"] for k in range(interval + 1))
        ),
        "other operands right after the interval": lambda trace, n: bool(
            trace[n - interval].inputs["start"]
            and not trace[n].inputs["start"]
            and trace[n].inputs != trace[n - 1].inputs | {"start": 0}
        ),
    }


def product_bins(count: int, interval: int) -> dict[str, Hit]:
    """Bins of sets of factors."""
    return set_bins(interval) | {
        f"{port}[{k}] is {value}": element(port, k, bits, value)
        for k in range(count)
        for port, bits in zip("ab", SET_PRODUCTS, strict=False)
        for value in (-1 << bits - 1, (1 << bits - 1) - 1, -1, 0)
    }


def quotient_bins(count: int, interval: int) -> dict[str, Hit]:
    """Bins of sets of dividends."""
    bits = SET_QUOTIENTS[1]
    ends = {
        f"dividend[{k}] is {value}": element("dividend", k, bits, value)
        for k in range(count)
        for value in (-1 << bits - 1, (1 << bits - 1) - 1, -1, 0)
    }
    beyond = {
        f"quotient[{k}] does not fit": lambda trace, n, k=k: bool(
            trace[n].outputs.get("beyond", 0) >> k & 1
        )
        for k in range(count)
    }
    return set_bins(interval) | ends | beyond | {"a divisor of one": equal("divisor", 1)}


def beat_bins(interval: int) -> dict[str, Hit]:
    """Bins of the interval register."""
    bins = {
        "beats as soon as may be": lambda trace, n: bool(
            trace[n].outputs["accept"] and trace[n - interval].outputs["accept"]
        ),
        "no beat, but room": lambda trace, n: bool(
            trace[n].outputs["i__ready"] and not trace[n].inputs["i__valid"]
        ),
        "a beat without room": lambda trace, n: bool(
            trace[n].inputs["i__valid"] and not trace[n].inputs["room"]
        ),
        "a beat holds longer": lambda trace, n: (
            not any(trace[n - k].outputs["accept"] for k in range(interval + 1))
        ),
    }
    waits = {
        "a beat waits for the interval": lambda trace, n: bool(
            trace[n].inputs["i__valid"]
            and trace[n].inputs["room"]
            and not trace[n].outputs["i__ready"]
        )
    }
    return bins | waits if interval > 1 else bins


CASES = {
    **{
        f"shared_multiplier_{count}_{interval}": Case(
            partial(SharedMultiplier, count, *SET_PRODUCTS, interval),
            partial(random_shared_products, count=count, interval=interval),
            product_bins(count, interval),
        )
        for count in PRODUCT_COUNTS
        for interval in INTERVALS
    },
    **{
        f"shared_divider_{count}_{interval}": Case(
            partial(Divider, *SET_QUOTIENTS, count, interval),
            partial(random_shared_quotients, count=count, interval=interval),
            quotient_bins(count, interval),
        )
        for count in QUOTIENT_COUNTS
        for interval in INTERVALS
    },
    **{
        f"interval_register_{interval}": Case(
            partial(IntervalRegister, BITS, interval),
            partial(random_beats, interval=interval),
            beat_bins(interval),
        )
        for interval in INTERVALS
    },
}


def example_products() -> list[Clock]:
    """Three pairs of factors on one multiplier, then three others as soon as may be."""
    sets = shared_products(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[7, 8, 9], [9, 8, 7]]))
    latency = golden.shared_multiplier_latency(3, *SET_PRODUCTS, 3)
    return on_clocks([0, 3], sets, (3, latency), iter([{"a": 0, "b": 0}] * 12))


def example_quotients() -> list[Clock]:
    """Two dividends in one subtractor; every stage finds two bits."""
    sets = shared_quotients(np.array([[7, -7]]), np.array([3]), SMALL_QUOTIENTS)
    none = {"dividend": 0, "divisor": 1}
    latency = golden.divider_latency(2, 6, 4)
    return on_clocks([0], sets, (4, latency), iter([none] * 13))


def example_beats() -> list[Clock]:
    """A beat every three clocks; the third one waits for room too."""
    model = golden.IntervalRegister(3)
    payload = 1
    out = []
    for n in range(11):
        out.append(interval_step(model, 1, payload, int(n != 6)))
        payload += out[-1].outputs["accept"]
    return out


EXAMPLES = {
    "shared_multiplier_3_3": Example(
        partial(SharedMultiplier, 3, *SET_PRODUCTS, 3),
        example_products,
        ("start", "a", "b", "o"),
    ),
    "shared_divider_2_4": Example(
        partial(Divider, *SMALL_QUOTIENTS, 2, 4),
        example_quotients,
        ("start", "dividend", "divisor", "o", "beyond"),
    ),
    "interval_register_3": Example(
        CASES["interval_register_3"].create,
        example_beats,
        ("i__valid", "i__ready", "i__payload", "room", "accept", "start", "o"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
