# SPDX-License-Identifier: BSD-2-Clause
"""Several cards for one picture: frames in turn, parts of the screen, or samples [rtr 23.6.2]."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from fixfunc.models.architecture.frame_work import FrameWork
from fixfunc.models.payload import integer
from fixfunc.models.system.bus import SECOND
from fixfunc.spec.errors import InputError

CARDS = 64


class Way(Enum):
    """Which card draws what of a frame."""

    PARTS = "bands of the screen, one above the other"
    LINES = "every so-manieth line"
    SAMPLES = "all of it, with samples of its own"


@dataclass(frozen=True)
class Frames:
    """Frames that were drawn in turn.

    Parameters
    ----------
    submitted, begin, shown : ndarray of int64, shape (frames,)
        Nanoseconds; a frame is never shown before the one before it.
    """

    submitted: np.ndarray
    begin: np.ndarray
    shown: np.ndarray

    @property
    def rate(self) -> Fraction:
        """Frames a second, from the first that is shown to the last; 0 of fewer than two."""
        span = int(self.shown[-1] - self.shown[0]) if len(self.shown) > 1 else 0
        return Fraction((len(self.shown) - 1) * SECOND, span) if span else Fraction(0)

    @property
    def latency(self) -> np.ndarray:
        """Nanoseconds from the submission of each frame until it is shown."""
        return self.shown - self.submitted


def alternate(times: Sequence[int], cards: int, interval: int = 0) -> Frames:
    """Alternate frame rendering: each card has the whole of every so-manieth frame.

    Parameters
    ----------
    times : sequence of int
        Nanoseconds that a card takes for each frame, in order.
    cards : int
    interval : int
        Nanoseconds from one submission to the next, at the least. A frame is submitted when its
        card is free.
    """
    integer("cards", cards, 1, CARDS)
    integer("interval", interval, 0, 1 << 60)
    free = [0] * cards
    rows = []
    before = -interval
    for number, time in enumerate(times):
        card = number % cards
        begin = max(free[card], before + interval)
        free[card] = begin + integer("time", time, 1, 1 << 48)
        rows.append((begin, begin, free[card]))
        before = begin
    found = np.array(rows, np.int64).reshape(-1, 3)
    return Frames(found[:, 0], found[:, 1], np.maximum.accumulate(found[:, 2]))


@dataclass(frozen=True)
class Split:
    """A frame's work, shared by cards.

    Parameters
    ----------
    triangles : int
        That each card transforms: all of them, wherever they lie.
    fragments : ndarray of int64, shape (cards,)
    moved : int
        Pixels that other cards send to the one with the display.
    """

    triangles: int
    fragments: np.ndarray
    moved: int

    @property
    def speedup(self) -> Fraction:
        """How many times sooner the fragments are done than by one card; 1 of none."""
        total = int(self.fragments.sum())
        return Fraction(total, int(self.fragments.max())) if total else Fraction(1)


def owners(height: int, cards: int, way: Way) -> np.ndarray:
    """The card of each line: int64, shape (height,)."""
    integer("height", height, 1, 1 << 14)
    integer("cards", cards, 1, CARDS)
    if way == Way.SAMPLES:
        raise InputError("way", "share lines", way.name)
    lines = np.arange(height)
    return lines * cards // height if way == Way.PARTS else lines % cards


def split(frame: FrameWork, cards: int, way: Way) -> Split:
    """Share a frame: its lines, or the samples of each pixel, of which each card has as many."""
    if way == Way.SAMPLES:
        fragments = np.full(integer("cards", cards, 1, CARDS), len(frame.fragments))
        moved = (cards - 1) * frame.width * frame.height
        return Split(frame.triangles, fragments, moved)
    card = owners(frame.height, cards, way)
    fragments = np.bincount(card[frame.fragments["y"]], minlength=cards)
    return Split(frame.triangles, fragments, int((card != 0).sum()) * frame.width)


def combine(images: np.ndarray, way: Way) -> np.ndarray:
    """One picture of those of all cards.

    Parameters
    ----------
    images : ndarray of uint8, shape (cards, height, width, channels)
        Of samples: each card's own average.
    way : Way

    Returns
    -------
    ndarray of uint8, shape (height, width, channels)
        Lines of their cards; of samples the mean, halves rounded up.
    """
    if images.ndim != 4 or images.dtype != np.uint8 or not len(images):
        raise InputError("images", "be uint8 of shape (cards, height, width, channels)", images)
    cards = len(images)
    if way == Way.SAMPLES:
        return ((2 * images.sum(0, np.int64) + cards) // (2 * cards)).astype(np.uint8)
    card = owners(images.shape[1], cards, way)
    return images[card, np.arange(len(card))]
