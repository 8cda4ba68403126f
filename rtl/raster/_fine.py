# SPDX-License-Identifier: BSD-2-Clause
"""Fine raster: the covered samples of one tile after another."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Multiplier
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.raster._cells import PLACES
from fixfunc.rtl.raster._coarse import cut
from fixfunc.rtl.raster._intake import LATER, LATER_BITS
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluator, EdgeEvaluatorParams
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class TilePlane(wiring.Component):
    """Depth at the first pixel of a tile, one a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    position : int
        Bits of a tile's place.

    Members
    -------
    right, down : In(position)
        Tiles from the first one of the box.
    samples : In(2)
    z, zx, zy : In
        As in :data:`fixfunc.spec.payloads.SETUP`.
    z0, dx, dy : Out
        As in :func:`fixfunc.spec.payloads.tile`, :attr:`latency` clocks later.
    """

    def __init__(self, edge, position):
        self._tile = edge.bit_length() - 1
        self._ways = [Multiplier(position + 1, 48, 48) for _ in "xy"]
        super().__init__({"right": In(position), "down": In(position), "samples": In(2), "z": In(48),
                          "zx": In(signed(48)), "zy": In(signed(48)), "z0": Out(32), "dx": Out(signed(32)), "dy": Out(signed(32))})

    @property
    def latency(self):
        """Clocks: slope of a tile, product, two sums."""
        return 1 + self._ways[0].latency + 2

    def elaborate(self, platform):
        m = Module()
        for n, (way, tiles, slope, rounded) in enumerate(zip(
                self._ways, (self.right, self.down), (self.zx, self.zy), (self.dx, self.dy), strict=True)):
            axis = "xy"[n]
            m.submodules[f"way_{axis}"] = way
            pitch, late = Signal(signed(48), name=f"pitch_{axis}"), Signal.like(tiles, name=f"tiles_{axis}")
            m.d.sync += [pitch.eq(slope << Array([self._tile - s[n] for s in SHAPES])[self.samples]), late.eq(tiles)]
            m.d.comb += [way.a.eq(late), way.b.eq(pitch)]
            short = Signal(signed(32), name=f"short_{axis}")
            m.d.sync += short.eq((slope + (1 << 15)) >> 16)
            m.d.comb += rounded.eq(delay(m, short, self.latency - 1, f"d{axis}"))
        both, start = Signal(48), Signal(48)
        m.d.sync += both.eq(self._ways[0].o + self._ways[1].o)
        m.d.sync += start.eq(both + delay(m, self.z + (1 << 15), self.latency - 1, "z"))
        m.d.comb += self.z0.eq(start >> 16)
        return m


class FineRaster(wiring.Component):
    """Evaluate the three edges of a tile; leave out empty tiles, and say which is a triangle's last.

    One tile per clock, never held up. A tile comes out when the next covered one, or the end of the triangle, is
    known. Control beats pass through.

    Parameters
    ----------
    cell : StructLayout
    params : TileRasterizerParams

    Members
    -------
    valid, i : In
        A tile, or an empty cell.
    index, late_index : Out(range(PLACES))
    rest, late_rest : In(LATER_BITS)
        Of the triangle, or the control beat, at these indices two clocks before.
    end : Out(1)
        The last cell of a triangle has come through: its place is free.
    drop : Out(1)
        A cell did not lead to a beat.
    o_valid, o : Out
        Beats.
    """

    LOOK_UP = 2  # clocks from an index to what the table holds

    def __init__(self, cell, params):
        self._params = params
        self._evaluator = EdgeEvaluatorParams(params.edge, params.samples, adder=params.adder)
        self._beat = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({
            "valid": In(1), "i": In(cell), "index": Out(range(PLACES)), "rest": In(LATER_BITS),
            "late_index": Out(range(PLACES)), "late_rest": In(LATER_BITS),
            "end": Out(1), "drop": Out(1), "o_valid": Out(1), "o": Out(self._beat),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.plane = plane = TilePlane(self._params.edge, len(self.i.x))
        m.d.comb += self.index.eq(self.i.index)
        early, setup = delay(m, self.i, self.LOOK_UP, "early"), layout(LATER)(self.rest)
        inside, known = self._inside(m, early, setup)
        at = max(known + 1, plane.latency + 1)  # clocks after the look-up

        # The box in tiles, and the depth at the tile.
        first = {}
        for n, axis in enumerate("xy"):
            shift = Array([self._params.edge.bit_length() - 1 - s[n] for s in SHAPES])[setup.samples]
            first[axis] = setup[f"{axis}0"] >> shift
        right, down, depth = Signal(len(self.i.x)), Signal(len(self.i.y)), Signal(setup.shape())
        m.d.sync += [right.eq(early.x - first["x"]), down.eq(early.y - first["y"]), depth.eq(setup)]
        m.d.comb += [plane.right.eq(right), plane.down.eq(down), plane.samples.eq(depth.samples),
                     plane.z.eq(depth.z), plane.zx.eq(depth.zx), plane.zy.eq(depth.zy)]

        # One tile, complete, in a register; a control beat keeps its bits.
        cell, valid = delay(m, early, at, "cell"), delay(m, self.valid, self.LOOK_UP + at, "valid")
        m.d.comb += [self.late_index.eq(delay(m, early.index, at - self.LOOK_UP, "index")), self.end.eq(valid & cell.end)]
        setup, made, whole = layout(LATER)(self.late_rest), Signal(self._beat), Signal(self._beat)
        mask, any_inside = delay(m, inside, at - known, "mask"), delay(m, inside.any(), at - known, "any")
        z0, dx, dy = (delay(m, getattr(plane, name), at - plane.latency - 1, name) for name in ("z0", "dx", "dy"))
        work = setup.kind == Kind.WORK
        with m.If(~work):
            m.d.comb += made.draw_state.eq(self.late_rest)
        with m.Else():
            tile = made.tile
            m.d.comb += [tile[name].eq(setup[name]) for name in ("kind", "state", "slot", "back", "zmin", "zmax")]
            m.d.comb += [tile.x.eq(cell.x), tile.y.eq(cell.y), tile.mask.eq(mask), tile.full.eq(mask.all()), tile.last.eq(cell.end),
                         tile.z0.eq(z0), tile.dx.eq(dx), tile.dy.eq(dy)]
        control, covered, last = Signal(), Signal(), Signal()
        m.d.sync += [whole.eq(made), control.eq(valid & ~work), last.eq(cell.end)]
        m.d.sync += [covered.eq(valid & work & any_inside), self.drop.eq(valid & work & ~any_inside)]
        self._hold(m, control, covered, last, whole)
        return m

    def _inside(self, m, cell, setup):
        """The mask of a tile, and how many clocks later."""
        p, bits = self._params, self._evaluator.width - 1
        samples = Signal(2)
        m.d.sync += samples.eq(setup.samples)

        # E at the first pixel, cut where it can no longer change a sign.
        masks = []
        spare = 0 if p.samples > 1 else 4  # with one sample a pixel, its sixteenths never count
        for k in range(3):
            best, reach = Signal(bits, name=f"best_{k}"), Signal(32, name=f"reach_{k}")
            first = Signal(signed(bits + 1), name=f"first_{k}")
            aspects = [cell.best[k] >> SHAPES[mode][1] for mode in self._evaluator.modes]
            value = Signal(signed(47), name=f"value_{k}")
            m.d.comb += value.eq(Array(aspects)[setup.samples] if len(aspects) > 1 else aspects[0])
            m.d.sync += [best.eq(cut(value, spare, bits)), reach.eq(setup[f"reach{k}"]), first.eq(best - (reach >> spare))]
            m.submodules[f"edge_{k}"] = lanes = EdgeEvaluator(self._evaluator)
            m.d.comb += [lanes.i.valid.eq(1), lanes.o.ready.eq(1), lanes.i.payload.c.eq(first),
                         lanes.i.payload.samples.eq(delay(m, samples, 1, f"samples_{k}"))]
            m.d.comb += [lanes.i.payload[name].eq(delay(m, setup[f"{name}{k}"], 2, f"{name}{k}")) for name in "ab"]
            masks.append(lanes.o.payload.mask)

        # Pixels beyond the box, where viewport or scissor cut it.
        reached = []
        for n, (axis, place) in enumerate((("x", cell.x), ("y", cell.y))):
            size = [p.edge >> s[n] for s in SHAPES]
            shift = Array([s.bit_length() - 1 for s in size])[setup.samples]
            ends = [Signal(3, name=f"{axis}_{end}") for end in ("low", "high")]
            pixel_0, pixel_1 = setup[f"{axis}0"], setup[f"{axis}1"]
            most = Array([s - 1 for s in size])[setup.samples]
            m.d.sync += ends[0].eq(Mux(pixel_0 >> shift == place, pixel_0 & most, 0))
            m.d.sync += ends[1].eq(Mux(pixel_1 >> shift == place, pixel_1 & most, most))
            lanes = Signal(p.edge, name=f"{axis}_lanes")
            pixels = [Array([lane >> s[n] for s in SHAPES])[samples] for lane in range(p.edge)]
            m.d.sync += lanes.eq(Cat((ends[0] <= pixel) & (pixel <= ends[1]) for pixel in pixels))
            reached.append(lanes)
        latency = self._evaluator.latency
        columns, rows = (delay(m, lanes, latency, f"{axis}_box") for lanes, axis in zip(reached, "xy", strict=True))
        box = Cat(Mux(row, columns, 0) for row in rows)

        inside = Signal(p.edge**2)
        empty = delay(m, cell.empty, latency + 2, "empty")
        m.d.sync += inside.eq(Mux(empty, 0, masks[0] & masks[1] & masks[2] & box))
        return inside, latency + 3

    def _hold(self, m, control, covered, end, whole):
        """Hold a tile back until it is known whether it is the last."""
        held, certain, waiting = Signal(), Signal(), Signal(self._beat)
        load, closing = covered | control, self.drop & end
        emit = held & (certain | covered | closing)
        with m.If(load):
            m.d.sync += [held.eq(1), waiting.eq(whole), certain.eq(end)]
        with m.Elif(emit):
            m.d.sync += held.eq(0)
        m.d.sync += [self.o_valid.eq(emit), self.o.eq(waiting)]
        with m.If(closing & ~certain):
            m.d.sync += self.o.tile.last.eq(1)
