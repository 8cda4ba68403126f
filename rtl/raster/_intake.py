# SPDX-License-Identifier: BSD-2-Clause
"""Triangles on their way in: what later stages look up, and each one's first cell."""

from amaranth.hdl import Array, Module, Mux, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import beat
from fixfunc.rtl.pipeline import NEVER_COLLIDES, Credit, delay
from fixfunc.rtl.raster._cells import PLACES, X_STEP, Y_STEP, steps_layout
from fixfunc.rtl.raster._small_box import SmallBox, small_layout
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind

LATER = tuple(f for f in payloads.SETUP if f.name.rstrip("012") != "c")  # what the stages behind still need
LATER_BITS = payloads.width(LATER)


def first_layout(cell, edge):
    """The first cell of a triangle: one block, or the first superblock; of a column, or of all; its small grid; and the steps to walk by."""
    return StructLayout({"cell": cell, "single": 1, "narrow": 1, "only": 1, "small": small_layout(edge),
                         "x": ArrayLayout(signed(X_STEP), 3), "y": ArrayLayout(signed(Y_STEP), 3)})


class Table(wiring.Component):
    """What is known of the triangles under way, in block RAM: written once, read by several.

    Parameters
    ----------
    shape : ShapeLike
    readers : int

    Members
    -------
    write, place, i : In
        A row is written.
    index0, index1, ... : In(range(PLACES))
    o0, o1, ... : Out(shape)
        The row at the index two clocks before.
    """

    def __init__(self, shape, readers):
        self._shape, self._readers = shape, readers
        super().__init__({"write": In(1), "place": In(range(PLACES)), "i": In(shape)}
                         | {f"index{n}": In(range(PLACES)) for n in range(readers)} | {f"o{n}": Out(shape) for n in range(readers)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._shape, depth=PLACES, init=[], attrs=NEVER_COLLIDES)
        write = memory.write_port()
        m.d.comb += [write.en.eq(self.write), write.addr.eq(self.place), write.data.eq(self.i)]
        for n in range(self._readers):
            read = memory.read_port()
            m.d.comb += read.addr.eq(getattr(self, f"index{n}"))
            m.d.sync += getattr(self, f"o{n}").eq(read.data)
        return m


class Intake(wiring.Component):
    """Give each triangle and control beat a place in the tables, and find its first cell.

    One beat per clock while places are free; the first cell follows :attr:`latency` clocks later. A control beat
    becomes an empty block.

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
    free : In(1)
        A place is free again; they are freed in the order in which they were given.
    rest_write, rest_place, rest : Out
        The beat, without c, for its table.
    steps_write, steps_place, steps : Out
        Steps of the edges, for theirs.
    o_valid, o : Out
        The first cell.
    """

    def __init__(self, cell, edge, grid):
        self._cell, self._small = cell, SmallBox(cell, edge, grid)
        self._tile, self._log2 = edge.bit_length() - 1, grid.bit_length() - 1
        super().__init__({
            "i": In(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))), "free": In(1),
            "rest_write": Out(1), "rest_place": Out(range(PLACES)), "rest": Out(LATER_BITS),
            "steps_write": Out(1), "steps_place": Out(range(PLACES)), "steps": Out(steps_layout(grid)),
            "o_valid": Out(1), "o": Out(first_layout(cell, edge)),
        })

    @property
    def latency(self):
        """Clocks: input register, box in tiles, gain of a cell, gain of all of them, corner."""
        return 5

    def elaborate(self, platform):
        m = Module()
        m.submodules.credit = credit = Credit(PLACES)
        m.d.comb += [self.i.ready.eq(credit.any), credit.take.eq(self.i.valid & credit.any), credit.free.eq(self.free)]

        # Clock 1: the beat, and its place.
        now, valid, place = Signal(self.i.payload.shape()), Signal(), Signal(range(PLACES))
        m.d.sync += [now.eq(self.i.payload), valid.eq(credit.take), place.eq(place + valid)]
        m.d.comb += [self.rest_write.eq(valid), self.rest_place.eq(place), self.rest.eq(now.as_value()[:LATER_BITS])]

        # Clock 2: box in tiles, and the steps; E is given at the best corner of the first tile.
        setup, taken, steps, single = now.setup, Signal(self._cell), Signal(steps_layout(1 << self._log2)), Signal()
        m.submodules.small = small = self._small
        m.d.comb += [small.i.eq(taken), small.steps.eq(steps), self.o.small.eq(small.o)]
        m.d.sync += [taken.index.eq(place), taken.empty.eq(setup.kind != Kind.WORK), small.samples.eq(setup.samples)]
        for n, (axis, room) in enumerate((("x", "right"), ("y", "down"))):
            shift = Array([self._tile - s[n] for s in SHAPES])[setup.samples]
            first, last = (Signal(14, name=f"{axis}_{end}") for end in ("first", "last"))
            m.d.comb += [end.eq(setup[f"{axis}{k}"] >> shift) for k, end in enumerate((first, last))]
            m.d.sync += [taken[axis].eq(first), taken[room].eq(last - first)]
            lanes = Array([s[n] for s in SHAPES])[setup.samples]
            m.d.sync += [getattr(small, f"{axis}{k}").eq(setup[f"{axis}{k}"] << lanes) for k in range(2)]
        for k in range(3):
            a = setup[f"a{k}"]
            m.d.sync += [steps.x[k].eq(Mux(setup.samples[0], a << 1, a)), steps.y[k].eq(setup[f"b{k}"]), taken.best[k].eq(setup[f"c{k}"])]

        # Clocks 3 to 5: to the best corner of the first cell, over grid - 1 tiles of a block or grid^2 - 1 of a superblock.
        m.d.comb += single.eq(taken.empty | ((taken.right >> self._log2 == 0) & (taken.down >> self._log2 == 0)))
        late_single = delay(m, single, 2, "single")
        gained = delay(m, taken, 2, "gained")
        narrow, low = (gained[room] >> 2 * self._log2 == 0 for room in ("right", "down"))
        m.d.sync += [self.o.cell.eq(gained), self.o.single.eq(late_single), self.o.narrow.eq(narrow), self.o.only.eq(late_single | (narrow & low))]
        late_steps = delay(m, steps, 3, "steps")
        m.d.comb += [self.o.x.eq(late_steps.x), self.o.y.eq(late_steps.y), self.steps.x.eq(late_steps.x), self.steps.y.eq(late_steps.y)]
        for k in range(3):
            gain, whole = (Signal(X_STEP + 1 + 2 * self._log2 * n, name=f"{name}_{k}") for n, name in enumerate(("gain", "whole")))
            m.d.sync += [
                gain.eq(positive(steps.x[k]) + positive(steps.y[k])),
                whole.eq(Mux(delay(m, single, 1, f"single_{k}"), gain << self._log2, gain << 2 * self._log2) - gain),
                self.steps.drop[k].eq(delay(m, (gain << self._log2) - gain, 1, f"drop_{k}")),
                self.o.cell.best[k].eq(gained.best[k] + (whole << 4 + self._tile)),
            ]
        m.d.comb += [self.o_valid.eq(delay(m, valid, 4, "valid")), self.steps_write.eq(self.o_valid), self.steps_place.eq(self.o.cell.index)]
        return m


def positive(value):
    """``value`` where it is above zero, else zero."""
    return Mux(value > 0, value, 0)
