# SPDX-License-Identifier: BSD-2-Clause
"""Atomic operations on words of memory [fs 7.14.2, 22.17.8-22.17.28].

Lanes that name one word follow each other in the order of their arrays, of which any is legal: each
finds what those before it have made of the word. Prefix sums say so without a loop over lanes.
"""

from typing import NamedTuple

import numpy as np

from fixfunc.models.machine.unordered.images import whole_places
from fixfunc.models.texture.filtering.sampler_state import check_name
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

WORD = 4  # bytes
FORMATS = Format.R32_UINT, Format.R32_SINT  # of views of texels
TYPES = np.uint32, np.int32  # of operands; that of min and max says whether words have a sign
COMPARE_EXCHANGE = "compare_exchange"
# What a word becomes, of itself and an operand: all of these are associative.
JOINS = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "exchange": lambda _word, operand: operand,
}


class Runs(NamedTuple):
    """Lanes sorted by their words: those of one word are a run, in the order of lanes."""

    order: np.ndarray  # int, shape (lanes,): which lane it is
    begins: np.ndarray  # int, shape (words,): the first of each run
    lengths: np.ndarray  # int, shape (words,)

    @property
    def word(self) -> np.ndarray:
        """The run of each lane: int, shape (lanes,)."""
        return np.repeat(np.arange(len(self.begins)), self.lengths)


def offsets_in(
    data: np.ndarray, stride: int, places: np.ndarray, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Words of a buffer of words or of structures.

    Parameters
    ----------
    data : ndarray of uint8
        What the view shows.
    stride : int
        Bytes of a structure; 0: places are bytes, shape of the mask. Others are pairs, the number
        of a structure and a byte within, shape ``(*mask.shape, 2)``.
    places : ndarray of int
    mask : ndarray of bool

    Returns
    -------
    ndarray of bool, ndarray of int64
        Which lanes of the mask name a word, and where these begin, bytes. A byte beyond its
        structure names none: [fs 22.17.8] leaves open what becomes of the buffer then.

    Raises
    ------
    InputError
        Places of another shape or type, bytes that are no multiple of 4 [fs 7.13].
    """
    places = whole_places(places, (*mask.shape, 2) if stride else mask.shape)
    offset = places[..., 1] if stride else places
    if (offset[mask] % WORD).any():
        wrong = int(offset[mask & (offset % WORD != 0)][0])
        raise InputError("places", "be multiples of 4 bytes", wrong)
    inside = mask & (offset >= 0) & (offset <= (stride or len(data)) - WORD)
    if stride:
        number = places[..., 0]
        inside &= (number >= 0) & (number < len(data) // stride)
        offset = number * stride + offset
    return inside, offset[inside]


def check(op: str, mask: np.ndarray, operand: np.ndarray, compared: np.ndarray | None) -> None:
    """Raise ``InputError`` for another operation, or for lanes of another shape or type."""
    check_name("op", op, (*JOINS, COMPARE_EXCHANGE))
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise InputError("mask", "be an array of bool", getattr(mask, "dtype", type(mask)))
    if (compared is not None) != (op == COMPARE_EXCHANGE):
        raise InputError("compared", f"be given for {COMPARE_EXCHANGE} alone", op)
    for name, lanes in (("operand", operand), ("compared", compared)):
        if lanes is None and name == "compared":
            continue
        found = getattr(lanes, "dtype", type(lanes))
        if found not in TYPES or lanes.shape != mask.shape:
            rule = f"be uint32 or int32 of shape {mask.shape}"
            raise InputError(name, rule, f"{found} of {np.shape(lanes)}")


def apply(
    data: np.ndarray,
    offsets: np.ndarray,
    op: str,
    operand: np.ndarray,
    compared: np.ndarray | None = None,
) -> np.ndarray:
    """Change words, lane by lane.

    Parameters
    ----------
    data : ndarray of uint8
        Written in place.
    offsets : ndarray of int64, shape (lanes,)
        Where each lane's word begins, bytes.
    op, operand, compared
        As :func:`check` allows them, of these lanes alone: shape (lanes,).

    Returns
    -------
    ndarray of the operand's type, shape (lanes,)
        What each lane's word was before it.
    """
    order = np.argsort(offsets, kind="stable")
    begins = np.flatnonzero(np.diff(offsets[order], prepend=-1))
    runs = Runs(order, begins, np.diff(begins, append=len(order)))
    octets = offsets[order][begins][:, None] + np.arange(WORD)
    words = data[octets].view(operand.dtype)[:, 0]
    operand = operand[order]
    if op == COMPARE_EXCHANGE:
        after = _exchanged(runs, words, operand, compared[order].view(operand.dtype))
    else:
        after = _joined(runs, JOINS[op], words, operand)
    data[octets] = after[begins + runs.lengths - 1][:, None].view(np.uint8)
    before = np.empty_like(operand)
    before[order[1:]] = after[:-1]
    before[order[begins]] = words
    return before


def _joined(runs, join, words, operand):
    """Words behind each lane: prefix sums, by steps that double."""
    after = operand.copy()
    after[runs.begins] = join(words, operand[runs.begins])
    rank = np.arange(len(after)) - runs.begins[runs.word]
    step = 1
    while step <= rank.max(initial=0):
        joined = join(after[:-step], after[step:])
        after[step:] = np.where(rank[step:] >= step, joined, after[step:])
        step *= 2
    return after


def _exchanged(runs, words, operand, compared):
    """Words behind each lane, of which some exchange.

    A value waits for the next lane that compares with it, whose operand is the next value. So the
    lanes of a word that exchange are links of a chain, and hops that double reach them all.
    """
    count = len(operand)
    lane = np.arange(count)
    first, follower = _waits(runs, words, operand, compared)
    exchanges = np.zeros(count + 1, bool)
    exchanges[first] = True
    follower = np.append(follower, count)
    while (follower < count).any():
        exchanges[follower[exchanges]] = True
        follower = follower[follower]
    last = np.maximum.accumulate(np.where(exchanges[:-1], lane, -1))
    return np.where(last < runs.begins[runs.word], words[runs.word], operand[last])


def _waits(runs, words, operand, compared):
    """The lane that a value waits for: of each word, and of each lane's operand behind it.

    The number of lanes stands for none.
    """
    count = len(operand)
    behind = 1 + np.arange(count)
    word = np.concatenate([runs.word, np.arange(len(words)), runs.word])
    value = np.concatenate([compared, words, operand]).view(np.uint32)
    _, pair = np.unique(word << 32 | value, return_inverse=True)
    pair *= count + 1  # below it, a lane's number
    comes = pair[:count] + behind
    waits = pair[count:] + np.concatenate([np.zeros(len(words), np.int64), behind])
    order = np.argsort(comes)
    at = np.searchsorted(comes[order], waits, "right")
    found = np.append(order, 0)[at]
    is_same = (at < count) & (comes[found] - pair[count:] <= count)
    found = np.where(is_same, found, count)
    return found[: len(words)], found[len(words) :]
