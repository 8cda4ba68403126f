# SPDX-License-Identifier: BSD-2-Clause
"""Places: coordinates times sizes, as texels of a level in fixed point."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.bits import clamp, gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.unit.layouts import PIXELS, PLACE, GridBeats
from fixfunc.spec.textures.addresses import EXTENT

FRACTION = 8  # bits of a place behind its point
WHOLE = FLOAT32.bias + FLOAT32.fraction  # exponent of a float32 whose lowest bit is 1
MOST = (1 << PLACE - 1) - 1
SHIFT = 6  # bits


class Place(wiring.Component):
    """A coordinate times a size: rounded once, ties to even, held to s16.8; free-running.

    Members
    -------
    coordinate : In(32)
        float32; no number is 0.
    size : In(EXTENT + 1)
    repeats : In(1)
        The coordinate counts modulo 2, its sign kept.
    o : Out(signed(PLACE))
        :attr:`LATENCY` clocks later.
    """

    _PRODUCT = 2
    LATENCY = 1 + _PRODUCT + 4

    def __init__(self) -> None:
        super().__init__(
            {
                "coordinate": In(32),
                "size": In(EXTENT + 1),
                "repeats": In(1),
                "o": Out(signed(PLACE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exponent = FLOAT32.exponent_of(self.coordinate)
        # What is 2 or more of a coordinate that repeats: the mantissa's bits from here on.
        above = Mux(exponent > FLOAT32.bias, exponent - FLOAT32.bias, 0)
        ones = Const((1 << FLOAT32.mantissa) - 1)
        kept = Mux(self.repeats, Mux(above[5:].any(), 0, ones >> above[:5]), ones)
        is_number = ~FLOAT32.is_nan(self.coordinate)
        mantissa = register(
            m,
            gated(FLOAT32.mantissa_of(self.coordinate) & kept, is_number),
            FLOAT32.mantissa,
            "mantissa",
        )
        held_size = register(m, self.size, EXTENT + 1, "held_size")
        width = FLOAT32.mantissa + EXTENT + 1
        parts = partial_products(mantissa, held_size)
        halves = carry_save(m, parts, width, "parts")
        halves = [register(m, half, width, f"half_{n}") for n, half in enumerate(halves)]
        product = register(m, sum(halves), width, "product")
        sign = register(m, FLOAT32.sign_of(self.coordinate), 1, "sign")
        sign = delay(m, sign, self._PRODUCT, "sign_held")
        beyond = register(m, exponent > WHOLE, 1, "beyond")
        beyond = delay(
            m, named(m, beyond & mantissa.any(), "is_vast"), self._PRODUCT, "beyond_held"
        )
        down = register(m, Mux(exponent > WHOLE, 0, WHOLE - exponent), 8, "down")
        shift = register(m, Mux(down[SHIFT:].any(), -1, down[:SHIFT]), SHIFT, "shift")
        self._round(m, product, delay(m, shift, self._PRODUCT - 1, "shift_held"), sign, beyond)
        return m

    def _round(self, m, product, shift, sign, beyond):
        """A product shifted down, the nearest, with its sign; four clocks."""
        # A bit below the lowest tells a half, and the sticky one whether there is more.
        width = FLOAT32.mantissa + EXTENT + 1 + FRACTION + 1
        coarse, lost = shifted(m, product << FRACTION + 1, shift, (5, 4, 3), Const(0, 1))
        value = register(m, coarse, width, "coarse")
        sticky = register(m, lost, 1, "coarse_sticky")
        late = delay(m, shift, 1, "late_shift")
        fine, lost = shifted(m, value, late, (2, 1, 0), sticky)
        value = register(m, fine, width, "fine")
        sticky = register(m, lost, 1, "fine_sticky")
        up = value[0] & (sticky | value[1])
        nearest = register(m, value[1:] + up, width, "nearest")
        vast = named(m, delay(m, beyond, 3, "vast") | nearest[PLACE - 1 :].any(), "vast_place")
        negative = delay(m, sign, 3, "negative")
        held = Mux(vast, MOST, nearest[: PLACE - 1])
        m.d.sync += self.o.eq(Mux(negative, Mux(vast, -MOST - 1, -held), held))


def shifted(m, value, shift, steps, sticky):
    """A value shifted down by some bits of ``shift``, and whether ones were lost."""
    lost = [sticky]
    for k in steps:
        lost.append(shift[k] & value[: 1 << k].any())
        value = named(m, Mux(shift[k], value >> (1 << k), value), f"by_{1 << k}")
    return value, named(m, Cat(lost).any(), f"lost_{steps[-1]}")


class Places(wiring.Component):
    """Places of the pixels of a grid; free-running. Those of a cube are held to their face.

    Parameters
    ----------
    beats : GridBeats

    Members
    -------
    i : In(beats.to_place)
    o : Out(beats.placed)
        :attr:`latency` clocks later.
    """

    def __init__(self, beats: GridBeats) -> None:
        self._cubes = "cube" in beats.placed.members
        super().__init__({"i": In(beats.to_place), "o": Out(beats.placed)})

    @property
    def latency(self) -> int:
        """Clocks of a grid: one more where it may be held."""
        return 1 + Place.LATENCY + self._cubes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kept = Signal.like(self.o)
        m.d.comb += [kept.kind.eq(self.i.kind), *carried(kept, self.i, ("kind", "pixels"))]
        for pixel in range(PIXELS):
            m.d.comb += carried(kept.pixels[pixel], self.i.pixels[pixel])
            if self._cubes:
                # Faces are square.
                size = named(m, self.i.width >> self.i.pixels[pixel].level, f"face_{pixel}")
                m.d.comb += kept.pixels[pixel].last.eq(Mux(size.any(), size - 1, 0))
        late = delay(m, kept, 1 + Place.LATENCY, "kept")
        held = delay(m, late, 1, "held") if self._cubes else late
        self._carry(m, held)
        for pixel in range(PIXELS):
            for coordinate, name, size in (("u", "x", "width"), ("v", "y", "height")):
                m.submodules[f"place_{name}{pixel}"] = place = Place()
                level = self.i.pixels[pixel].level
                extent = named(m, self.i[size] >> level, f"{size}_{pixel}")
                m.d.sync += [
                    place.coordinate.eq(self.i.pixels[pixel][coordinate]),
                    place.size.eq(Mux(extent.any(), extent, 1)),
                    place.repeats.eq(self.i[f"repeats_{coordinate}"]),
                ]
                found = place.o
                if self._cubes:
                    found = register(m, on_face(found, late, pixel), PLACE, f"{name}_{pixel}")
                m.d.comb += self.o.pixels[pixel][name].eq(found)
        return m

    def _carry(self, m, late):
        """What is no place."""
        m.d.comb += [self.o.kind.eq(late.kind), *carried(self.o, late, ("kind", "pixels"))]
        for pixel in range(PIXELS):
            m.d.comb += carried(self.o.pixels[pixel], late.pixels[pixel], ("x", "y"))


def on_face(place: Value, grid: View, pixel: int) -> Value:
    """A place on a cube's face; a point at a far edge is of the face itself."""
    own = grid.pixels[pixel]
    end = Cat(~own.smooth.replicate(FRACTION), Mux(own.smooth, own.last + 1, own.last))
    return Mux(grid.cube, clamp(place, 0, end[: PLACE - 1]), place)
