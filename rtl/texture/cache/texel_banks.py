# SPDX-License-Identifier: BSD-2-Clause
"""Texel banks: texels of the first level, by the parity of column and row, a copy a pixel."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, named
from fixfunc.rtl.texture.cache.layouts import (
    FOOTPRINT,
    QUARTERS,
    TEXEL,
    TextureCacheParams,
)
from fixfunc.spec.textures.filter import CORNERS

BANKS = 4  # bank 2 (y & 1) + (x & 1)
IN_WORD = 4  # texels, of which number 2 (y >> 1) + (x >> 1) is texel (x, y)


class TexelBanks(wiring.Component):
    """A copy of the first level for one pixel, whose footprint is read in a clock.

    A word has the four texels of a block that lie in its bank: a block is written in a clock, too.
    Where blocks may take two lines, an upper and a lower half of it are written one by one; where
    textures may be rows of texels, rows are.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    write, block : In(1), In(params.filled)
        A block is written.
    enable : In(1)
        The pipeline moves.
    footprint, slots : In(FOOTPRINT), In(ArrayLayout(params.slot, QUARTERS))
        What is read: each bank is that of one texel of the selected corners at most. A block that
        is written in that clock is not seen.
    texels : Out(ArrayLayout(TEXEL, CORNERS))
        A moving clock later: of the selected corners.
    error : Out(1)
        In that clock: memory failed with a block of theirs.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        half = StructLayout({"texels": ArrayLayout(TEXEL, IN_WORD // params.halves), "error": 1})
        self._word = ArrayLayout(half, params.halves)
        super().__init__(
            {
                "write": In(1),
                "block": In(params.filled),
                "enable": In(1),
                "footprint": In(FOOTPRINT),
                "slots": In(ArrayLayout(params.slot, QUARTERS)),
                "texels": Out(ArrayLayout(TEXEL, CORNERS)),
                "error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        footprint = self.footprint
        addresses = []
        for corner in range(CORNERS):
            quarter = footprint.quarter[corner]
            slot = choose(quarter, [self.slots[n] for n in range(QUARTERS)])
            addresses.append(named(m, Cat(slot, quarter), f"address_{corner}"))
        words = []
        write_enable = self.write
        if self._params.wide and not self._params.linear:
            write_enable = gated(self.block.target.halves, self.write)
        for bank in range(BANKS):
            m.submodules[f"bank_{bank}"] = memory = Memory(
                shape=self._word, depth=self._params.blocks, init=[]
            )
            write = memory.write_port(granularity=1)
            read = memory.read_port()
            address = 0
            for corner in reversed(range(CORNERS)):
                wants = footprint.selected[corner] & (_bank(footprint, corner) == bank)
                address = Mux(wants, addresses[corner], address)
            if self._params.linear:
                rows = self.block.target.rows[bank >> 1 :: 2]
                write_enable = gated(rows, self.write)
            m.d.comb += [
                write.en.eq(write_enable),
                write.addr.eq(Cat(self.block.target.slot, self.block.target.quarter)),
                *(half.error.eq(self.block.error) for half in write.data),
                *(
                    texel.eq(self.block.texels[_texel(bank, n)])
                    for n, texel in enumerate(texel for half in write.data for texel in half.texels)
                ),
                read.en.eq(self.enable),
                read.addr.eq(address),
            ]
            words.append(read.data)
        self._choose(m, words)
        return m

    def _choose(self, m, words):
        """Texels of the corners, from the words of the banks."""
        footprint = Signal(FOOTPRINT)
        with m.If(self.enable):
            m.d.sync += footprint.eq(self.footprint)
        errors = []
        for corner in range(CORNERS):
            bank = _bank(footprint, corner)
            word = Signal(self._word, name=f"word_{corner}")
            row = footprint.y[corner >> 1][1]
            place = Cat(footprint.x[corner & 1][1], row)
            texels = [texel.as_value() for half in word for texel in half.texels]
            m.d.comb += [
                word.eq(choose(bank, [word.as_value() for word in words])),
                self.texels[corner].eq(choose(place, texels)),
            ]
            error = choose(row, [half.error for half in word])
            errors.append(gated(error, footprint.selected[corner]))
        m.d.comb += self.error.eq(Cat(errors).any())


def _bank(footprint, corner):
    return Cat(footprint.x[corner & 1][0], footprint.y[corner >> 1][0])


def _texel(bank, n):
    """Number in its block, 4 y + x, of a bank's texel."""
    x = 2 * (n & 1) + (bank & 1)
    y = 2 * (n >> 1) + (bank >> 1)
    return 4 * y + x
