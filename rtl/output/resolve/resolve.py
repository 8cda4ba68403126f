# SPDX-License-Identifier: BSD-2-Clause
"""Resolve: a surface of several samples a pixel becomes one of pixels."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi, join
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.surface.tile_counts import TileCounts
from fixfunc.rtl.memory.tile_cache.refill import RefillUnit
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.differences.colour_order import ColourOrder
from fixfunc.rtl.output.resolve.averages import Averages
from fixfunc.rtl.output.resolve.source_tiles import SourceTiles
from fixfunc.rtl.output.resolve.target_tiles import TargetTiles
from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.colours import EDGE, LANES, RESOLVE, RESOLVED, WORDS
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR, TILE_NUMBER
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT


@dataclass(frozen=True)
class ResolveParams:
    """Shape of a :class:`Resolve`.

    Parameters
    ----------
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    reads : int
        Most reads in flight, a power of two above 2.
    srgb : bool
        sRGB is averaged as linear colours; else it is refused.
    """

    samples: int = 8
    reads: int = 16
    srgb: bool = False

    def __post_init__(self):
        if self.samples not in SAMPLE_COUNTS:
            names = ", ".join(map(str, SAMPLE_COUNTS))
            raise InputError("samples", f"be one of {names}", self.samples)
        if self.reads < 3 or self.reads & self.reads - 1:
            raise InputError("reads", "be a power of two above 2", self.reads)

    @property
    def most(self) -> int:
        """log2 of the most samples of a pixel."""
        return self.samples.bit_length() - 1


CONFIGS = {
    "default": ResolveParams(),
    "srgb": ResolveParams(srgb=True),
    "tiny": ResolveParams(samples=2, reads=4),
    "tiny_srgb": ResolveParams(samples=2, reads=4, srgb=True),
}
PURPOSE = {  # of each configuration
    "default": "up to 8 samples a pixel",
    "srgb": "the same, and sRGB as linear colours",
    "tiny": "for benches: up to 2 samples",
    "tiny_srgb": "the same, and sRGB as linear colours",
}


class Resolve(wiring.Component):
    """Average the samples of each pixel, from coded tiles to coded tiles.

    A sample has four bytes, alpha the highest: UNORM or sRGB.

    One tile of samples a clock, as far as memory keeps up; one by differences takes four to be
    decoded, four to be coded. One surface after the other. The target and its mode table are
    written as a whole. After an error nothing is read or written any more, until the next request.

    Parameters
    ----------
    params : ResolveParams

    Members
    -------
    i : In(stream.Signature(layout(RESOLVE)))
        What is to be resolved.
    o : Out(stream.Signature(layout(RESOLVED)))
        It is done, and memory holds the target; or ``error``, one of
        :class:`fixfunc.spec.colours.ResolveError`.
    memory : Out(Axi())

    Source: [fs 5.6.6, 19.2.4].
    """

    def __init__(self, params: ResolveParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(RESOLVE))),
                "o": Out(stream.Signature(layout(RESOLVED))),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        request = Signal(layout(RESOLVE))
        begin = Signal()
        error = Signal(len(self.o.payload.error))
        stopped = named(m, error.any(), "stopped")
        m.submodules.source = source = SourceTiles(p.most)
        m.submodules.refill = refill = RefillUnit(Surface(EDGE, COLOUR, True), p.reads)
        m.submodules.decoder = decoder = ColourDecoder(ColourOrder(p.samples))
        m.submodules.averages = averages = Averages(p.most, p.srgb)
        m.submodules.target = target = TargetTiles()
        wiring.connect(m, source.line_request, refill.line_request)
        wiring.connect(m, refill.fetched, source.fetched)
        wiring.connect(m, source.o, refill.i)
        wiring.connect(m, averages.o, target.i)
        join(m, self.memory, refill.memory, target.memory)
        self._decode(m, request, refill, decoder, averages)
        m.d.comb += [
            source.samples.eq(request.samples),
            averages.samples.eq(request.samples),
            refill.base.eq(request.source),
            target.base.eq(request.target),
            target.cleared.eq(request.target_cleared),
            *(unit.begin.eq(begin) for unit in (source, target)),
            *(unit.stopped.eq(stopped) for unit in (refill, target)),
        ]
        ready, too_many = self._count(m, request, source, refill, target)
        self._control(m, request, begin, error, ready, too_many, target)
        wrong = decoder.o.valid & decoder.o.ready & decoder.o.payload.wrong
        with m.If(refill.error):
            m.d.sync += error[0].eq(1)
        with m.If(target.error):
            m.d.sync += error[1].eq(1)
        with m.If(wrong):
            m.d.sync += error[2].eq(1)
        return m

    def _decode(self, m, request, refill, decoder, averages):
        """Tiles from memory become tiles of samples."""
        stored = decoder.i.payload
        tile = decoder.o.payload
        m.d.comb += [
            decoder.i.valid.eq(refill.o.valid),
            refill.o.ready.eq(decoder.i.ready),
            stored.samples.eq(request.samples),
            stored.cleared.eq(request.source_cleared),
            stored.code.eq(refill.o.payload.mode),
            *(stored[f"data{n}"].eq(refill.o.payload[f"data{n}"]) for n in range(WORDS)),
            averages.srgb.eq(request.srgb),
            averages.i.valid.eq(decoder.o.valid),
            decoder.o.ready.eq(averages.i.ready),
            *(averages.i.payload[n].eq(tile[f"colour{n}"]) for n in range(LANES)),
        ]

    def _count(self, m, request, source, refill, target):
        """Tiles of both surfaces; returns whether they are counted, and whether too many."""
        m.submodules.source_tiles = source_tiles = TileCounts(EDGE)
        m.submodules.target_tiles = target_tiles = TileCounts(EDGE)
        m.d.comb += [
            *(tiles.width.eq(request.width) for tiles in (source_tiles, target_tiles)),
            *(tiles.height.eq(request.height) for tiles in (source_tiles, target_tiles)),
            source_tiles.samples.eq(request.samples),
            source.columns.eq(source_tiles.columns),
            source.rows.eq(source_tiles.rows),
            source.group_columns.eq(target_tiles.columns),
            source.group_rows.eq(target_tiles.rows),
            refill.count.eq(source_tiles.number),
            target.count.eq(target_tiles.number),
        ]
        clocks = source_tiles.latency
        clock = Signal(range(clocks + 1))
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += clock.eq(0)
        with m.Elif(clock != clocks):
            m.d.sync += clock.eq(clock + 1)
        return clock == clocks, source_tiles.number[TILE_NUMBER:].any()

    def _control(self, m, request, begin, error, ready, too_many, target):
        """One request after the other."""
        fields = self.i.payload
        sides = fields.width, fields.height
        rules = [rule for side in sides for rule in (side != 0, side <= TARGET_LIMIT)]
        if self._params.most < len(SHAPES) - 1:
            rules.append(fields.samples <= self._params.most)
        if not self._params.srgb:
            rules.append(~fields.srgb)
        refused = ~Cat(rules).all()
        with m.FSM(init="IDLE"):
            with m.State("IDLE"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [
                        request.eq(fields),
                        error.eq(refused << 3),
                    ]
                    m.next = "COUNT"
            with m.State("COUNT"):
                with m.If(error.any()):
                    m.next = "DONE"
                with m.Elif(ready & too_many):
                    m.d.sync += error[3].eq(1)
                with m.Elif(ready):
                    m.d.comb += begin.eq(1)
                    m.next = "RESOLVE"
            with m.State("RESOLVE"), m.If(target.done):
                m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.o.payload.error.eq(error),
                ]
                with m.If(self.o.ready):
                    m.next = "IDLE"
