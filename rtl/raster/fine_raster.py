# SPDX-License-Identifier: BSD-2-Clause
"""Fine raster: the covered samples of one tile after another."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.raster.cells import EDGE_VALUE
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluator, EdgeEvaluatorParams, saturated
from fixfunc.rtl.raster.tile_plane import TilePlane
from fixfunc.rtl.raster.triangle_context import (
    ATTRIBUTE_BITS,
    ATTRIBUTES,
    ContextRead,
    TriangleContext,
)
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


def tested_layout(beat_layout):
    """A beat whose coverage is known. At most one of the first three flags is set."""
    return StructLayout(
        {
            "control": 1,  # a control beat
            "covered": 1,  # a tile with a covered sample
            "uncovered": 1,  # a tile without one
            "last": 1,  # it was the triangle's last cell
            "beat": beat_layout,
        }
    )


class FineRaster(wiring.Component):
    """Evaluate the three edges of a tile, leave out empty tiles and mark a triangle's last one.

    One tile per clock, which never stalls. A tile leaves as soon as it is known whether it is the
    triangle's last: with the next covered tile, or at the end of the triangle. Control beats pass
    through.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    params : TileRasterizerParams

    Members
    -------
    i : In(stream.Signature(cell, always_ready=True))
        A tile, or an empty cell.
    attributes : Out(ContextRead(cell.members["context_index"], ATTRIBUTE_BITS))
        Attributes of the cell's triangle, or the control beat, when the cell enters.
    output_attributes : Out(ContextRead(cell.members["context_index"], ATTRIBUTE_BITS))
        Attributes of the cell's triangle, or the control beat, when the cell leaves: they are read
        again instead of being delayed in registers.
    release : Out(1)
        The last cell of a triangle has passed: its context is free.
    cancel : Out(1)
        A cell does not lead to a beat.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., ...), always_ready=True))
        Covered tiles and control beats.
    """

    LOOKUP = TriangleContext.LATENCY  # clock in which the attributes are read

    def __init__(self, cell, params):
        self._params = params
        self._beat = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        index = cell.members["context_index"]
        super().__init__(
            {
                "i": In(stream.Signature(cell, always_ready=True)),
                "attributes": Out(ContextRead(index, ATTRIBUTE_BITS)),
                "output_attributes": Out(ContextRead(index, ATTRIBUTE_BITS)),
                "release": Out(1),
                "cancel": Out(1),
                "o": Out(stream.Signature(self._beat, always_ready=True)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, cell=self.i.payload, valid=self.i.valid)
        m.d.comb += self.attributes.index.eq(self.i.payload.context_index)
        setup = layout(ATTRIBUTES)(self.attributes.data)
        m.submodules.coverage = coverage = TileCoverage(self.i.payload.shape(), self._params)
        m.d.comb += [
            coverage.cell.eq(t[self.LOOKUP].cell),
            coverage.attributes.eq(setup),
        ]
        m.submodules.plane = plane = TilePlane(self._params.edge, len(self.i.payload.x))
        self._plane_inputs(m, t[self.LOOKUP].cell, setup, plane)
        masked = self.LOOKUP + coverage.latency
        depth = self.LOOKUP + 1 + plane.latency
        t.enter(masked, mask=coverage.mask, covered=coverage.mask.any())
        t.enter(depth, z0=plane.z0, dx=plane.dx, dy=plane.dy)

        # One tile, complete, in a register. Of a control beat the context RAM holds all bits.
        complete = max(masked + 1, depth)
        cell = t[complete].cell
        valid = t[complete].valid
        mask = t[complete].mask
        m.d.comb += [
            self.output_attributes.index.eq(t[complete - self.LOOKUP].cell.context_index),
            self.release.eq(valid & cell.last),
        ]
        attributes = self.output_attributes.data
        setup = layout(ATTRIBUTES)(attributes)
        work = setup.kind == Kind.WORK
        tile = Signal(self._beat.members["tile"])
        of_triangle = ("kind", "state", "slot", "back", "steep", "exponent", "zmin", "zmax")
        m.d.comb += [tile[name].eq(setup[name]) for name in of_triangle]
        m.d.comb += [
            tile.x.eq(cell.x),
            tile.y.eq(cell.y),
            tile.mask.eq(mask),
            tile.full.eq(mask.all()),
            tile.last.eq(cell.last),
            tile.z0.eq(t[complete].z0),
            tile.dx.eq(t[complete].dx),
            tile.dy.eq(t[complete].dy),
        ]
        m.submodules.last_tile = last_tile = LastTile(self._beat)
        m.d.sync += [
            last_tile.i.control.eq(valid & ~work),
            last_tile.i.covered.eq(valid & work & t[complete].covered),
            last_tile.i.uncovered.eq(valid & work & ~t[complete].covered),
            last_tile.i.last.eq(cell.last),
            last_tile.i.beat.eq(Mux(work, tile, attributes)),
        ]
        m.d.comb += self.cancel.eq(last_tile.i.uncovered)
        wiring.connect(m, last_tile.o, wiring.flipped(self.o))
        return m

    def _plane_inputs(self, m, cell, setup, plane):
        """The plane's inputs: distances in tiles from the first tile of the box, a clock later."""
        tile_log2 = self._params.edge.bit_length() - 1
        for n, (axis, distance) in enumerate((("x", plane.x_tiles), ("y", plane.y_tiles))):
            pixels_log2 = Array([tile_log2 - shape[n] for shape in SHAPES])[setup.samples]
            m.d.sync += distance.eq(cell[axis] - (setup[f"{axis}0"] >> pixels_log2))
        m.d.sync += [
            plane.samples.eq(setup.samples),
            plane.z.eq(setup.z),
            plane.zx.eq(setup.zx),
            plane.zy.eq(setup.zy),
        ]


class TileCoverage(wiring.Component):
    """Coverage mask of a tile: three edges and the box.

    One tile per clock, which never stalls, :attr:`latency` clocks later.

    Parameters
    ----------
    cell : StructLayout
        From :func:`~fixfunc.rtl.raster.cells.cell_layout`.
    params : TileRasterizerParams

    Members
    -------
    cell : In(cell)
        The tile, or an empty cell.
    attributes : In(layout(ATTRIBUTES))
        Attributes of its triangle.
    mask : Out(edge**2)
        Covered samples, lane (i, j) at bit ``j * edge + i``; none of an empty cell.
    """

    CORNER = 2  # clock of the evaluators' inputs: E and its reach, E at the first pixel

    def __init__(self, cell, params):
        self._edge = params.edge
        self._evaluator = EdgeEvaluatorParams(params.edge, params.samples, adder=params.adder)
        super().__init__(
            {"cell": In(cell), "attributes": In(layout(ATTRIBUTES)), "mask": Out(params.edge**2)}
        )

    @property
    def _evaluated(self):
        """Clock of the evaluators' outputs."""
        return self.CORNER + self._evaluator.latency

    @property
    def latency(self):
        """Clocks from a tile to its mask: the evaluators, all edges and the box."""
        return self._evaluated + 1

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        samples = Signal(2)
        m.d.sync += samples.eq(self.attributes.samples)
        t.enter(0, empty=self.cell.empty)
        t.enter(1, samples=samples)
        inside = [self._evaluate(m, t, k) for k in range(3)]
        columns = self._lanes_in_box(m, samples, "x", self.cell.x)
        rows = self._lanes_in_box(m, samples, "y", self.cell.y)
        t.enter(2, columns=columns, rows=rows)
        end = t[self._evaluated]
        box = Cat(Mux(row, end.columns, 0) for row in end.rows)
        m.d.sync += self.mask.eq(Mux(end.empty, 0, inside[0] & inside[1] & inside[2] & box))
        return m

    def _evaluate(self, m, t, k):
        """The mask of edge k."""
        bits = self._evaluator.width - 1
        attributes = self.attributes
        # With one sample a pixel, sixteenths of a pixel never count.
        unit_log2 = 4 if self._evaluator.samples == 1 else 0

        # E at the reject corner, without the aspect of the tile, cut where it can no longer change
        # a sign; from there to the first pixel.
        value = Signal(EDGE_VALUE, name=f"value_{k}")
        corner = Signal(bits, name=f"corner_{k}")
        reach = Signal(32, name=f"reach_{k}")
        first_pixel = Signal(signed(bits + 1), name=f"first_pixel_{k}")
        by_mode = [self.cell.corner[k] >> SHAPES[mode][1] for mode in self._evaluator.modes]
        m.d.comb += value.eq(Array(by_mode)[attributes.samples] if len(by_mode) > 1 else by_mode[0])
        m.d.sync += [
            corner.eq(saturated(value, unit_log2, bits)),
            reach.eq(attributes[f"reach{k}"]),
            first_pixel.eq(corner - (reach >> unit_log2)),
        ]
        t.enter(0, **{f"a{k}": attributes[f"a{k}"], f"b{k}": attributes[f"b{k}"]})
        m.submodules[f"edge_{k}"] = evaluator = EdgeEvaluator(self._evaluator)
        m.d.comb += [
            evaluator.i.valid.eq(1),
            evaluator.o.ready.eq(1),
            evaluator.i.payload.samples.eq(t[self.CORNER].samples),
            evaluator.i.payload.a.eq(t.value(f"a{k}", self.CORNER)),
            evaluator.i.payload.b.eq(t.value(f"b{k}", self.CORNER)),
            evaluator.i.payload.c.eq(first_pixel),
        ]
        return evaluator.o.payload.mask

    def _lanes_in_box(self, m, samples, axis, position):
        """Columns or rows of lanes whose pixels lie in the box, two clocks later.

        A viewport or a scissor may cut the box within a tile.
        """
        n = "xy".index(axis)
        attributes = self.attributes
        pixels = [self._edge >> shape[n] for shape in SHAPES]
        pixels_log2 = Array([size.bit_length() - 1 for size in pixels])[attributes.samples]
        last_pixel = Array([size - 1 for size in pixels])[attributes.samples]
        box_first = attributes[f"{axis}0"]
        box_last = attributes[f"{axis}1"]
        low = Signal(3, name=f"{axis}_low")
        high = Signal(3, name=f"{axis}_high")
        m.d.sync += [
            low.eq(Mux(box_first >> pixels_log2 == position, box_first & last_pixel, 0)),
            high.eq(Mux(box_last >> pixels_log2 == position, box_last & last_pixel, last_pixel)),
        ]
        lane_pixels = [
            Array([lane >> shape[n] for shape in SHAPES])[samples] for lane in range(self._edge)
        ]
        in_box = Signal(self._edge, name=f"{axis}_in_box")
        m.d.sync += in_box.eq(Cat((low <= pixel) & (pixel <= high) for pixel in lane_pixels))
        return in_box


class LastTile(wiring.Component):
    """Hold a tile back until it is known whether it is the last of its triangle, and mark it.

    Parameters
    ----------
    beat_layout : UnionLayout
        A tile or a control beat.

    Members
    -------
    i : In(tested_layout(beat_layout))
        The next beat.
    o : Out(stream.Signature(beat_layout, always_ready=True))
        The beat before it.
    """

    def __init__(self, beat_layout):
        self._beat = beat_layout
        super().__init__(
            {
                "i": In(tested_layout(beat_layout)),
                "o": Out(stream.Signature(beat_layout, always_ready=True)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        waiting = Signal(self._beat)
        waiting_valid = Signal()
        decided = Signal()  # the waiting beat is the last of its triangle, or a control beat
        last_uncovered = self.i.uncovered & self.i.last
        emit = waiting_valid & (decided | self.i.covered | last_uncovered)
        with m.If(self.i.covered | self.i.control):
            m.d.sync += [
                waiting_valid.eq(1),
                waiting.eq(self.i.beat),
                decided.eq(self.i.last),
            ]
        with m.Elif(emit):
            m.d.sync += waiting_valid.eq(0)
        m.d.sync += [
            self.o.valid.eq(emit),
            self.o.payload.eq(waiting),
        ]
        with m.If(last_uncovered & ~decided):
            m.d.sync += self.o.payload.tile.last.eq(1)
        return m
