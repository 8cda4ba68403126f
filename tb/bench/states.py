# SPDX-License-Identifier: BSD-2-Clause
"""Beats of a stream on which a STATE holds for what comes behind it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.spec.payloads import Field


class Parted(NamedTuple):
    """States, the other beats, and the state of each of these."""

    states: np.ndarray  # structured, shape (s,)
    beats: np.ndarray  # structured, shape (n,)
    state_of: np.ndarray  # intp, shape (n,)


def parted(rows: np.ndarray, states: Sequence[Field], beats: Sequence[Field]) -> Parted:
    """Packed beats by their tables: bit 0 is 0 of a STATE, which comes first, and 1 of others."""
    is_beat = (rows[:, 0] & np.uint64(1)) == 1
    return Parted(
        codec.unpack(rows[~is_beat], states, dtype(states)),
        codec.unpack(rows[is_beat], beats, dtype(beats)),
        (np.cumsum(~is_beat) - 1)[is_beat],
    )
