"""Walk over a triangle's box in superblocks."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.payload import beat
from rtl.raster._cells import LATER_BITS, steps_of
from rtl.samples import SHAPES
from spec import payloads
from spec.state import Kind


class Walker(wiring.Component):
    """Turn triangles into cells: one block where that holds the whole box, else superblocks in zigzag.

    One cell per clock. Superblocks that an edge rejects are passed over; the last one always comes out, empty if
    rejected, so that the end of the triangle is known. Control beats come out as empty blocks.

    Parameters
    ----------
    cell : StructLayout
    edge : int
        Samples along a tile's edge.
    grid : int
        Tiles along a block's side, and blocks along a superblock's.

    Members
    -------
    i : In(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
    o : Out(stream.Signature(cell))
    single : Out(1)
        The cell at ``o`` is one block.
    """

    def __init__(self, cell, edge, grid):
        self._cell = cell
        self._tile, self._log2 = edge.bit_length() - 1, grid.bit_length() - 1
        super().__init__({
            "i": In(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
            "o": Out(stream.Signature(cell)), "single": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        advance = Signal()
        first, valid, one = self._first(m, advance)

        # One superblock, or the only block, at a time.
        walking, single, back = Signal(), Signal(), Signal()
        cell, start = Signal(self._cell), Signal(self._cell)
        columns, across, down = (Signal(len(cell.right), name=name) for name in ("columns", "across", "down"))
        last = single | ((across == 0) & (down == 0))
        rejected = ~cell.empty & Cat(value < 0 for value in cell.best).any()
        skip = rejected & ~last
        m.d.comb += [self.single.eq(single), self.o.valid.eq(walking & ~skip), self.o.payload.eq(cell),
                     self.o.payload.end.eq(last), self.o.payload.empty.eq(cell.empty | rejected)]

        # The next triangle comes in with the last step of this one.
        step = walking & (skip | self.o.ready)
        m.d.comb += [advance.eq(~walking | (step & last)), self.i.ready.eq(advance)]
        far = 2 * self._log2
        with m.If(advance):
            m.d.sync += [walking.eq(valid), single.eq(one), cell.eq(first), start.eq(first), back.eq(0)]
            m.d.sync += [columns.eq(first.right >> far), across.eq(first.right >> far), down.eq(first.down >> far)]
        with m.Elif(step):
            turn = across == 0
            m.d.sync += across.eq(Mux(turn, columns, across - 1))
            with m.If(turn):
                m.d.sync += [down.eq(down - 1), back.eq(~back),
                             cell.y.eq(cell.y + (1 << far)), cell.down.eq(cell.down - (1 << far))]
            with m.Else():
                way = Mux(back, -(1 << far), 1 << far)
                m.d.sync += [cell.x.eq(cell.x + way), cell.right.eq(cell.right - way)]
            for k, (x_step, y_step) in enumerate(steps_of(cell)):
                way = Mux(turn, y_step, Mux(back, -x_step, x_step))
                m.d.sync += cell.best[k].eq(cell.best[k] + (way << 4 + self._tile + far))
        return m

    def _first(self, m, advance):
        """The first cell of the beat at ``i``, and whether it is its only block: three registers, moved by ``advance``."""
        setup = self.i.payload.setup
        valid = Signal(3)
        taken, gained, first = (Signal(self._cell, name=name) for name in ("taken", "gained", "first"))
        one, gained_one = Signal(), Signal()

        # Box in tiles; E is given at the best corner of the first tile.
        ends = {}
        for n, axis in enumerate("xy"):
            shift = Array([self._tile - s[n] for s in SHAPES])[setup.samples]
            ends[axis] = [Signal(14, name=f"{axis}_{end}") for end in ("first", "last")]
            m.d.comb += [end.eq(setup[f"{axis}{k}"] >> shift) for k, end in enumerate(ends[axis])]
        with m.If(advance):
            m.d.sync += [valid.eq(Cat(self.i.valid, valid)), taken.rest.eq(self.i.payload.as_value()[:LATER_BITS]),
                         taken.empty.eq(setup.kind != Kind.WORK), taken.end.eq(0)]
            m.d.sync += [taken[axis].eq(ends[axis][0]) for axis in "xy"]
            m.d.sync += [taken[room].eq(ends[axis][1] - ends[axis][0]) for axis, room in (("x", "right"), ("y", "down"))]
            m.d.sync += [taken.best[k].eq(setup[f"c{k}"]) for k in range(3)]

        # To the best corner of the first cell: over grid - 1 tiles of a block, or grid^2 - 1 of a superblock.
        single = taken.empty | ((taken.right >> self._log2 == 0) & (taken.down >> self._log2 == 0))
        with m.If(advance):
            m.d.sync += [gained.eq(taken), gained_one.eq(single), first.eq(gained), one.eq(gained_one)]
            for k, (x_step, y_step) in enumerate(steps_of(taken)):
                gain = Signal(len(x_step) + 1, name=f"gain_{k}")
                m.d.sync += gain.eq(Mux(x_step > 0, x_step, 0) + Mux(y_step > 0, y_step, 0))
                m.d.sync += first.drop[k].eq((gain << self._log2) - gain)
                whole = Signal(len(gain) + 2 * self._log2, name=f"whole_{k}")
                m.d.comb += whole.eq(Mux(gained_one, gain << self._log2, gain << 2 * self._log2) - gain)
                m.d.sync += first.best[k].eq(gained.best[k] + (whole << 4 + self._tile))
        return first, valid[-1], one
