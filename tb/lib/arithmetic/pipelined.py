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
    *((33, 25, 57), (33, 25, 58), (56, 25, 56), (14, 48, 48), (26, 8, 34)),
)
# Bits of the divisor, of the dividend, of the fraction, of the output, which is all of the quotient
# or the lowest of it. The last are those of triangle setup.
QUOTIENTS = ((4, 6, 3, 8), (5, 13, 0, 9), (20, 9, 12, 12), (12, 3, 1, 2), (49, 57, 24, 56))


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
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
