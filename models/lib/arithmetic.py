# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of products, quotients and beats of an interval: exact integers of any width.

Values are untimed, one function for one pair of operands or for whole sets of them; how many clocks
later they are there is a function of its own.
"""

import numpy as np


def wrap(values: np.ndarray, bits: int) -> np.ndarray:
    """Integers modulo 2^bits, as signed ones. Arrays of objects, which hold any integer."""
    half = 1 << bits - 1
    return (values + half) % (2 * half) - half


def multiply(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """Products modulo 2^bits, signed: ndarray of object.

    Parameters
    ----------
    a, b : array_like of int
        Signed factors, of any width.
    """
    return wrap(np.asarray(a, object) * np.asarray(b, object), bits)


def divide(
    dividend: np.ndarray, divisor: np.ndarray, fraction: int, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """Floors of quotients, signed, modulo 2^bits; and whether they do not fit.

    Parameters
    ----------
    dividend, divisor : array_like of int
        Of any width; divisors above zero.
    fraction : int
        Bits of a quotient below the point of its dividend.
    bits : int

    Returns
    -------
    quotient : ndarray of object
    beyond : ndarray of bool
    """
    exact = np.asarray(dividend, object) * (1 << fraction) // np.asarray(divisor, object)
    quotient = wrap(exact, bits)
    return quotient, quotient != exact


def reciprocal(divisor: np.ndarray, power: int) -> np.ndarray:
    """Floors of 2^power by divisors above zero: ndarray of object."""
    return (1 << power) // np.asarray(divisor, object)


def multiplier_latency(a_bits: int, b_bits: int, bits: int) -> int:
    """Clocks of a product: two, and one for each halving of its partial products.

    Factors are cut into limbs of 17 bits, the highest of which has a sign and up to 18. Partial
    products that lie wholly above ``bits`` are not formed.
    """
    limbs = [max(1, -(-(width - 1) // 17)) for width in (a_bits, b_bits)]
    partial = sum(17 * (i + j) < bits for i in range(limbs[0]) for j in range(limbs[1]))
    return 2 + int(np.ceil(np.log2(partial)))


def turns(count: int, interval: int) -> int:
    """Operands of a set that share one unit, each in a clock of its own: as few units as serve the
    interval, and the set spread over them evenly.
    """
    fewest = min(units for units in range(1, count + 1) if units * interval >= count)
    return min(share for share in range(1, count + 1) if share * fewest >= count)


def shared_multiplier_latency(
    count: int, a_bits: int, b_bits: int, bits: int, interval: int
) -> int:
    """Clocks of a set of products. What takes turns arrives in turns, and then in a register."""
    share = turns(count, interval)
    return multiplier_latency(a_bits, b_bits, bits) + (share if share > 1 else 0)


def divider_latency(count: int, quotient_bits: int, interval: int) -> int:
    """Clocks of a set of quotients.

    With an interval of 1 as many as bits. With a longer one the last dividend enters after the
    clocks that every one before it spends in a stage, and quotients end in a register.
    """
    if interval == 1:
        return quotient_bits
    share = turns(count, interval)
    clocks_a_stage = interval // share
    return quotient_bits + clocks_a_stage * (share - 1) + 1


class IntervalRegister:
    """A beat every ``interval`` clocks at most, which holds until the next one."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._until_next = 0
        self._start = 0
        self._beat = 0

    @property
    def free(self) -> int:
        """The interval of the beat before is over."""
        return int(self._until_next == 0)

    def step(self, valid: int, payload: int, room: int) -> dict[str, int]:
        """One clock: ``ready``, ``accept``, ``start``, and the beat ``o``."""
        ready = int(room and self.free)
        accept = int(valid and ready)
        outputs = {"ready": ready, "accept": accept, "start": self._start, "o": self._beat}
        self._until_next = self._interval - 1 if accept else max(self._until_next - 1, 0)
        self._start = accept
        if accept:
            self._beat = payload
        return outputs
