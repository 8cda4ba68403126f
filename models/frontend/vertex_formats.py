# SPDX-License-Identifier: BSD-2-Clause
"""Vertex formats: from bytes to the 32-bit registers of a shader."""

import re
from typing import NamedTuple

import numpy as np

from fixfunc.spec.dxgi import VERTEX_FORMATS, Format

# Registers by a channel's letter; luminance is red, green and blue alike, as D3D9 has it.
REGISTERS = {"R": (0,), "G": (1,), "B": (2,), "A": (3,), "L": (0, 1, 2), "X": ()}
ONE = 0x3F800000  # 1.0
CANONICAL = 0x7FC00000  # NaN


class Channel(NamedTuple):
    register: int  # R, G, B, A: 0 to 3
    low: int  # its lowest bit
    bits: int


class Layout(NamedTuple):
    """What a format's name says."""

    channels: tuple[Channel, ...]
    kind: str  # UNORM, SNORM, UINT, SINT, FLOAT
    size: int  # bytes


def layout(name: str) -> Layout:
    """Channels of a format without blocks, by a name as DXGI forms them, lowest bits first."""
    letters, kind = name.rsplit("_", 1)
    channels = []
    low = 0
    for letter, bits in re.findall(r"([RGBALX])(\d+)", letters):
        channels += [Channel(register, low, int(bits)) for register in REGISTERS[letter]]
        low += int(bits)
    return Layout(tuple(channels), kind, low // 8)


LAYOUTS = {form: layout(form.name) for form in VERTEX_FORMATS}


def defaults(form: Format) -> np.ndarray:
    """What channels read that a format lacks: 0, and for alpha 1 of its kind [fs 19.1.3.3].

    uint32, shape (4,)
    """
    one = 1 if LAYOUTS[form].kind in ("UINT", "SINT") else ONE
    return np.array([0, 0, 0, one], np.uint32)


def decode(data: np.ndarray, form: Format) -> np.ndarray:
    """Elements as a shader sees them.

    Parameters
    ----------
    data : ndarray of uint8, shape (n, LAYOUTS[form].size)
    form : Format

    Returns
    -------
    ndarray of uint32, shape (n, 4)
        Bits of float32, or integers. Normalised integers are correctly rounded. 32-bit channels
        pass bit for bit [fs 8.20]; smaller floats keep denormals, as normal numbers, and infinity;
        NaN becomes the canonical one.

    Source: [fs 3.2.2-3.2.3, 19.1.3].
    """
    layout = LAYOUTS[form]
    registers = np.tile(defaults(form), (len(data), 1))
    for channel in layout.channels:
        registers[:, channel.register] = _convert(
            raw_bits(data, channel), channel.bits, layout.kind
        )
    return registers


def raw_bits(data: np.ndarray, channel: Channel) -> np.ndarray:
    """Bits of a channel, lowest first in memory.

    Parameters
    ----------
    data : ndarray of uint8, shape (..., bytes)
    channel : Channel

    Returns
    -------
    ndarray of uint32, shape (...)
    """
    first = channel.low // 8
    last = (channel.low + channel.bits - 1) // 8
    value = np.zeros(data.shape[:-1], np.uint64)
    for n in range(first, last + 1):
        value |= data[..., n].astype(np.uint64) << np.uint64(8 * (n - first))
    value >>= np.uint64(channel.low - 8 * first)
    return (value & np.uint64((1 << channel.bits) - 1)).astype(np.uint32)


def _convert(raw, bits, kind):
    """A channel as a register."""
    if bits == 32 or kind == "UINT":
        return raw
    signed = (raw << np.uint32(32 - bits)).view(np.int32) >> (32 - bits)
    if kind == "SINT":
        return signed.view(np.uint32)
    if kind == "UNORM":
        # Both are exact, so that the quotient is the nearest.
        return (raw.astype(np.float32) / np.float32((1 << bits) - 1)).view(np.uint32)
    if kind == "SNORM":
        most = (1 << bits - 1) - 1
        return (np.maximum(signed, -most).astype(np.float32) / np.float32(most)).view(np.uint32)
    return small_float(raw, bits)


def small_float(raw: np.ndarray, bits: int) -> np.ndarray:
    """Floats of 16, 11 or 10 bits as bits of float32: five of exponent, those of 16 with a sign.

    Parameters
    ----------
    raw : ndarray of uint32
    bits : int

    Returns
    -------
    ndarray of uint32
    """
    has_sign = bits == 16
    mantissa_bits = bits - 5 - has_sign
    mantissa = raw & np.uint32((1 << mantissa_bits) - 1)
    exponent = raw >> np.uint32(mantissa_bits) & np.uint32(31)
    sign = raw >> np.uint32(bits - 1) << np.uint32(31) if has_sign else np.zeros_like(raw)
    fraction = mantissa << np.uint32(23 - mantissa_bits)
    normal = (exponent + np.uint32(127 - 15)) << np.uint32(23) | fraction
    # Exact: a power of two times a few bits.
    denormal = np.ldexp(mantissa.astype(np.float32), -14 - mantissa_bits).view(np.uint32)
    infinite = np.uint32(0x7F800000)
    value = np.where(exponent == 0, denormal, np.where(exponent == 31, infinite, normal)) | sign
    return np.where((exponent == 31) & (mantissa != 0), np.uint32(CANONICAL), value)
