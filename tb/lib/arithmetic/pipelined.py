# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.arithmetic`: one product, or quotient, a clock."""

from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import arithmetic as golden
from fixfunc.models.lib.delay import delayed
from fixfunc.rtl.lib.arithmetic.divider import Divider
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.arithmetic.reciprocal import Reciprocal
from fixfunc.tb.bench.clocked import Case, Clock, Example, Hit, check

# Widths of factors and product: one limb; several; a product that is cut; those of triangle setup.
PRODUCTS = (
    *((9, 9, 18), (18, 18, 36), (19, 18, 37), (36, 36, 72), (40, 20, 33), (53, 35, 88)),
    *((33, 25, 57), (33, 25, 58), (56, 25, 56), (14, 48, 48), (26, 8, 34)),
)
# Bits of the divisor, of the dividend, of the fraction, of the output, which is all of the quotient
# or the lowest of it. The last are those of triangle setup.
QUOTIENTS = ((4, 6, 3, 8), (5, 13, 0, 9), (20, 9, 12, 12), (12, 3, 1, 2), (49, 57, 24, 56))
# Bits of the divisor, power of the dividend, clocks: the least; a quotient as wide as may be; those
# of float32; those of the interpolator.
RECIPROCALS = ((3, 4, 1), (8, 19, 3), (24, 48, 7), (34, 60, 7))


def signed(rng: np.random.Generator, count: int, bits: int) -> np.ndarray:
    """Integers of any size, and the ends: ndarray of object."""
    limit = 1 << bits - 1
    ends = (-limit, -limit + 1, -1, 0, 1, limit - 1, limit - (1 << bits // 2))
    out = [
        ends[int(rng.integers(0, len(ends)))]
        if rng.random() < 0.4
        else int.from_bytes(rng.bytes(bits // 8 + 1), "little") % (2 * limit) - limit
        for _ in range(count)
    ]
    return np.array(out, object)


def later(values: np.ndarray, latency: int, bits: int, port: str = "o") -> list[dict[str, int]]:
    """Outputs by the clock, from the first that is of an input."""
    return [
        {port: int(value) % (1 << bits)} if n >= latency else {}
        for n, value in enumerate(delayed(values, latency))
    ]


def products(a: np.ndarray, b: np.ndarray, widths: tuple[int, int, int]) -> list[Clock]:
    """Factors, and their products a latency later."""
    bits = widths[2]
    outputs = later(golden.multiply(a, b, bits), golden.multiplier_latency(*widths), bits)
    return [
        Clock({"a": int(x) % (1 << widths[0]), "b": int(y) % (1 << widths[1])}, output)
        for x, y, output in zip(a, b, outputs, strict=True)
    ]


def random_products(
    rng: np.random.Generator, clocks: int, widths: tuple[int, int, int]
) -> list[Clock]:
    """Factors of any size, and the ends of both."""
    return products(signed(rng, clocks, widths[0]), signed(rng, clocks, widths[1]), widths)


def quotients(
    dividend: np.ndarray, divisor: np.ndarray, widths: tuple[int, int, int, int]
) -> list[Clock]:
    """Dividends and divisors, and their quotients a clock a bit later."""
    _, dividend_bits, fraction, bits = widths
    quotient, beyond = golden.divide(dividend, divisor, fraction, bits)
    latency = golden.divider_latency(1, dividend_bits - 1 + fraction, 1)
    outputs = zip(later(quotient, latency, bits), later(beyond, latency, 1, "beyond"), strict=True)
    return [
        Clock({"dividend": int(n) % (1 << dividend_bits), "divisor": int(d)}, output | flag)
        for n, d, (output, flag) in zip(dividend, divisor, outputs, strict=True)
    ]


def divisors(rng: np.random.Generator, count: int, bits: int) -> np.ndarray:
    """Divisors of any size, and the least: ndarray of object."""
    out = np.maximum(rng.integers(1, 1 << bits, count) >> rng.integers(0, bits, count), 1)
    out[rng.random(count) < 0.05] = 1
    return out.astype(object)


def random_quotients(
    rng: np.random.Generator, clocks: int, widths: tuple[int, int, int, int]
) -> list[Clock]:
    """A dividend and its divisor a clock."""
    return quotients(signed(rng, clocks, widths[1]), divisors(rng, clocks, widths[0]), widths)


def reciprocals(divisor: np.ndarray, shape: tuple[int, int, int]) -> list[Clock]:
    """Divisors, and their reciprocals a latency later."""
    bits, power, latency = shape
    outputs = later(golden.reciprocal(divisor, power), latency, power - bits + 2)
    return [Clock({"divisor": int(d)}, output) for d, output in zip(divisor, outputs, strict=True)]


def random_reciprocals(
    rng: np.random.Generator, clocks: int, shape: tuple[int, int, int]
) -> list[Clock]:
    """Divisors with their highest bit set: any, few bits, and the ends of a table's ranges."""
    least = 1 << shape[0] - 1
    below = rng.integers(0, least, clocks)
    place = rng.integers(0, shape[0], clocks)
    few = below >> place << place
    ends = (few - rng.integers(0, 2, clocks)) % least
    kind = rng.integers(0, 3, clocks)
    return reciprocals((least + np.choose(kind, [below, few, ends])).astype(object), shape)


def equal(port: str, value: int) -> Hit:
    """A bin: an input has this value."""
    return lambda trace, n: trace[n].inputs[port] == value


CASES = {
    **{
        "multiplier_{}_{}_{}".format(*widths): Case(
            partial(Multiplier, *widths),
            partial(random_products, widths=widths),
            {
                f"{port} is {value}": equal(port, value % (1 << bits))
                for port, bits in (("a", widths[0]), ("b", widths[1]))
                for value in (-1 << bits - 1, (1 << bits - 1) - 1, -1, 0)
            },
        )
        for widths in PRODUCTS
    },
    **{
        "divider_{}_{}_{}_{}".format(*widths): Case(
            partial(Divider, *widths),
            partial(random_quotients, widths=widths),
            {
                "a divisor of one": equal("divisor", 1),
                **{
                    f"a dividend of {value}": equal("dividend", value % (1 << widths[1]))
                    for value in (-1 << widths[1] - 1, (1 << widths[1] - 1) - 1, -1, 0)
                },
                "a quotient that does not fit": lambda trace, n: bool(
                    trace[n].outputs.get("beyond")
                ),
                "one that fits": lambda trace, n: not trace[n].outputs.get("beyond", 1),
            },
        )
        for widths in QUOTIENTS
    },
    **{
        "reciprocal_{}_{}_{}".format(*shape): Case(
            partial(Reciprocal, *shape),
            partial(random_reciprocals, shape=shape),
            {
                "the least divisor": equal("divisor", 1 << shape[0] - 1),
                "the greatest": equal("divisor", (1 << shape[0]) - 1),
            },
        )
        for shape in RECIPROCALS
    },
}
EXAMPLES = {
    "multiplier_19_18_37": Example(
        CASES["multiplier_19_18_37"].create,
        lambda: products(np.arange(1, 9), np.arange(11, 19), (19, 18, 37)),
        ("a", "b", "o"),
    ),
    "divider_4_6_3_8": Example(
        CASES["divider_4_6_3_8"].create,
        lambda: quotients(
            np.array([7, -7, 20, -32] + [0] * 9),
            np.array([3, 3, 1, 1] + [1] * 9),
            (4, 6, 3, 8),
        ),
        ("dividend", "divisor", "o", "beyond"),
    ),
    "reciprocal_8_19_3": Example(
        CASES["reciprocal_8_19_3"].create,
        lambda: reciprocals(np.array([128, 129, 200, 255, 128, 128], object), (8, 19, 3)),
        ("divisor", "o"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
