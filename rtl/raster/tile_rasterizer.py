# SPDX-License-Identifier: BSD-2-Clause
"""Tile rasterizer: the covered tiles of each triangle, in order."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.payload import beat
from fixfunc.rtl.raster.cell_picker import CellPicker
from fixfunc.rtl.raster.cell_walker import CellWalker
from fixfunc.rtl.raster.cells import cell_layout
from fixfunc.rtl.raster.coarse_test import CoarseTest
from fixfunc.rtl.raster.edge_evaluator import Adder, EdgeEvaluatorParams
from fixfunc.rtl.raster.fine_raster import FineRaster
from fixfunc.rtl.raster.triangle_context import ATTRIBUTE_BITS, TriangleContext, steps_layout
from fixfunc.rtl.raster.triangle_intake import TriangleIntake
from fixfunc.spec import payloads


@dataclass(frozen=True)
class TileRasterizerParams:
    """Shape of a :class:`TileRasterizer`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    coarse : int
        Tiles, or blocks of them, that the coarse test looks at in one clock: 64, or 16.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    adder : str
        Adders of the fine raster's edge evaluators: ``"carry_save"`` or ``"shared"``. The coarse
        test has one sample a lane, where carry-save adders would only be larger: it always shares.
    contexts : int
        Triangles and control beats in flight, a power of two. 64 are as many as small triangles
        need that follow each other every clock.
    places : int
        Places of each FIFO between two pipelines, at least 16. One triangle or tile a clock needs
        as many as there are clocks in the pipeline in front of it and in the FIFO.
    """

    edge: int = 8
    coarse: int = 64
    samples: int = 8
    adder: Adder = "carry_save"
    contexts: int = 64
    places: int = 32

    def __post_init__(self):
        if self.coarse not in (16, 64):
            raise ValueError(f"coarse must be 16 or 64, not {self.coarse!r}")
        if not 8 <= self.contexts <= 1024 or self.contexts & self.contexts - 1:
            raise ValueError(f"contexts must be a power of two in 8..1024, not {self.contexts!r}")
        if not 16 <= self.places <= 1024:
            raise ValueError(f"places must be 16 to 1024, not {self.places!r}")
        EdgeEvaluatorParams(self.edge, self.samples, adder=self.adder)  # the same rules hold here

    @property
    def grid(self) -> int:
        """Tiles along a block's side, and blocks along a superblock's."""
        return 8 if self.coarse == 64 else 4


CONFIGS = {
    "default": TileRasterizerParams(),
    "shared": TileRasterizerParams(adder="shared"),
    "single": TileRasterizerParams(samples=1),
    "coarse16": TileRasterizerParams(coarse=16),
    "tiny": TileRasterizerParams(edge=4, coarse=16),
}
PURPOSE = {  # of each configuration
    "default": "tiles of 8x8, 8x MSAA, carry-save edges",
    "shared": "the same with shared adders: less area",
    "single": "one sample a pixel",
    "coarse16": "16 cells tested at a time, not 64: less area",
    "tiny": "for benches: tiles of 4x4",
}
# Fields of a draw state that the block does not read.
UNREAD = tuple(f.name for f in payloads.DRAW_STATE[len(payloads.HEADER) :])


class TileRasterizer(wiring.Component):
    """Rasterize triangles into tiles.

    One covered tile per clock, in order: a triangle's tiles in zigzag (superblocks, blocks, tiles;
    odd rows backwards), the last one marked, empty ones left out. The same coarse test looks at
    tiles and, for boxes wider than a block, at blocks first, so that empty space costs next to
    nothing. STATE, CLEAR and FENCE beats pass through in order.

    Parameters
    ----------
    params : TileRasterizerParams

    Members
    -------
    i : In(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Triangles as :data:`fixfunc.spec.payloads.SETUP`, their samples no more than
        ``params.samples``, and control beats.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Covered tiles as :func:`fixfunc.spec.payloads.tile`, and control beats.
    """

    def __init__(self, params: TileRasterizerParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
                "o": Out(
                    stream.Signature(beat(tile=payloads.tile(params.edge), **payloads.CONTROL))
                ),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        cell = cell_layout(p.edge, p.contexts)
        grid_log2 = p.grid.bit_length() - 1
        tile_pitch = 3 + p.edge.bit_length()  # log2 of the steps of 1/16 pixel in a tile
        m.submodules.intake = intake = TriangleIntake(cell, p.edge, p.grid)
        m.submodules.walker = walker = CellWalker(cell, p.edge, p.grid)
        m.submodules.coarse = coarse = CoarseTest(cell, p.edge, p.grid, p.samples)
        m.submodules.blocks = blocks = CellPicker(cell, p.grid, tile_pitch + grid_log2, grid_log2)
        m.submodules.tiles = tiles = CellPicker(cell, p.grid, tile_pitch, 0)
        m.submodules.fine = fine = FineRaster(cell, p)

        # A triangle holds its context until its last tile has passed the fine raster.
        m.submodules.steps = steps = TriangleContext(p.contexts, steps_layout(p.grid), readers=3)
        m.submodules.attributes = attributes = TriangleContext(
            p.contexts, ATTRIBUTE_BITS, readers=2
        )
        wiring.connect(m, wiring.flipped(self.i), intake.i)
        m.d.comb += intake.release.eq(fine.release)
        wiring.connect(m, intake.steps, steps.write)
        wiring.connect(m, coarse.steps, steps.read_0)
        wiring.connect(m, blocks.steps, steps.read_1)
        wiring.connect(m, tiles.steps, steps.read_2)
        wiring.connect(m, intake.attributes, attributes.write)
        wiring.connect(m, fine.attributes, attributes.read_0)
        wiring.connect(m, fine.output_attributes, attributes.read_1)

        # Masks of blocks go to a picker whose blocks come back to be tested; masks of tiles go to
        # one whose tiles enter the fine raster.
        cell_fifo = self._fifo(m, "first_cell", intake.o, walker.i)
        block_fifo = self._fifo(m, "block_mask", coarse.o_blocks, blocks.i)
        tile_fifo = self._fifo(m, "tile_mask", coarse.o_tiles, tiles.i)
        output_fifo = self._fifo(m, "output", fine.o, self.o)
        wiring.connect(m, tiles.o, fine.i)

        # Whatever enters a pipeline consumes a credit for the FIFO at its end.
        superblock = walker.o.valid & walker.o.payload.of_blocks
        block = walker.o.valid & ~walker.o.payload.of_blocks
        m.d.comb += [
            intake.room.eq(cell_fifo.available),
            cell_fifo.consume.eq(intake.accept),
            block_fifo.consume.eq(superblock),
            block_fifo.cancel.eq(coarse.cancel_blocks),
            blocks.pick_enable.eq(tile_fifo.available),
            tile_fifo.consume.eq(blocks.pick | block),
            tile_fifo.cancel.eq(coarse.cancel_tiles),
            tiles.pick_enable.eq(output_fifo.available),
            output_fifo.consume.eq(tiles.pick),
            output_fifo.cancel.eq(fine.cancel),
        ]
        self._arbitrate(m, walker, blocks, coarse, block_fifo, tile_fifo)
        return m

    @staticmethod
    def _arbitrate(m, walker, blocks, coarse, block_fifo, tile_fifo):
        """Cells for the coarse test: picked blocks first, then the walker's.

        A triangle of a single block waits until all blocks before it have been picked, so that
        tiles stay in order. The walker's enables are registers, one clock behind what they depend
        on; a superblock that the walker had a clock ago therefore counts as well.
        """
        blocks_drained = Signal()
        superblock_before = Signal()
        m.d.sync += [
            blocks_drained.eq(block_fifo.idle & ~blocks.busy),
            superblock_before.eq(walker.superblock_pending),
            walker.superblock_enable.eq(block_fifo.available & ~blocks.next_valid),
            walker.block_enable.eq(
                tile_fifo.available
                & blocks_drained
                & ~walker.superblock_pending
                & ~superblock_before
            ),
        ]
        m.d.comb += [
            coarse.i.valid.eq(blocks.o.valid | walker.o.valid),
            coarse.i.payload.eq(walker.o.payload),
        ]
        with m.If(blocks.o.valid):
            m.d.comb += [
                coarse.i.payload.cell.eq(blocks.o.payload),
                coarse.i.payload.of_blocks.eq(0),
                coarse.i.payload.pixel_grid.valid.eq(0),
                coarse.i.payload.pixel_grid.level.eq(0),
            ]

    def _fifo(self, m, name, i, o):
        """A FIFO between a pipeline that never stalls and a stream; for its credits."""
        m.submodules[f"{name}_fifo"] = fifo = CreditedFIFO(
            i.payload.shape(), self._params.places, lookahead=2
        )
        m.d.comb += [
            fifo.push.eq(i.valid),
            fifo.i.eq(i.payload),
            o.valid.eq(fifo.o.valid),
            o.payload.eq(fifo.o.payload),
            fifo.o.ready.eq(o.ready),
        ]
        return fifo
