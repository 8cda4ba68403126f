# SPDX-License-Identifier: BSD-2-Clause
"""Gradients of quads: differences of coordinates, in texels too, and squared lengths."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply import Multiply, Square
from fixfunc.rtl.lib.float32.rounding import normalised
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.level_of_detail.logarithm import finite
from fixfunc.rtl.texture.state_feed import PIXELS, TURN
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.level_of_detail import GRADIENTS, LOD_QUAD, LOD_STATE

SQUARE = FLOAT32.magnitude  # bits: no sign
VECTOR = StructLayout({"u": 32, "v": 32})
# Two rows, then two columns: to the right, and downwards.
FOUR = 4
ROW, COLUMN = 0, 2


class Gradients(wiring.Component):
    """Gradients of both rows and both columns of a quad; free-running.

    Coarse ones are those of the first row and column, twice. So are those that a quad brings, of a
    pixel a clock.

    Parameters
    ----------
    explicit : bool
        Quads may bring gradients.

    Members
    -------
    i : In(StructLayout)
        ``state``, ``quad``; if they may be explicit, the number of the ``pixel``.
    differences : Out(ArrayLayout(VECTOR, 4))
        Of coordinates, :attr:`DIFFERENCES` clocks later.
    sizes : Out(VECTOR)
        Width and height as float32, as late.
    texels : Out(ArrayLayout(VECTOR, 4))
        Differences times sizes, :attr:`TEXELS` clocks later.
    squares : Out(ArrayLayout(VECTOR, 4))
        Squares of those, finite ones, :attr:`SQUARES` clocks later.
    lengths : Out(ArrayLayout(31, 4))
        Squared ones, :attr:`LENGTHS` clocks later.
    """

    DIFFERENCES = Add.STEPS
    TEXELS = DIFFERENCES + Multiply.STEPS
    SQUARES = TEXELS + Multiply.STEPS
    LENGTHS = SQUARES + Add.STEPS

    def __init__(self, explicit: bool) -> None:
        self._explicit = explicit
        vectors = Out(ArrayLayout(VECTOR, FOUR))
        quad = layout((*LOD_QUAD, *GRADIENTS) if explicit else LOD_QUAD)
        beat = {"state": layout(LOD_STATE), "quad": quad} | ({"pixel": TURN} if explicit else {})
        super().__init__(
            {
                "i": In(StructLayout(beat)),
                "differences": vectors,
                "sizes": Out(VECTOR),
                "texels": vectors,
                "squares": vectors,
                "lengths": Out(ArrayLayout(SQUARE, FOUR)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.sizes.u.eq(self._float(m, self.i.state.width, "width")),
            self.sizes.v.eq(self._float(m, self.i.state.height, "height")),
        ]
        brought = self._brought(m) if self._explicit else {}
        for n in range(2):
            self._length(m, ROW + n, (2 * n, 2 * n + 1), (0, 1), brought.get("across"))
            self._length(m, COLUMN + n, (n, n + 2), (0, 2), brought.get("down"))
        return m

    def _brought(self, m):
        """By way, whether there are such gradients, and those of the pixel; as late as others."""
        found = {}
        for way in ("across", "down"):
            options = [Cat(self.i.quad[f"{way}_{name}{n}"] for name in "uv") for n in range(PIXELS)]
            both = VECTOR(register(m, choose(self.i.pixel, options), 64, f"{way}_own"))
            values = {"flag": delay(m, self.i.state.explicit_gradients, 1, f"{way}_flag")}
            values |= {name: FLOAT32.flushed(both[name]) for name in "uv"}
            found[way] = late(m, f"{way}_brought", self.DIFFERENCES - 1, **values)
        return found

    def _length(self, m, number, ends, first, brought):
        """A gradient, from one pixel to another, or between the first ones, or one of a quad."""
        for name in "uv":
            label = f"{name}_{ends[0]}_{ends[1]}"
            a, b = (
                Mux(self.i.state.coarse, self.i.quad[f"{name}{k}"], self.i.quad[f"{name}{end}"])
                for k, end in zip(first, ends, strict=True)
            )
            m.submodules[f"subtract_{label}"] = subtract = Add()
            m.submodules[f"scale_{label}"] = scale = Multiply()
            m.submodules[f"square_{label}"] = square = Square()
            difference = subtract.o
            if brought is not None:
                difference = Mux(brought.flag, brought[name], subtract.o)
            m.d.comb += [
                subtract.a.eq(b),
                subtract.b.eq(a ^ (1 << FLOAT32.magnitude)),
                scale.a.eq(self.differences[number][name]),
                scale.b.eq(self.sizes[name]),
                square.a.eq(scale.o),
                self.differences[number][name].eq(difference),
                self.texels[number][name].eq(scale.o),
                self.squares[number][name].eq(finite(square.o)),
            ]
        m.submodules[f"length_{ends[0]}_{ends[1]}"] = length = Add()
        m.d.comb += [
            length.a.eq(self.squares[number].u),
            length.b.eq(self.squares[number].v),
            self.lengths[number].eq(length.o[:SQUARE]),
        ]

    def _float(self, m, size, name):
        """A size as float32, as late as gradients."""
        held = register(m, size, EXTENT + 1, f"{name}_held")
        shifted, zeros = normalised(m, held, name)
        exponent = named(m, (FLOAT32.bias + EXTENT - zeros)[: FLOAT32.exponent], f"{name}_exponent")
        fraction = Cat(Const(0, FLOAT32.fraction - EXTENT), shifted[:EXTENT])
        bits = register(m, Cat(fraction, exponent, Const(0, 1)), 32, f"{name}_float")
        return delay(m, bits, self.DIFFERENCES - 2, f"{name}_late")


def late(m: Module, name: str, clocks: int, **values: Value) -> View:
    """Values, by name, so many clocks later, in one memory."""
    shape = StructLayout({key: len(Value.cast(value)) for key, value in values.items()})
    return later(m, shape(Cat(values.values())), clocks, name)
