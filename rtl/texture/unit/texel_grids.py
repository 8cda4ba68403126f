# SPDX-License-Identifier: BSD-2-Clause
"""Texel grids: texels with borders and weights, for the filter."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, choose, gated, maximum, named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.cache.formats import SIGNED, UNBLOCKED, UNIT, format_of
from fixfunc.rtl.texture.filter.filter import BEATS
from fixfunc.rtl.texture.unit.layouts import (
    COUNTS,
    PIXELS,
    TextureUnitParams,
    among_words,
    refused,
)
from fixfunc.rtl.texture.unit.references import STORED
from fixfunc.rtl.texture.unit.state_rows import ASKING, found
from fixfunc.spec.textures.cache import FLOATS, TEXEL_QUAD, StoredFormat
from fixfunc.spec.textures.filter import CHANNELS, CORNERS, FilterKind, Unit
from fixfunc.spec.textures.unit import TEXTURED_QUAD, TextureKind

COUNTED = ("lookups", "misses", "lines")
FEW = 6  # bits: two grids of 16 taps
OUTCOME = layout(TEXTURED_QUAD[: 1 + len(COUNTED)])
UNITS = {16: Unit.UNORM16, 12: Unit.UNORM12, 10: Unit.UNORM10}
SIGNED_UNITS = {16: Unit.SNORM15, 8: Unit.SNORM14}


def units(form: StoredFormat) -> list[Unit]:
    """Units of the channels of a format; of those that it lacks, that of alpha which is 1."""
    if form in FLOATS:
        return [Unit.HALF] * len(CHANNELS)
    if form in SIGNED:
        channels = SIGNED[form].channels
        return [SIGNED_UNITS[channel.bits if channel else 16] for channel in channels]
    if form in UNBLOCKED:
        channels = UNBLOCKED[form].channels
        return [UNITS[UNIT[channel.bits] if channel else 16] for channel in channels]
    return [Unit.SNORM15 if form.name.endswith("SNORM") else Unit.UNORM16] * len(CHANNELS)


class TexelGrids(wiring.Component):
    """Joins weights and texels of grids; adds up what became of each quad.

    A grid a clock; combinational.

    Parameters
    ----------
    params : TextureUnitParams
        Units of its formats are known; of others 16 bits.

    Members
    -------
    i : In(stream.Signature(params.beats.weights))
    texels : In(stream.Signature(layout(TEXEL_QUAD)))
        Of the grids of ``i``.
    references : In(stream.Signature(STORED))
        Of the quads of ``i``; where formats are compared.
    counts : In(stream.Signature(COUNTS))
        Numbers of samples of the quads of ``i``; with footprints.
    asking, found, taken : Out(ASKING), In(found(params.state)), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    filter : Out(stream.Signature(BEATS))
    outcome : Out(stream.Signature(OUTCOME))
        Of each quad, with its end.
    """

    def __init__(self, params: TextureUnitParams) -> None:
        self._params = params
        self._formats = params.stored.formats
        self._compared = params.compared
        beside = {"references": In(stream.Signature(STORED))} if params.compared else {}
        beside |= {"counts": In(stream.Signature(COUNTS))} if params.footprints else {}
        super().__init__(
            {
                "i": In(stream.Signature(params.beats.weights)),
                "texels": In(stream.Signature(layout(TEXEL_QUAD))),
                **beside,
                "asking": Out(ASKING),
                "found": In(found(params.state)),
                "taken": Out(1),
                "filter": Out(stream.Signature(BEATS)),
                "outcome": Out(stream.Signature(OUTCOME)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        grid = self.i.payload
        state = self.found.state
        is_grid = named(m, grid.kind == TextureKind.QUAD, "is_grid")
        border = [Signal(16, name=f"border_{name}") for name in CHANNELS]
        is_half = Signal()
        out = self.filter.payload
        m.d.comb += [
            self.asking.row.eq(grid.row),
            self.asking.valid.eq(self.i.valid & ~is_grid),
        ]
        with m.If(is_grid):
            self._add_texels(m, border, out.taps)
            if self._params.corners:
                self._add_corners(m, is_half, out.taps)
            self._move(m)
        with m.Else():
            m.d.comb += [
                *carried(out.state, state),
                out.state.kind.eq(FilterKind.STATE),
                out.state.floats.eq(state.format == StoredFormat.R32_FLOAT),
                out.state.compares.eq(state.compares & ~refused(state, self._params)),
                *self._units(out.state, state),
                self.taken.eq(move_together(m, (self.i,), (self.filter,), self.found.valid)),
            ]
            with m.If(self.taken):
                m.d.sync += is_half.eq(among(format_of(state), self._params.halves))
                for value, name in zip(border, CHANNELS, strict=True):
                    m.d.sync += value.eq(state[f"border_{name}"])
        return m

    def _units(self, out, state):
        """Units of the format of a state."""
        form = format_of(state)
        bits = self._params.stored.format
        known = {option: units(option) for option in self._formats}
        are_words = among_words(state, self._params)
        for n, name in enumerate(CHANNELS):
            options = [known[k][n] if k in known else Unit.UNORM16 for k in range(1 << bits)]
            unit = choose(form[:bits], options)
            if are_words[n:]:
                unit = Mux(are_words[n], Unit.WORD, unit)
            yield out[f"unit_{name}"].eq(unit)

    def _add_texels(self, m, border, taps):
        grid, texels = self.i.payload, self.texels.payload
        m.d.comb += [
            *carried(taps, texels),
            taps.kind.eq(FilterKind.TAPS),
            taps.end.eq(grid.end),
        ]
        for pixel in range(PIXELS):
            own = grid.pixels[pixel]
            count = self.counts.payload[pixel] if self._params.footprints else 1
            if self._params.cubes:
                count = Mux(own.tripled, 3, count)
            m.d.comb += [
                taps[f"weight{pixel}"].eq(own.weight),
                taps[f"count{pixel}"].eq(count),
            ]
            if self._compared:
                m.d.comb += taps[f"reference{pixel}"].eq(self.references.payload[pixel])
            for corner in range(CORNERS):
                for n, value in enumerate(border):
                    texel = f"t{pixel}_{corner}_{n}"
                    m.d.comb += taps[texel].eq(Mux(own.borders[corner], value, texels[texel]))

    def _add_corners(self, m, is_half, taps):
        """Of halves one grid counts, and says what it lacks."""
        grid = self.i.payload
        for pixel in range(PIXELS):
            own = grid.pixels[pixel]
            m.d.comb += [
                taps[f"missing{pixel}"].eq(gated(own.missing, is_half)),
                taps[f"weight{pixel}"].eq(gated(own.weight, ~(is_half & grid.copy))),
            ]

    def _move(self, m):
        """A grid moves: what became of its quad goes with the last of them."""
        texels = self.texels.payload
        earlier = Signal(OUTCOME)
        total = self.outcome.payload
        # Without footprints a quad has two grids at most.
        bits = (
            len(total.lookups)
            if self._params.footprints
            else FEW + (self._params.stored.halves > 1)
        )
        m.d.comb += [
            total.status.eq(maximum(earlier.status, texels.status)),
            *(total[name].eq((earlier[name] + texels[name])[:bits]) for name in COUNTED),
        ]
        ending = [self.references] if self._compared else []
        ending += [self.counts] if self._params.footprints else []
        # They stay until the last grid of their quad.
        known = self.references.valid if self._compared else 1
        with m.If(self.i.payload.end):
            moves = move_together(m, (self.i, self.texels, *ending), (self.filter, self.outcome))
            with m.If(moves):
                m.d.sync += earlier.eq(0)
        with m.Else():
            moves = move_together(m, (self.i, self.texels), (self.filter,), known)
            with m.If(moves):
                m.d.sync += earlier.eq(total)
