# SPDX-License-Identifier: BSD-2-Clause
"""Texel reads: rounds in order, each when its blocks are there; quads of texels go out."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.layouts import PIXELS, TextureCacheParams
from fixfunc.rtl.texture.cache.texel_banks import TexelBanks
from fixfunc.spec.textures.cache import TEXEL_QUAD, CacheStatus
from fixfunc.spec.textures.filter import CHANNELS, CORNERS


class TexelReads(wiring.Component):
    """Fill the blocks of a round, then read its texels: a round a clock, a line of a block a clock.

    A block is written when all rounds before have been read, since one of them may need what it
    replaces. The next round is filled while the one before is read.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(params.pending))
    filled : In(stream.Signature(params.filled))
        Blocks, or halves of them, in the order of the misses of rounds.
    o : Out(stream.Signature(layout(TEXEL_QUAD)))
        :attr:`LATENCY` clocks behind the last round of a quad at the earliest.
    """

    LATENCY = 3  # filled, read, joined

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(params.pending)),
                "filled": In(stream.Signature(params.filled)),
                "o": Out(stream.Signature(layout(TEXEL_QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(layout(TEXEL_QUAD), places=1)
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        current = Signal(self._params.pending)  # all of its blocks are there
        current_valid = Signal()
        lines = Signal(5)  # of the round being filled
        current_lines = Signal(5)
        filled = Signal(3 + (2 if self._params.linear else bool(self._params.wide)))
        fills = self.i.payload.misses
        if self._params.wide:
            fills = named(m, fills << self.i.payload.wide, "fills")
        if self._params.linear:
            misses = self.i.payload.misses
            fills = named(m, Mux(self.i.payload.linear, misses << 2, fills), "fills_of_rows")
        may_move = named(m, ~current_valid | skid.enable, "may_move")
        wants = named(m, fills - filled != 0, "wants")
        writes = named(m, self.i.valid & may_move & wants & self.filled.valid, "writes")
        ends = named(m, ~wants | (writes & (filled + 1 == fills)), "filled_all")
        moves = named(m, self.i.valid & may_move & ends, "moves")
        read_lines = named(m, lines + (writes & self.filled.payload.fetched), "read_lines")
        m.d.comb += [
            self.filled.ready.eq(self.i.valid & may_move & wants),
            self.i.ready.eq(may_move & ends),
        ]
        with m.If(may_move):
            m.d.sync += [
                current_valid.eq(moves),
                current.eq(self.i.payload),
                current_lines.eq(read_lines),
                filled.eq(Mux(moves, 0, filled + writes)),
                lines.eq(Mux(moves, 0, read_lines)),
            ]
        self._read(m, current, current_valid, current_lines, writes, skid)
        return m

    def _read(self, m, current, current_valid, current_lines, writes, skid):
        """Texels of a round, two clocks later, beside those of the rounds before of its quad."""
        read = Signal.like(current)
        read_lines = Signal.like(current_lines)
        read_valid = Signal()
        quad = Signal(layout(TEXEL_QUAD))
        complete = Signal()
        errors = []
        with m.If(skid.enable):
            m.d.sync += [
                read.eq(current),
                read_lines.eq(current_lines),
                read_valid.eq(current_valid),
                complete.eq(read_valid & read.last),
            ]
        moves = named(m, skid.enable & read_valid, "joins")
        for pixel in range(PIXELS):
            m.submodules[f"banks_{pixel}"] = banks = TexelBanks(self._params)
            m.d.comb += [
                banks.write.eq(writes),
                banks.block.eq(self.filled.payload),
                banks.enable.eq(skid.enable),
                banks.footprint.eq(current.reads[pixel]),
                banks.slots.eq(current.slots),
            ]
            errors.append(banks.error)
            footprint = read.reads[pixel]
            with m.If(moves):
                m.d.sync += [quad[f"{axis}{pixel}"].eq(footprint[axis]) for axis in "uv"]
            for corner in range(CORNERS):
                with m.If(moves & (read.first | footprint.selected[corner])):
                    m.d.sync += [
                        quad[f"t{pixel}_{corner}_{n}"].eq(
                            Mux(footprint.selected[corner], banks.texels[corner][n], 0)
                        )
                        for n in range(len(CHANNELS))
                    ]
        failed = named(m, Value.cast(errors[0] | errors[1] | errors[2] | errors[3]), "failed")
        with m.If(moves):
            for name, count in (
                ("lookups", read.lookups),
                ("misses", read.misses),
                ("lines", read_lines),
            ):
                # A block of one line brings one at most.
                bits = len(quad[name] if self._params.halves > 1 else quad.lookups)
                total = Mux(read.first, 0, quad[name]) + count
                m.d.sync += quad[name].eq(total[:bits])
            with m.If(read.refused):
                m.d.sync += quad.status.eq(CacheStatus.FORMAT)
            with m.Elif(failed):
                m.d.sync += quad.status.eq(CacheStatus.MEMORY)
            with m.Elif(read.first):
                m.d.sync += quad.status.eq(CacheStatus.OKAY)
        m.d.comb += [
            skid.push.eq(complete),
            skid.i.eq(quad),
        ]
