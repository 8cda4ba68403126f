# SPDX-License-Identifier: BSD-2-Clause
"""Formats that a DDS tells by masks: names as DXGI would form them."""

from collections.abc import Sequence

from fixfunc.spec.errors import InputError

HAS_ALPHA = 0x1  # beside colours
ALPHA_ALONE = 0x2
LUMINANCE = 0x20000
SIGNED = 0x80000  # DDPF_BUMPDUDV
NOT_READ = {0x8: "palettes", 0x20: "palettes", 0x200: "YUV", 0x40000: "bumps with luminance"}


def named(flags: int, bits: int, masks: Sequence[int]) -> str:
    """The name of a format of a DDS without a FourCC.

    Parameters
    ----------
    flags : int
        DDPF_*, of which ALPHAPIXELS tells whether the mask of alpha counts.
    bits : int
        Of a texel.
    masks : sequence of int
        Of red, green, blue, alpha. They are taken as they say; some writers swapped red and blue
        of 10:10:10:2, which nothing in the file tells.

    Raises
    ------
    InputError
        Masks that are no channels, or overlap; palettes and YUV.
    """
    for flag, what in NOT_READ.items():
        if flags & flag:
            raise InputError("flags of the format", f"not be those of {what}", hex(flags))
    masks = list(masks)
    if not flags & (HAS_ALPHA | ALPHA_ALONE | SIGNED):
        masks[3] = 0
    if flags & LUMINANCE:
        masks[1:3] = 0, 0
    if bits not in (8, 16, 24, 32):
        raise InputError("bits of a format without FourCC", "be 8, 16, 24 or 32", bits)
    letters = _letters(masks, "L" if flags & LUMINANCE else "R", bits)
    if letters is None:
        shown = ", ".join(hex(mask) for mask in masks)
        raise InputError("masks", f"be channels beside each other in {bits} bits", shown)
    return f"{letters}_{'SNORM' if flags & SIGNED else 'UNORM'}"


def _letters(masks, first, bits):
    """Channels from the lowest bits on, such as B5G5R5X1; None, if they are none."""
    text = ""
    at = 0
    for mask, letter in sorted(zip(masks, f"{first}GBA", strict=True)):
        if not mask:
            continue
        low = (mask & -mask).bit_length() - 1
        width = mask.bit_length() - low
        if low < at or mask >> low != (1 << width) - 1:
            return None
        text += f"X{low - at}" * (low > at) + f"{letter}{width}"
        at = low + width
    if not text or at > bits:
        return None
    return text + f"X{bits - at}" * (at < bits)
