# SPDX-License-Identifier: BSD-2-Clause
"""Texels of a grid along an axis, by the address mode."""

from amaranth.hdl import Cat, Module, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import clamp, gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.spec.textures.addresses import EXTENT, Address

ABOVE = 6  # log2 of the sizes that are added, so that no place of WRAP or MIRROR is below zero


def request(extent: int) -> StructLayout:
    """A place on a level whose size has so many bits."""
    return StructLayout({"place": 25, "size": extent + 1, "offset": 6, "mode": 3, "smooth": 1})


TEXELS = StructLayout(
    {
        "first": EXTENT,
        "second": EXTENT,
        "fraction": 8,
        "borders": 2,
    }
)


class Axis(wiring.Component):
    """Two texels along an axis, one behind the other, and the weight of the second; free-running.

    Places of WRAP and MIRROR lie within two sizes of 0, and offsets within 32 texels: with 64 sizes
    they are positive, and below 128 sizes. Of 64 and 32, then 16 and 8, then 4 and 2 of them those
    are subtracted that fit; all that may be is subtracted at once.
    What remains lies within two sizes, which WRAP and MIRROR fold by themselves. Other modes are
    cut to the texture before, and pass unchanged.

    Parameters
    ----------
    extent : int
        log2 of the greatest size.

    Members
    -------
    i : In(request(extent))
    o : Out(TEXELS)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 8

    def __init__(self, extent: int) -> None:
        self._extent = extent
        super().__init__({"i": In(request(extent)), "o": Out(TEXELS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        half = self.i.smooth << 7
        at = register(m, self.i.place.as_signed() - half, 26, "at")
        offset = delay(m, self.i.offset, 1, "offset")
        mode = delay(m, self.i.mode, 2, "mode")
        size = delay(m, self.i.size, 2, "size")
        smooth = delay(m, self.i.smooth, 1, "smooth")
        texel = register(m, at[8:].as_signed() + offset.as_signed(), signed(19), "texel")
        fraction = delay(m, register(m, gated(at[:8], smooth), 8, "fraction"), 1, "held_fraction")
        inside, step, borders = self._cut(m, texel, size, mode)
        repeats = named(m, (mode == Address.WRAP) | (mode == Address.MIRROR), "repeats")
        lifted = (texel + (size << ABOVE))[: self._extent + ABOVE + 1]
        place = register(m, Mux(repeats, lifted, inside), self._extent + ABOVE + 1, "place")
        step = register(m, step, 2, "step")
        borders = register(m, borders, 2, "borders")
        repeats = delay(m, repeats, 1, "held_repeats")
        mirrors = register(m, mode == Address.MIRROR, 1, "mirrors")
        early_size = size
        size = delay(m, size, 1, "held_size")
        triple = register(m, early_size + (early_size << 1), self._extent + 2, "triple")
        for clock in range(3):
            k = ABOVE - 2 * clock - 1
            fitting = place
            for n, part in enumerate((size, size << 1, triple)):
                difference = named(m, place - (part << k), f"less_{clock}_{n}")
                fitting = Mux(difference < 0, fitting, difference)
            place = register(m, fitting, len(place), f"place_{clock}")
            size = delay(m, size, 1, f"size_{clock}")
            triple = delay(m, triple, 1, f"triple_{clock}")
        step, borders, repeats, mirrors, fraction = (
            delay(m, value, 4, f"late_{name}")
            for name, value in (
                ("step", step),
                ("borders", borders),
                ("repeats", repeats),
                ("mirrors", mirrors),
                ("fraction", fraction),
            )
        )
        place = place[: self._extent + 1]
        following = Mux(place + 1 == size << 1, 0, place + 1)
        following = register(m, following, len(place), "following")
        place = register(m, place, len(place), "repeated")
        size = delay(m, size, 1, "last_size")
        m.d.sync += [
            self.o.first.eq(Mux(repeats, fold(m, place, size, mirrors, "first"), place)),
            self.o.second.eq(
                Mux(repeats, fold(m, following, size, mirrors, "second"), place + step.as_signed())
            ),
            self.o.fraction.eq(fraction),
            self.o.borders.eq(borders),
        ]
        return m

    def _cut(self, m, texel, size, mode):
        """A texel of the other modes, the step to the next one, and which are the border."""
        negative = texel < 0
        once = mode == Address.MIRROR_ONCE
        turned = named(m, Mux(once & negative, ~texel, texel), "turned")
        last = named(m, size - 1, "last")
        inside = named(m, clamp(turned, 0, last), "inside")
        is_short = named(m, turned < last, "is_short")
        up = ~negative & is_short
        down = once & negative & (turned != 0) & (turned < size)
        is_border = mode == Address.BORDER
        first = is_border & (negative | (texel >= size))
        second = is_border & ((texel < -1) | (texel >= last))
        return inside, Cat(up | down, down), Cat(first, second)


def fold(m, place, size, mirrors, name):
    """A place below two sizes, in one: from its start again, or backwards."""
    beyond = named(m, place - size, f"{name}_beyond")
    mirrored = (size << 1) - 1 - place
    return named(m, Mux(beyond < 0, place, Mux(mirrors, mirrored, beyond))[:EXTENT], name)
