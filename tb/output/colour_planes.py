# SPDX-License-Identifier: BSD-2-Clause
"""Stimuli for several colour planes: draw states and clears of each."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


def spread(
    rng: np.random.Generator,
    rows: np.ndarray,
    planes: int,
    places: int,
    place: int,
    mixes: Callable[[np.random.Generator, np.ndarray], None],
) -> np.ndarray:
    """Give draw states and clears their planes; behind most of them come those of other planes.

    Every plane has ``places`` of its own in memory, of ``place`` bytes. ``mixes`` gives states
    their blending. One beat in thirty is of a plane that there is not.
    """
    out = []
    width = 64 * rows.shape[1]
    for row in rows:
        kind = int(row[0]) & 3
        if kind not in (Kind.STATE, Kind.CLEAR):
            out.append(row[None])
            continue
        fields = payloads.DRAW_STATE if kind == Kind.STATE else payloads.CLEAR
        numbers = [0, *(n for n in range(1, planes) if rng.random() < 0.7)]
        records = np.repeat(codec.unpack(row[None], fields, dtype(fields)), len(numbers))
        records["slot"] = numbers
        if kind == Kind.STATE:
            mixes(rng, records[1:])
        else:
            records["colour"][1:] |= rng.random(len(records) - 1) < 0.7
            records["colour_value"][1:] ^= rng.integers(0, 1 << 32, len(records) - 1, np.uint32)
            records["colour_base"] += places * place * records["slot"].astype(np.uint32)
        if rng.random() < 1 / 30:
            records["slot"][-1] = rng.integers(planes, 1 << 12)
        out.append(codec.pack(records, fields, width)[:, : rows.shape[1]])
    return np.concatenate(out)
