# SPDX-License-Identifier: BSD-2-Clause
"""Which samples of a tile lie in a rectangle of pixels, and which tiles to visit for it."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.samples import SHAPES

PIXELS = 15  # bits of a pixel's place, one past the last included
RECTANGLE = StructLayout(dict.fromkeys(("x0", "y0", "x1", "y1"), PIXELS))


def tile_shift(edge, samples, axis):
    """log2 of a tile's pixels along an axis."""
    return Array([edge.bit_length() - 1 - shape[axis] for shape in SHAPES])[samples]


def last_tile(m, state, edge):
    """The target's last tile in x and in y; registers."""
    found = []
    for n, side in enumerate(("width", "height")):
        found.append(Signal(PIXELS, name=f"last_{'xy'[n]}"))
        m.d.sync += found[-1].eq((state[f"target_{side}"] - 1)[:PIXELS] >> tile_shift(edge, state.samples, n))
    return found


class Within(wiring.Component):
    """Samples of a tile that lie in a rectangle; one tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    samples : In(2)
        It holds.
    rectangle : In(RECTANGLE)
        Pixels, ``x1`` and ``y1`` exclusive.
    x, y : In
        The tile.
    o : Out(edge**2)
        Lanes, :attr:`LATENCY` clocks later.
    """

    LATENCY = 4

    def __init__(self, edge):
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__({"samples": In(2), "rectangle": In(RECTANGLE), "x": In(position), "y": In(position), "o": Out(edge**2)})

    def elaborate(self, platform):
        m = Module()
        lanes = [self._lanes(m, axis, tile, n) for n, (axis, tile) in enumerate((("x", self.x), ("y", self.y)))]
        m.d.sync += self.o.eq(Cat(Mux(row, lanes[0], 0) for row in lanes[1]))
        return m

    def _lanes(self, m, axis, tile, n):
        """Which of the columns, or rows, of lanes: how far off the ends are, cut to the tile's pixels, then every lane."""
        start = tile << tile_shift(self._edge, self.samples, n)
        ends = []
        for end in "01":
            away, pixel = Signal(signed(PIXELS + 2), name=f"{axis}{end}_away"), Signal(range(self._edge + 1), name=f"{axis}{end}")
            m.d.sync += away.eq(self.rectangle[f"{axis}{end}"] - start)
            m.d.sync += pixel.eq(Mux(away < 0, 0, Mux(away > self._edge, self._edge, away)))
            ends.append(pixel)
        pixels = [Array([lane >> shape[n] for shape in SHAPES])[self.samples] for lane in range(self._edge)]
        lanes = Signal(self._edge, name=f"{axis}_lanes")
        m.d.sync += lanes.eq(Cat((ends[0] <= pixel) & (pixel < ends[1]) for pixel in pixels))
        return lanes


class Walker(wiring.Component):
    """Visit the tiles that a rectangle touches, one a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    samples, rectangle : In
        They hold during a walk; the rectangle lies on the target.
    start : In(1)
        Begin a walk; not while :attr:`busy`.
    steps : In(1)
        Go on to the next tile.
    busy : Out(1)
        :attr:`x` and :attr:`y` are a tile of the walk.
    x, y : Out
    """

    def __init__(self, edge):
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__({
            "samples": In(2), "rectangle": In(RECTANGLE), "start": In(1), "steps": In(1, init=1),
            "busy": Out(1), "x": Out(position), "y": Out(position),
        })

    def elaborate(self, platform):
        m = Module()
        r = self.rectangle
        first, last = {}, {}
        for n, axis in enumerate("xy"):
            shift = tile_shift(self._edge, self.samples, n)
            first[axis], last[axis] = r[f"{axis}0"] >> shift, (r[f"{axis}1"] - 1)[:PIXELS] >> shift
        with m.If(self.start):
            m.d.sync += [self.busy.eq((r.x0 < r.x1) & (r.y0 < r.y1)), self.x.eq(first["x"]), self.y.eq(first["y"])]
        with m.Elif(self.steps & (self.x < last["x"])):
            m.d.sync += self.x.eq(self.x + 1)
        with m.Elif(self.steps):
            m.d.sync += [self.x.eq(first["x"]), self.y.eq(self.y + 1), self.busy.eq(self.busy & (self.y < last["y"]))]
        return m
