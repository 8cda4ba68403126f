# SPDX-License-Identifier: BSD-2-Clause
"""Means of colours in memory, as resolves and smaller levels take them."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.output.formats import RENDERABLE, colour_format, load, store
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

# Formats that have means: integers have none [fs 19.1.4].
AVERAGED = tuple(form for form in RENDERABLE if colour_format(form).kind not in ("UINT", "SINT"))


def check(form: Format) -> None:
    """Raise ``InputError`` for a format without means."""
    if form not in AVERAGED:
        raise InputError("format of a mean", "be UNORM, SNORM or FLOAT", Format(form).name)


def mean(texels: np.ndarray, form: Format) -> np.ndarray:
    """Means of texels.

    Parameters
    ----------
    texels : ndarray of uint8, shape (..., k, bytes)
        k is a power of two.
    form : Format

    Returns
    -------
    ndarray of uint8, shape (..., bytes)
        Integers: exact sums, rounded once to the nearest, ties up; of sRGB in linear light. Floats:
        shares of the mean, added one after the other in float32, so that the mean of finite values
        is finite; towards zero in the format at the end.

    Raises
    ------
    InputError
        A format of integers, or one that is no target's.
    """
    check(form)
    *shape, count, size = texels.shape
    colours = colour_format(form)
    values = load(texels.reshape(-1, size), colours).reshape(-1, count, 4)
    if colours.kind == "FLOAT":
        shares = float32.multiply(values, np.float32(1 / count))
        result = shares[:, 0]
        for n in range(1, count):
            result = float32.add(result, shares[:, n])
    else:
        result = (2 * values.sum(1) + count) // (2 * count)
    return store(result, colours).reshape(*shape, size)


def halved(texels: np.ndarray, form: Format) -> np.ndarray:
    """The next smaller level of one: means of eight, four or two texels.

    Parameters
    ----------
    texels : ndarray of uint8, shape (depth, rows, columns, 1, bytes)
    form : Format

    Returns
    -------
    ndarray of uint8, of such a shape
        The last of an odd number along an axis is left out, unless it is the only one.
    """
    parts = [texels]
    for axis in range(3):
        side = texels.shape[axis]
        if side > 1:
            ends = [np.arange(n, side // 2 * 2, 2) for n in (0, 1)]
            parts = [np.take(part, end, axis) for end in ends for part in parts]
    return mean(np.stack(parts, 4), form)
