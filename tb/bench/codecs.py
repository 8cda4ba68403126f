# SPDX-License-Identifier: BSD-2-Clause
"""Beats of a codec's own ports: its bench has both of its ways behind one stream."""

from collections.abc import Mapping, Sequence

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.spec.payloads import Field


def own_ports(
    rows: np.ndarray,
    outputs: Mapping[str, np.ndarray],
    to_code: Sequence[Field],
    to_decode: Sequence[Field],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Beats in and out of the codec, by port.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words)
        Packed beats of the bench's stream; bit 0 tells which are decoded.
    outputs : dict of ndarray of uint64
        Packed beats out of it: coded tiles ``o``, decoded ones ``tile``.
    to_code, to_decode : tuple of :class:`fixfunc.spec.payloads.Field`
        Tables of its beats, that bit first.
    """
    decodes = (rows[:, 0] & np.uint64(1)).astype(bool)
    given = {}
    for port, table, chosen in (("i_tile", to_code, ~decodes), ("i_stored", to_decode, decodes)):
        given[port] = codec.pack(codec.unpack(rows[chosen], table, dtype(table)), table[1:])
    return given, {"o_coded": outputs["o"], "o_tile": outputs["tile"]}
