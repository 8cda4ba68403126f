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
from fixfunc.tb.bench.clocked import Case, Clock, Example, Hit, check

# Widths of factors and product: one limb; several; a product that is cut; those of triangle setup.
PRODUCTS = (
    *((9, 9, 18), (18, 18, 36), (19, 18, 37), (36, 36, 72), (40, 20, 33), (53, 35, 88)),
    *((33, 25, 58), (48, 25, 56), (14, 48, 48), (26, 8, 34)),
)
# Bits of the divisor, of the dividend below it, of the quotient; the last of triangle setup.
QUOTIENTS = ((8, 4, 7), (5, 12, 12), (20, 1, 9), (49, 24, 48))


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
    high: np.ndarray, low: np.ndarray, divisor: np.ndarray, widths: tuple[int, int, int]
) -> list[Clock]:
    """Dividends and divisors, and their quotients a clock a bit later."""
    _, low_bits, bits = widths
    outputs = later(golden.divide(high, low, divisor, low_bits, bits), bits, bits)
    return [
        Clock({"high": int(h), "low": int(v), "divisor": int(d)}, output)
        for h, v, d, output in zip(high, low, divisor, outputs, strict=True)
    ]


def operands(
    rng: np.random.Generator, count: int, widths: tuple[int, int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divisors of any size; dividends that are none, just below the divisor, and between."""
    divisor = np.maximum(rng.integers(1, 1 << widths[0], count) >> rng.integers(0, 8, count), 1)
    divisor[rng.random(count) < 0.05] = 1
    share = rng.choice([0, 1], count) * rng.random(count)
    high = np.where(rng.random(count) < 0.3, divisor - 1, (share * divisor).astype(np.int64))
    return high, rng.integers(0, 1 << widths[1], count), divisor


def random_quotients(
    rng: np.random.Generator, clocks: int, widths: tuple[int, int, int]
) -> list[Clock]:
    """A dividend and its divisor a clock."""
    return quotients(*operands(rng, clocks, widths), widths)


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
        "divider_{}_{}_{}".format(*widths): Case(
            partial(Divider, *widths),
            partial(random_quotients, widths=widths),
            {
                "a divisor of one": equal("divisor", 1),
                "a dividend of zero": equal("high", 0),
                "the largest quotient": lambda trace, n: bool(
                    trace[n].inputs["high"] == trace[n].inputs["divisor"] - 1
                ),
            },
        )
        for widths in QUOTIENTS
    },
}
EXAMPLES = {
    "multiplier_19_18_37": Example(
        CASES["multiplier_19_18_37"].create,
        lambda: products(np.arange(1, 9), np.arange(11, 19), (19, 18, 37)),
        ("a", "b", "o"),
    ),
    "divider_8_4_7": Example(
        CASES["divider_8_4_7"].create,
        lambda: quotients(
            np.array([1, 2, 3] + [0] * 7),
            np.array([5, 0, 1] + [0] * 7),
            np.array([3, 5, 4] + [1] * 7),
            (8, 4, 7),
        ),
        ("high", "low", "divisor", "o"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
