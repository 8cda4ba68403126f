# SPDX-License-Identifier: BSD-2-Clause
"""Rectangles of pixels: the samples of a tile within one, and the tiles that one touches."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.samples import SHAPES

PIXELS = 15  # bits of a pixel's place, one past the last included
RECTANGLE = StructLayout(dict.fromkeys(("x0", "y0", "x1", "y1"), PIXELS))


def tile_shift(edge: int, samples: int, axis: int) -> Value:
    """log2 of a tile's pixels along an axis."""
    return Array([edge.bit_length() - 1 - shape[axis] for shape in SHAPES])[samples]


def last_tile(m: Module, state: Value, edge: int) -> list[Signal]:
    """The target's last tile in x and in y. Registers."""
    last = [Signal(PIXELS, name=f"last_{axis}") for axis in "xy"]
    for n, side in enumerate(("width", "height")):
        last_pixel = (state[f"target_{side}"] - 1)[:PIXELS]
        m.d.sync += last[n].eq(last_pixel >> tile_shift(edge, state.samples, n))
    return last


class RectangleMask(wiring.Component):
    """Find the samples of a tile that lie in a rectangle. One tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel. It holds while tiles are in flight.
    rectangle : In(RECTANGLE)
        Pixels; ``x1`` and ``y1`` are exclusive.
    x, y : In
        The tile.
    o : Out(edge**2)
        Lanes of the tile that lie in the rectangle, :attr:`LATENCY` clocks later.
    """

    LATENCY = 4

    def __init__(self, edge: int) -> None:
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "samples": In(2),
                "rectangle": In(RECTANGLE),
                "x": In(position),
                "y": In(position),
                "o": Out(edge**2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = [
            self._lanes(m, axis, tile, n)
            for n, (axis, tile) in enumerate((("x", self.x), ("y", self.y)))
        ]
        m.d.sync += self.o.eq(Cat(Mux(row, lanes[0], 0) for row in lanes[1]))
        return m

    def _lanes(self, m, axis, tile, n):
        """Columns, or rows, of lanes: limits of the rectangle, cut to the tile; then every lane."""
        start = tile << tile_shift(self._edge, self.samples, n)
        limits = []
        for end in "01":
            distance = Signal(signed(PIXELS + 2), name=f"{axis}{end}_distance")
            pixel = Signal(range(self._edge + 1), name=f"{axis}{end}")
            m.d.sync += distance.eq(self.rectangle[f"{axis}{end}"] - start)
            m.d.sync += pixel.eq(
                Mux(distance < 0, 0, Mux(distance > self._edge, self._edge, distance))
            )
            limits.append(pixel)
        pixels = [
            Array([lane >> shape[n] for shape in SHAPES])[self.samples]
            for lane in range(self._edge)
        ]
        lanes = Signal(self._edge, name=f"{axis}_lanes")
        m.d.sync += lanes.eq(Cat((limits[0] <= pixel) & (pixel < limits[1]) for pixel in pixels))
        return lanes


class TileWalker(wiring.Component):
    """Visit the tiles that a rectangle touches, one a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel. It holds during a walk.
    rectangle : In(RECTANGLE)
        Within the target. It holds during a walk.
    start : In(1)
        Begin a walk. Not while ``busy``.
    step : In(1)
        Go on to the next tile.
    busy : Out(1)
        ``x`` and ``y`` are a tile of the walk.
    x, y : Out
    """

    def __init__(self, edge: int) -> None:
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "samples": In(2),
                "rectangle": In(RECTANGLE),
                "start": In(1),
                "step": In(1, init=1),
                "busy": Out(1),
                "x": Out(position),
                "y": Out(position),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        r = self.rectangle
        first = {}
        last = {}
        for n, axis in enumerate("xy"):
            shift = tile_shift(self._edge, self.samples, n)
            first[axis] = r[f"{axis}0"] >> shift
            last[axis] = (r[f"{axis}1"] - 1)[:PIXELS] >> shift
        with m.If(self.start):
            m.d.sync += [
                self.busy.eq((r.x0 < r.x1) & (r.y0 < r.y1)),
                self.x.eq(first["x"]),
                self.y.eq(first["y"]),
            ]
        with m.Elif(self.step & (self.x < last["x"])):
            m.d.sync += self.x.eq(self.x + 1)
        with m.Elif(self.step):
            m.d.sync += [
                self.x.eq(first["x"]),
                self.y.eq(self.y + 1),
                self.busy.eq(self.busy & (self.y < last["y"])),
            ]
        return m
