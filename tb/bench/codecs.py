# SPDX-License-Identifier: BSD-2-Clause
"""Codecs, both of whose ways their benches have behind one stream."""

from collections.abc import Mapping, Sequence

import numpy as np
from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.spec.payloads import Field


class BothWays(wiring.Component):
    """A codec behind one stream.

    Parameters
    ----------
    unit : Component
        With ``i_tile`` and ``o_coded``, ``i_stored`` and ``o_tile``.
    width : int
        Bits of a beat: whether it is decoded, and what goes in.

    Members
    -------
    i : In(stream.Signature(width))
    o, tile : Out(stream.Signature(...))
        Coded and decoded tiles.
    """

    def __init__(self, unit: wiring.Component, width: int) -> None:
        self._unit = unit
        coded, tile = (port.payload.shape() for port in (unit.o_coded, unit.o_tile))
        super().__init__(
            {
                "i": In(stream.Signature(width)),
                "o": Out(stream.Signature(coded)),
                "tile": Out(stream.Signature(tile)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = self._unit
        decodes = self.i.payload[0]
        body = self.i.payload[1:]
        m.d.comb += [
            unit.i_tile.payload.eq(body),
            unit.i_stored.payload.eq(body),
            unit.i_tile.valid.eq(self.i.valid & ~decodes),
            unit.i_stored.valid.eq(self.i.valid & decodes),
            self.i.ready.eq(Mux(decodes, unit.i_stored.ready, unit.i_tile.ready)),
        ]
        wiring.connect(m, unit.o_coded, wiring.flipped(self.o))
        wiring.connect(m, unit.o_tile, wiring.flipped(self.tile))
        return m


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
