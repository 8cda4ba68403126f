# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colours: from a shader's channels to bytes."""

import numpy as np

from fixfunc.models.frontend.vertex_formats import LAYOUTS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

SMALL_FLOATS = (10, 11)  # bits of floats that there is no encoder for


def encode(values: np.ndarray, form: Format) -> np.ndarray:
    """Colours as a format stores them.

    Parameters
    ----------
    values : ndarray of float32, or of uint32 for formats of integers, shape (n, 4)
    form : Format

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
        Normalised channels: cut to their range, the nearest, ties away from zero; NaN is 0. Halves:
        the nearest, ties to even. Integers: cut to their range.

    Raises
    ------
    InputError
        A format that has no such channels.

    Source: [fs 3.2.2-3.2.3, 19.1.3].
    """
    layout = LAYOUTS.get(form)
    if layout is None or (
        any(channel.bits in SMALL_FLOATS for channel in layout.channels)
        and (layout.kind == "FLOAT")
    ):
        raise InputError("format", "have channels of integers, halves or float32", form.name)
    word = np.zeros(len(values), object)
    for channel in layout.channels:
        bits = _channel(values[:, channel.register], channel.bits, layout.kind)
        word |= bits.astype(object) << channel.low
    octets = b"".join(int(one).to_bytes(layout.size, "little") for one in word)
    return np.frombuffer(octets, np.uint8).reshape(len(values), layout.size)


def _channel(values, bits, kind):
    """Bits of a channel: int64."""
    mask = (1 << bits) - 1
    if kind == "FLOAT":
        floats = values.astype(np.float32)
        if bits == 32:
            return floats.view(np.uint32).astype(np.int64)
        with np.errstate(over="ignore"):
            return floats.astype(np.float16).view(np.uint16).astype(np.int64)
    if kind == "UINT":
        return np.minimum(values.view(np.uint32).astype(np.int64), mask)
    if kind == "SINT":
        most = mask >> 1
        return np.clip(values.view(np.int32).astype(np.int64), -most - 1, most) & mask
    most = mask if kind == "UNORM" else mask >> 1
    low = 0.0 if kind == "UNORM" else -1.0
    # Exact: a float32 times 16 bits fits float64.
    scaled = np.clip(np.nan_to_num(values, nan=0.0), low, 1).astype(np.float64) * most
    return np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64) & mask
