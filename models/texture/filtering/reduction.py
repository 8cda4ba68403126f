# SPDX-License-Identifier: BSD-2-Clause
"""Reductions: from the texels of a filter to one value.

Each takes texels of a grid, two along every axis: shape (corners, n, channels), of which bit k of a
corner's number is its step along axis k. A cube's grid may lack one texel, beyond a corner.
"""

from collections.abc import Callable, Sequence

import numpy as np

from fixfunc.models.lib import float32

WEIGHT_BITS = 8
ONE = 1 << WEIGHT_BITS  # the sum of two weights
BELOW_ZERO = -5e-324  # a zero of the sign, in float64: above all others below zero


def weights(fractions: Sequence[np.ndarray]) -> np.ndarray:
    """Weights of a grid's corners.

    Parameters
    ----------
    fractions : sequence of ndarray of int64, shape (n,)
        By axis: the weight of the far texel, of 256.

    Returns
    -------
    ndarray of int64, shape (corners, n)
        Their sum is 256 to the power of the axes.
    """
    found = np.ones((1, len(fractions[0])), np.int64)
    for fraction in fractions:
        found = np.concatenate([found * (ONE - fraction), found * fraction])
    return found


class Mean:
    """Exact sums of integers, divided once.

    Parameters
    ----------
    unit : ndarray of float64, shape (channels,)
        What is 1.0.
    axes : int
    lacks : bool
        Texels may be missing: all sums are three times as large.

    A sum has 24 bits of a texel, 8 of weights an axis and 8 between levels, and those of the number
    of samples and of three: 56 at most. The odd part of its divisor is below 2^22, so that no
    quotient lies within 2^-47 of a tie without being one, and what is one has 47 bits at most: by
    float64 it is the nearest float32. (Of R24 with several samples, or on a cube, the odd part has
    30 bits: there it is the quotient in float64, rounded twice.)
    """

    def __init__(self, unit: np.ndarray, axes: int, lacks: bool) -> None:
        self._scale = unit * float(ONE ** (axes + 1)) * (3 if lacks else 1)
        self._lacks = lacks

    def grid(
        self, texels: np.ndarray, fractions: Sequence[np.ndarray], missing: np.ndarray
    ) -> np.ndarray:
        """A level's value: int64, shape (n, channels).

        ``missing``, bool of shape (corners, n), is the mean of the three other texels.
        """
        share = weights(fractions)
        texels = texels.astype(np.int64)
        if self._lacks:
            missing = missing & (share > 0)
            present = np.where(missing[..., None], 0, texels)
            texels = np.where(missing[..., None], present.sum(0), 3 * present)
        return (share[..., None] * texels).sum(0)

    def levels(self, fine: np.ndarray, coarse: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        """A value between two levels."""
        return fine * (ONE - fraction)[:, None] + coarse * fraction[:, None]

    def samples(self, total: np.ndarray, value: np.ndarray, number: int) -> np.ndarray:
        """With the value of one more sample, behind ``number`` others."""
        return total + value if number else value

    def finish(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        """The result of so many samples: float32, shape (n, channels)."""
        return (total / (self._scale * count[:, None])).astype(np.float32)


class Blend:
    """Floats, from one texel towards the next in float32: never beyond either of them.

    a + w (b - a) by one multiply-add, held between a and b: of equal texels it is the texel, and it
    rises with w. Texels that are no finite numbers are weighted each.
    """

    def grid(
        self, texels: np.ndarray, fractions: Sequence[np.ndarray], missing: np.ndarray
    ) -> np.ndarray:
        """A level's value: float32, shape (n, channels). See :meth:`Mean.grid`."""
        if missing.any():
            texels = np.where(missing[..., None], mean_of_three(texels, missing), texels)
        for fraction in fractions:
            share = fraction.astype(np.float32) / np.float32(ONE)
            texels = lerp(texels[0::2], texels[1::2], share[:, None])
        return texels[0]

    def levels(self, fine: np.ndarray, coarse: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        """A value between two levels."""
        return lerp(fine, coarse, (fraction.astype(np.float32) / np.float32(ONE))[:, None])

    def samples(self, total: np.ndarray, value: np.ndarray, number: int) -> np.ndarray:
        """With the value of one more sample: the mean moves towards it."""
        if not number:
            return value
        return lerp(total, value, float32.reciprocal(np.float32(number + 1)))

    def finish(self, total: np.ndarray, _count: np.ndarray) -> np.ndarray:
        """The result."""
        return total


class Extreme:
    """The least, or the greatest, of the texels that have weight [fs 7.18.3].

    Parameters
    ----------
    function : callable
        ``numpy.fmin`` or ``numpy.fmax``, which pass over NaN.
    unit : ndarray of float64, shape (channels,)

    A zero of the sign is less than one without.
    """

    def __init__(self, function: Callable[..., np.ndarray], unit: np.ndarray) -> None:
        self._function = function
        self._unit = unit

    def grid(
        self, texels: np.ndarray, fractions: Sequence[np.ndarray], missing: np.ndarray
    ) -> np.ndarray:
        """A level's value: float64, shape (n, channels). See :meth:`Mean.grid`.

        A missing texel is between the others.
        """
        counts = (weights(fractions) > 0) & ~missing
        found = texels.astype(np.float64)
        found = np.where((found == 0) & np.signbit(found), BELOW_ZERO, found)
        found = np.where(counts[..., None], found, np.nan)
        return self._function.reduce(found, 0)

    def levels(self, fine: np.ndarray, coarse: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        """Of two levels."""
        return np.where(fraction[:, None] > 0, self._function(fine, coarse), fine)

    def samples(self, total: np.ndarray, value: np.ndarray, number: int) -> np.ndarray:
        """With the value of one more sample."""
        return self._function(total, value) if number else value

    def finish(self, total: np.ndarray, _count: np.ndarray) -> np.ndarray:
        """The result: float32."""
        return float32.flush((total / self._unit).astype(np.float32))


def lerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """float32 from a towards b, by a share of 0 to below 1."""
    a, b, share = np.broadcast_arrays(float32.flush(a), float32.flush(b), share)
    step = float32.multiply_add(share, float32.subtract(b, a), a)
    # Between numbers that are equal no bound counts, so that a zero keeps the sign of the step.
    low, high = np.where(b < a, b, a), np.where(b < a, a, b)
    held = np.where(step < low, low, np.where(step > high, high, step))
    # A difference of finite numbers may be infinite: both are weighted then, too.
    apart = float32.multiply_add(
        share, b, float32.multiply(float32.subtract(np.float32(1), share), a)
    )
    is_plain = np.isfinite(step) & np.isfinite(a) & np.isfinite(b)
    return np.where(share == 0, a, np.where(is_plain, held, apart))


def mean_of_three(texels: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Of each grid that lacks a texel the mean of the others: float32, shape (n, channels)."""
    order = np.argsort(missing, 0, kind="stable")
    first, second, third = (
        np.take_along_axis(texels, order[k][None, :, None], 0)[0] for k in range(3)
    )
    both = lerp(first, second, np.float32(0.5))
    return lerp(both, third, float32.reciprocal(np.float32(3)))
