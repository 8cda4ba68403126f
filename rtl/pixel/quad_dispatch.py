# SPDX-License-Identifier: BSD-2-Clause
"""Quad dispatch: tiles become quads of pixels to shade."""

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, lowest, named, number
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.errors import InputError
from fixfunc.spec.points import QUAD, QUAD_SAMPLES, quad_tile


@dataclass(frozen=True)
class QuadDispatchParams:
    """Shape of a :class:`QuadDispatch`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4, whose tiles have at most 4 samples a pixel.
    """

    edge: int = 8

    def __post_init__(self):
        if self.edge not in (4, 8):
            raise InputError("edge", "be 4 or 8", self.edge)

    @property
    def modes(self) -> range:
        """log2 of the samples that a pixel may have: a tile holds quads."""
        return range(len([y for _, y in SHAPES if self.edge >> y >= 2]))


CONFIGS = {"default": QuadDispatchParams(), "tiny": QuadDispatchParams(edge=4)}
PURPOSE = {  # of each configuration
    "default": "tiles of 8x8, up to 8 samples a pixel",
    "tiny": "for benches: tiles of 4x4, up to 4 samples a pixel",
}


class QuadDispatch(wiring.Component):
    """Quads of tiles that have a sample to shade, row by row; one a clock.

    With ``by_sample`` a quad goes out for each sample that one of its pixels has, in the order of
    samples. Quads without a sample cost nothing; a tile without any takes a clock. From a tile to
    its first quad :attr:`LATENCY` clocks at the earliest.

    Parameters
    ----------
    params : QuadDispatchParams

    Members
    -------
    i : In(stream.Signature(layout(quad_tile(params.edge))))
    o : Out(stream.Signature(layout(QUAD)))
    """

    LATENCY = 3

    def __init__(self, params: QuadDispatchParams = CONFIGS["default"]) -> None:
        self._params = params
        self._tile = layout(quad_tile(params.edge))
        super().__init__(
            {
                "i": In(stream.Signature(self._tile)),
                "o": Out(stream.Signature(layout(QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        coming = Signal(self._tile)  # its lanes in the order of quads
        coming_valid = Signal()
        tile = Signal(self._tile)
        pending = Signal(self._params.edge**2 // 4)  # quads, or samples of quads, still to go out
        moves = Signal()  # the quad that is put out may change
        ends = Signal()  # so does the tile
        following = named(m, lowest(pending), "following")
        m.d.comb += [
            moves.eq(~self.o.valid | self.o.ready),
            ends.eq((pending == 0) | (moves & (pending == following))),
            self.i.ready.eq(~coming_valid | ends),
        ]
        with m.If(self.i.ready):
            m.d.sync += [
                coming.eq(self.i.payload),
                coming.mask.eq(self._in_quads(m, "mask")),
                coming.covered.eq(self._in_quads(m, "covered")),
                coming_valid.eq(self.i.valid),
            ]
        with m.If(ends):
            m.d.sync += [
                tile.eq(coming),
                pending.eq(gated(self._slots(coming), coming_valid)),
            ]
        with m.Elif(moves):
            m.d.sync += pending.eq(pending & ~following)
        with m.If(moves):
            m.d.sync += self.o.valid.eq(pending.any())
            self._put(m, tile, named(m, number(following), "slot"), pending == following)
        return m

    def _shape(self, samples):
        """log2 of columns and rows of quads of a tile."""
        x, y = SHAPES[samples]
        edge = self._params.edge.bit_length() - 2
        return edge - x, edge - y

    def _of_mode(self, samples, options):
        """The option of as many samples a pixel."""
        return Array(options)[samples] if len(options) > 1 else options[0]

    def _in_quads(self, m, name):
        """Lanes of a tile, quad by quad, pixel by pixel, sample by sample."""
        edge = self._params.edge
        lanes = self.i.payload[name]
        options = []
        for samples in self._params.modes:
            x_bits, y_bits = SHAPES[samples]
            columns, rows = self._shape(samples)
            options.append(
                Cat(
                    lanes[
                        ((2 * j + dy << y_bits) + (s >> x_bits)) * edge
                        + (2 * i + dx << x_bits)
                        + (s & (1 << x_bits) - 1)
                    ]
                    for j in range(1 << rows)
                    for i in range(1 << columns)
                    for dy in (0, 1)
                    for dx in (0, 1)
                    for s in range(1 << samples)
                )
            )
        return named(m, self._of_mode(self.i.payload.samples, options), f"{name}_in_quads")

    def _slots(self, tile):
        """Which quads go out, each at the number of its first sample, or which of their samples."""
        options = []
        for samples in self._params.modes:
            count = 1 << samples
            slots = []
            for first in range(0, self._params.edge**2, 4 * count):
                by_sample = [
                    tile.mask[first + s : first + 4 * count : count].any() for s in range(count)
                ]
                whole = [Cat(by_sample).any(), *[Const(0, 1)] * (count - 1)]
                slots += [Mux(tile.by_sample, *pair) for pair in zip(by_sample, whole, strict=True)]
            options.append(Cat(slots))
        return self._of_mode(tile.samples, options)

    def _put(self, m, tile, slot, last):
        """A quad of the tile goes out."""
        out = self.o.payload
        places = []
        lanes = {name: [] for name in ("mask", "covered")}
        for samples in self._params.modes:
            columns, rows = self._shape(samples)
            quad = slot[samples:]
            x = Cat(Const(0, 1), quad[:columns])
            y = Cat(Const(0, 1), quad[columns : columns + rows])
            own_x, own_y = Cat(x, tile.x), Cat(y, tile.y)
            places.append(Cat(own_x[: len(out.x)], Const(0, max(0, 14 - len(own_x))), own_y))
            for name, options in lanes.items():
                bits = tile[name].word_select(quad[: columns + rows], 4 << samples)
                options.append(_apart(bits, samples))
        sample = slot & (Const(1) << tile.samples) - 1
        m.d.sync += [
            *(out[name].eq(tile[name]) for name in ("slot", "samples", "by_sample", "back")),
            Cat(out.x, out.y).eq(self._of_mode(tile.samples, places)),
            out.sample.eq(gated(sample, tile.by_sample)),
            out.last.eq(last),
            out.covered.eq(self._of_mode(tile.samples, lanes["covered"])),
        ]
        own = gated(Const(1) << sample[:3], tile.by_sample) | Mux(tile.by_sample, 0, 255)
        mask = self._of_mode(tile.samples, lanes["mask"])
        m.d.sync += out.mask.eq(mask & Cat([own[:QUAD_SAMPLES]] * 4))


def _apart(bits, samples):
    """Pixels with as many samples, each in its eight bits."""
    count = 1 << samples
    missing = Const(0, QUAD_SAMPLES - count) if count < QUAD_SAMPLES else Cat()
    return Cat(part for n in range(4) for part in (bits[n * count : (n + 1) * count], missing))
