# SPDX-License-Identifier: BSD-2-Clause
"""Transaction elimination: which tiles are in memory already, as their signatures tell."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER, Axi
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.output.display.signature import BITS, following
from fixfunc.rtl.output.display.signature_line import SignatureLine
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import DRAWN, LANES, SIGNED

STEPS = 32 * LANES // TRANSFER


@dataclass(frozen=True)
class TransactionEliminationParams:
    """Shape of a :class:`TransactionElimination`: there is one."""


CONFIGS = {
    "default": TransactionEliminationParams(),
    "tiny": TransactionEliminationParams(),
}
PURPOSE = {  # of each configuration
    "default": "tiles of 8 by 8 colours, 32 bytes a clock",
    "tiny": "for benches: the same",
}


class TransactionElimination(wiring.Component):
    """Tell tiles that have changed from those that are in memory already.

    A tile's signature is the CRC-64 of its 256 bytes. It is compared with that of the tile in its
    place, and replaces it. One tile in 8 clocks, in order; for every line of four signatures memory
    is read once, and written once if one of them is new: those clocks come on top.

    Parameters
    ----------
    params : TransactionEliminationParams

    Members
    -------
    i : In(stream.Signature(layout(DRAWN)))
        Tiles, in any order; in that of their numbers a line is read once.
    o : Out(stream.Signature(layout(SIGNED)))
        The same tiles. Of a frame's last one the beat leaves when memory holds all signatures. If
        one could not be written, all tiles are moved from then on, until reset.
    memory : Out(Axi())
        The tables of signatures.
    """

    def __init__(
        self, params: TransactionEliminationParams = TransactionEliminationParams()
    ) -> None:
        super().__init__(
            {
                "i": In(stream.Signature(layout(DRAWN))),
                "o": Out(stream.Signature(layout(SIGNED))),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.line = line = SignatureLine()
        wiring.connect(m, line.memory, wiring.flipped(self.memory))
        coming = Signal(layout(DRAWN))  # its signature is being computed
        coming_valid = Signal()
        tile = Signal(layout(DRAWN))
        tile_valid = Signal()
        signature = Signal(BITS)
        free = Signal()  # for the next tile
        remainder = Signal(BITS)
        step = Signal(range(STEPS))

        colours = Cat(coming[f"colour{n}"] for n in range(LANES))
        after = named(m, following(m, remainder, colours.word_select(step, TRANSFER)), "after")
        last_step = step == STEPS - 1
        signed = named(m, coming_valid & last_step & free, "signed")
        m.d.comb += self.i.ready.eq(~coming_valid | signed)
        with m.If(coming_valid & (~last_step | free)):
            m.d.sync += [
                step.eq(step + 1),
                remainder.eq(after),
            ]
        with m.If(self.i.ready):
            m.d.sync += [
                coming_valid.eq(self.i.valid),
                coming.eq(self.i.payload),
                remainder.eq(~0),
                step.eq(0),
            ]
        with m.If(signed):
            m.d.sync += [
                tile.eq(coming),
                signature.eq(~after),
            ]
        sent = self._compare(m, line, coming, coming_valid, tile, tile_valid, signature)
        m.d.comb += free.eq(~tile_valid | sent)
        with m.If(free):
            m.d.sync += tile_valid.eq(signed)
        return m

    def _compare(self, m, line, coming, coming_valid, tile, tile_valid, signature):
        """A tile waits for its line; the next one's is fetched as soon as it is not needed."""
        next_line, this_line = ((one.signatures >> 5) + (one.number >> 2) for one in (coming, tile))
        out = self.o.payload
        same = line.stored == signature
        moved = named(m, line.broken | (line.stored == 0) | ~same, "moved")
        error = Signal()
        with m.If(line.error):
            m.d.sync += error.eq(1)
        m.d.comb += [
            line.request.eq(tile_valid | coming_valid),
            line.wanted.eq(Mux(tile_valid, this_line, next_line)),
            line.place.eq(tile.number[:2]),
            line.renewed.eq(signature),
            *(out[f.name].eq(tile[f.name]) for f in SIGNED if f.name in tile.shape().members),
            out.error.eq(error),
        ]
        sent = named(m, self.o.valid & self.o.ready, "sent")
        with m.FSM():
            with m.State("COMPARE"), m.If(tile_valid & line.hit):
                m.d.comb += line.renew.eq(moved)
                m.d.sync += out.moved.eq(moved)
                with m.If(tile.last):
                    m.next = "FLUSH"
                with m.Else():
                    m.next = "SEND"
            with m.State("FLUSH"):
                m.d.comb += [
                    line.request.eq(0),
                    line.flush.eq(1),
                ]
                with m.If(line.flushed):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += [
                    line.request.eq(0),
                    self.o.valid.eq(1),
                ]
                with m.If(sent):
                    m.d.sync += error.eq(0)
                    m.next = "COMPARE"
        return sent
