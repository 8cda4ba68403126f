# SPDX-License-Identifier: BSD-2-Clause
"""What a predicate says of totals that have grown between two queries [fs 20.3.6]."""

from collections.abc import Mapping

import numpy as np

STREAMS = 4


def holds(packet: np.void, grown: Mapping[str, int]) -> bool:
    """Whether samples have passed; or, of an overflow predicate, whether a stream lacked room.

    Parameters
    ----------
    packet : numpy.void
        :data:`fixfunc.spec.ring.PREDICATE`.
    grown : mapping of str to int
        By names of :data:`fixfunc.spec.descriptors.TOTALS`.
    """
    if not packet["overflow"]:
        return grown["samples_passed"] != 0
    streams = [n for n in range(STREAMS) if packet["streams"] >> n & 1]
    return any(grown[f"so_needed_{n}"] != grown[f"so_written_{n}"] for n in streams)
