# SPDX-License-Identifier: BSD-2-Clause
"""Fragments that are shaded though nobody sees them: early depth test, pixel kill, deferral."""

from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

DEPTHS = 1 << 32
PIXELS = 1 << 28  # that there may be, so that a pixel and a depth fit one integer of 64 bits


@dataclass(frozen=True)
class Shading:
    """What comes of fragments.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Fragments that the early depth test lets through.
    shaded : ndarray of bool, shape (n,)
        Fragments of these that are shaded.
    """

    passed: np.ndarray
    shaded: np.ndarray


def shading(
    pixels: np.ndarray,
    depths: np.ndarray,
    opaque: np.ndarray,
    window: int | None = 0,
    clear: int = DEPTHS - 1,
) -> Shading:
    """Which of a tile's, or a frame's, fragments are shaded.

    A fragment passes if it is nearer than all opaque ones before it at its pixel; an opaque one
    that passes hides what is below it. One that waits for its shader when an opaque one of its
    pixel passes is killed.

    Parameters
    ----------
    pixels : ndarray of int, shape (n,)
        Number of each fragment's pixel, in drawing order.
    depths : ndarray of int, shape (n,)
        0 to 2^32 - 1; less is nearer.
    opaque : ndarray of bool, shape (n,)
        Others do not write depths, and hide nothing.
    window : int or None
        Fragments that wait, first in, first out: 0 is the early depth test alone, any other number
        forward pixel kill, None deferred shading, of which nothing is shaded before all fragments
        are there [rtr 23.10.3].
    clear : int
        Depth of the clear.
    """
    pixels = np.asarray(pixels, np.int64)
    depths = np.asarray(depths, np.int64)
    opaque = np.asarray(opaque, bool)
    if pixels.ndim != 1 or not pixels.shape == depths.shape == opaque.shape:
        raise InputError("depths and opaque", f"have shape {pixels.shape}", depths.shape)
    for name, values, end in (("pixels", pixels, PIXELS), ("depths", depths, DEPTHS)):
        if values.min(initial=0) < 0 or values.max(initial=0) >= end:
            raise InputError(name, f"lie in 0..{end - 1}", int(values.max()))
    integer("clear", clear, 0, DEPTHS - 1)
    if window is not None:
        integer("window", window, 0, 1 << 30)
    passed = _passed(pixels, depths, opaque, clear)
    shaded = passed.copy()
    hidden = _next_opaque(pixels[passed], opaque[passed])
    killed = hidden < len(hidden)
    if window is not None:
        killed &= hidden - np.arange(len(hidden)) <= window
    shaded[passed] = ~killed
    return Shading(passed, shaded)


def _passed(pixels, depths, opaque, clear):
    """Nearer than the clear, and than the nearest opaque fragment before, of the same pixel."""
    order = np.argsort(pixels, kind="stable")
    pixel = pixels[order]
    # Minima of one pixel end where the next one begins: pixels that come later count as nearer.
    nearest = np.where(opaque[order], np.minimum(depths[order], clear), clear) - pixel * DEPTHS
    before = np.minimum.accumulate(nearest)[:-1] + pixel[1:] * DEPTHS
    least = np.full(len(order), clear)
    least[1:] = np.where(pixel[1:] == pixel[:-1], before, clear)
    found = np.empty(len(order), bool)
    found[order] = depths[order] < least
    return found


def _next_opaque(pixels, opaque):
    """Place of the next opaque fragment of the same pixel; the number of fragments: none."""
    count = len(pixels)
    order = np.argsort(pixels, kind="stable")
    pixel = pixels[order]
    places = np.where(opaque[order], order, count) + pixel * (count + 1)
    behind = np.minimum.accumulate(places[::-1])[::-1][1:] - pixel[:-1] * (count + 1)
    found = np.full(count, count)
    found[order[:-1]] = np.where(pixel[1:] == pixel[:-1], behind, count)
    return found
