# SPDX-License-Identifier: BSD-2-Clause
"""Tile rasterizer: the covered tiles of each triangle, in order."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import beat
from fixfunc.rtl.pipeline import Credit, Queue
from fixfunc.rtl.raster._cells import PLACES, CellPicker, cell_layout
from fixfunc.rtl.raster._coarse import CoarseTest
from fixfunc.rtl.raster._fine import FineRaster
from fixfunc.rtl.raster._intake import Intake, Table
from fixfunc.rtl.raster._walker import Walker
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
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
        Of the fine raster's edge evaluators: ``"carry_save"`` or ``"shared"``. The coarse test has one sample a
        lane, where carry-save adders would only be larger: it always shares.
    """

    edge: int = 8
    coarse: int = 64
    samples: int = 8
    adder: str = "carry_save"

    def __post_init__(self):
        if self.coarse not in (16, 64):
            raise ValueError(f"coarse must be 16 or 64, not {self.coarse!r}")
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
    "coarse16": "16 by 16 cells tested at a time: fewer clocks for large triangles",
    "tiny": "for benches: tiles of 4x4",
}
UNREAD = tuple(f.name for f in payloads.DRAW_STATE[len(payloads.HEADER):])  # of a draw state


class TileRasterizer(wiring.Component):
    """Rasterize triangles into tiles.

    One covered tile per clock, in order: a triangle's tiles in zigzag (superblocks, blocks, tiles; odd rows
    backwards), the last one marked, empty ones left out. The same coarse test looks at tiles and, for boxes wider
    than a block, at blocks first, so that empty space costs next to nothing. STATE, CLEAR and FENCE beats pass
    through in order.

    Parameters
    ----------
    params : TileRasterizerParams

    Members
    -------
    i : In(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Triangles as :data:`fixfunc.spec.payloads.SETUP`, their samples no more than ``params.samples``, and control beats.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Covered tiles as :func:`fixfunc.spec.payloads.tile`, and control beats.
    """

    def __init__(self, params: TileRasterizerParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
            "o": Out(stream.Signature(beat(tile=payloads.tile(params.edge), **payloads.CONTROL))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        cell = cell_layout(p.edge)
        log2, pitch = p.grid.bit_length() - 1, 3 + p.edge.bit_length()  # 16 steps a pixel, times the tile's edge
        m.submodules.intake = intake = Intake(cell, p.edge, p.grid)
        m.submodules.walker = walker = Walker(cell, p.edge, p.grid)
        m.submodules.coarse = coarse = CoarseTest(cell, p.edge, p.grid, p.samples)
        m.submodules.blocks = blocks = CellPicker(cell, p.grid, pitch + log2, log2)
        m.submodules.tiles = tiles = CellPicker(cell, p.grid, pitch, 0)
        m.submodules.fine = fine = FineRaster(cell, p)

        # A triangle keeps its place in the tables until its last tile has come through.
        wiring.connect(m, wiring.flipped(self.i), intake.i)
        self._queue(m, "first", intake.o_valid, intake.o, walker.i)
        m.d.comb += intake.free.eq(fine.end)
        self._table(m, "steps", intake.steps_write, intake.steps_place, intake.steps,
                    (coarse.index, coarse.steps), (blocks.index, blocks.steps), (tiles.index, tiles.steps))
        self._table(m, "rest", intake.rest_write, intake.rest_place, intake.rest,
                    (fine.index, fine.rest), (fine.late_index, fine.late_rest))

        # Masks of blocks go to be picked from, and the blocks picked come back to be tested; masks of tiles go on.
        block_credit = self._queue(m, "block", coarse.o_blocks, coarse.o, blocks.i)
        tile_credit = self._queue(m, "tile", coarse.o_tiles, coarse.o, tiles.i)
        m.d.comb += [block_credit.drop.eq(coarse.drop_blocks), tile_credit.drop.eq(coarse.drop_tiles)]
        m.d.comb += [blocks.go.eq(tile_credit.any), tile_credit.take.eq(blocks.picked | (walker.valid & walker.single)),
                     block_credit.take.eq(walker.valid & ~walker.single)]

        # Blocks picked go first. A triangle of one block waits until all blocks before it have been picked.
        # All is seen a clock late, and so is a superblock that was in front of the walker.
        quiet, behind = Signal(), Signal()
        m.d.sync += [quiet.eq(block_credit.all & ~blocks.busy), behind.eq(walker.superblock)]
        m.d.sync += [walker.superblock_go.eq(block_credit.any & ~blocks.soon),
                     walker.block_go.eq(tile_credit.any & quiet & ~walker.superblock & ~behind)]
        m.d.comb += [coarse.valid.eq(blocks.valid | walker.valid), coarse.blocks.eq(~blocks.valid & ~walker.single),
                     coarse.i.eq(Mux(blocks.valid, blocks.o, walker.o)), coarse.small.eq(walker.small)]
        with m.If(blocks.valid):
            m.d.comb += [coarse.small.on.eq(0), coarse.small.level.eq(0)]

        # Tiles picked run through the fine raster to the output.
        beat_credit = self._queue(m, "beat", fine.o_valid, fine.o, self.o)
        m.d.comb += [
            tiles.go.eq(beat_credit.any), beat_credit.take.eq(tiles.picked), beat_credit.drop.eq(fine.drop),
            fine.valid.eq(tiles.valid), fine.i.eq(tiles.o),
        ]
        return m

    @staticmethod
    def _queue(m, name, valid, payload, o):
        """A queue to the stream ``o``, and the credit for its places."""
        m.submodules[f"{name}_credit"] = credit = Credit(PLACES, ahead=2)
        m.submodules[f"{name}_queue"] = queue = Queue(payload.shape(), PLACES)
        m.d.comb += [queue.valid.eq(valid), queue.i.eq(payload), credit.free.eq(queue.o.valid & queue.o.ready)]
        m.d.comb += [o.valid.eq(queue.o.valid), o.payload.eq(queue.o.payload), queue.o.ready.eq(o.ready)]
        return credit

    @staticmethod
    def _table(m, name, write, place, row, *readers):
        """A table of the triangles under way, read by the (index, row) pairs ``readers``."""
        m.submodules[name] = table = Table(row.shape(), len(readers))
        m.d.comb += [table.write.eq(write), table.place.eq(place), table.i.eq(row)]
        for n, (index, found) in enumerate(readers):
            m.d.comb += [getattr(table, f"index{n}").eq(index), found.eq(getattr(table, f"o{n}"))]
