# SPDX-License-Identifier: BSD-2-Clause
"""Weights of a triangle's corners at the four pixels of a quad."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.arithmetic.reciprocal import Reciprocal
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import later, register
from fixfunc.rtl.pixel.interpolator.planes import PLANES, SLOPE, F

FRACTION = 24  # bits of a weight behind the point
WEIGHT = 27  # bits of a weight under its exponent
SUM = 28  # bits of the sum of f, normalised
RECIPROCAL = 54  # log2 of what the sum divides
WHOLE = 8  # bits of f before the point
SHARE = SUM + WHOLE + 1  # bits of f, normalised
HELD = SUM + 1  # bits of f under its exponent
EXPONENT = 4
WEIGHTS = StructLayout({"u": signed(WEIGHT), "v": signed(WEIGHT), "exponent": EXPONENT})
TOTAL = F - 1  # bits of the sum of f, which is positive
NAMES = "second", "third"
OFFSET = StructLayout({"x": signed(5), "y": signed(5)})
FOUR = StructLayout({"planes": PLANES, "x": 14, "y": 14, "offset": OFFSET})


class Weights(wiring.Component):
    """Weights of the second and third corner at four pixels; a quad a clock, free-running.

    Members
    -------
    i : In(FOUR)
        Functions of the triangle; the quad's upper left pixel, whose coordinates are even; and
        the offset from the centres of its pixels, 1/16 pixel.
    o : Out(ArrayLayout(WEIGHTS, 4))
        :attr:`latency` clocks later, in units of 2^(exponent - 24).
    """

    def __init__(self) -> None:
        self._pixel = PixelWeights()
        self._base = Multiplier(SLOPE, 14).latency + 1
        super().__init__({"i": In(FOUR), "o": Out(ArrayLayout(WEIGHTS, 4))})

    @property
    def latency(self) -> int:
        """Clocks from a quad to its weights."""
        return self._base + 1 + self._pixel.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pixels = [PixelWeights() for _ in range(4)]
        for n, pixel in enumerate(pixels):
            m.submodules[f"pixel_{n}"] = pixel
            m.d.comb += self.o[n].eq(pixel.o)
        kept = later(m, self.i, self._base - 2, "kept")
        planes = register(m, kept.planes, PLANES, "planes")
        slopes = register(m, planes, PLANES, "slopes")
        for name, _ in PLANES:
            products = [self._product(m, name, axis) for axis in "xy"]
            its = kept.planes[name]
            steps = its.x * kept.offset.x + its.y * kept.offset.y
            step = register(m, steps, signed(SLOPE + 6), f"{name}_step")
            base = planes[name].origin + (sum(products) << 9) + (step << 4)
            base = register(m, base, signed(F), name)
            for n, pixel in enumerate(pixels):
                right = slopes[name].x << 8 if n & 1 else 0
                down = slopes[name].y << 8 if n >> 1 else 0
                value = register(m, base + right + down, signed(F), f"{name}_at_{n}")
                m.d.comb += pixel.i[name].eq(value)
        return m

    def _product(self, m, name, axis):
        """How much f grows from an end of the target to the quad, by steps of two pixels."""
        m.submodules[f"{name}_{axis}_product"] = product = Multiplier(SLOPE, 14)
        m.d.comb += [
            product.a.eq(self.i.planes[name][axis]),
            product.b.eq(self.i[axis][1:]),
        ]
        return product.o


class PixelWeights(wiring.Component):
    """Weights at one position; one a clock, free-running.

    Members
    -------
    i : In(StructLayout({"second": signed(F), "third": signed(F), "total": signed(F)}))
    o : Out(WEIGHTS)
        :attr:`latency` clocks later.
    """

    NORMALISE = 3

    def __init__(self) -> None:
        self._reciprocal = Reciprocal(SUM, RECIPROCAL)
        functions = {name: signed(F) for name, _ in PLANES}
        super().__init__({"i": In(StructLayout(functions)), "o": Out(WEIGHTS)})

    @property
    def latency(self) -> int:
        """Clocks from f to weights."""
        return self.NORMALISE + self._reciprocal.latency + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.reciprocal = reciprocal = self._reciprocal
        total, shares = self._normalise(m)
        m.d.comb += reciprocal.divisor.eq(total)
        # Both shares under one exponent, while the reciprocal is found.
        above = [share[SUM:-1] ^ share[-1].replicate(WHOLE) for share in shares]
        either = named(m, above[0] | above[1], "above")
        exponent = Signal(EXPONENT)
        for n in range(WHOLE):
            with m.If(either[n]):
                m.d.comb += exponent.eq(n + 1)
        held = Signal(StructLayout({**dict.fromkeys(NAMES, signed(HELD)), "exponent": EXPONENT}))
        m.d.sync += [
            held.exponent.eq(exponent),
            *(held[name].eq(share >> exponent) for name, share in zip(NAMES, shares, strict=True)),
        ]
        kept = later(m, held, reciprocal.latency - 1, "kept")
        self._multiply(m, kept, reciprocal.o)
        return m

    def _normalise(self, m):
        """The sum with its highest bit on top, and f shifted as much: held to s8.28."""
        least = named(m, self.i.total <= 0, "least")
        total = named(m, Mux(least, 1, self.i.total)[:TOTAL], "total")
        shares = []
        for name in NAMES:
            share = self.i[name]
            sign = share[-1]
            bits = Cat(share[:-1], sign.replicate(WHOLE))
            shares.append({"bits": bits, "sign": sign, "beyond": Const(0, 1)})
        levels = list(reversed(range((TOTAL - 1).bit_length())))
        for n, k in enumerate(levels):
            domain = "sync" if n in (2, 4, 6) else "comb"
            empty = named(m, ~total[TOTAL - (1 << k) :].any(), f"empty_{k}")
            for name, share in zip(NAMES, shares, strict=True):
                bits = share["bits"]
                lost = bits[TOTAL + WHOLE - (1 << k) :] ^ share["sign"].replicate(1 << k)
                share["beyond"] = share["beyond"] | (empty & lost.any())
                share["bits"] = Mux(empty, bits << (1 << k), bits)[: TOTAL + WHOLE]
                for part, value in share.items():
                    share[part] = _named(m, domain, value, f"{name}_{part}_by_{k}")
            shifted = Mux(empty, total << (1 << k), total)[:TOTAL]
            total = _named(m, domain, shifted, f"total_by_{k}")
        return total[-SUM:], [self._held(m, *pair) for pair in zip(NAMES, shares, strict=True)]

    def _held(self, m, name, share):
        """The highest bits of f; where it is beyond them, the last number of its sign."""
        bits = share["bits"][TOTAL - SUM :]
        end = (~share["sign"]).replicate(SUM + WHOLE)
        value = Cat(Mux(share["beyond"], end, bits), share["sign"]).as_signed()
        return named(m, value, f"{name}_held")

    def _multiply(self, m, kept, reciprocal):
        """By the reciprocal; the nearest."""
        exponent = Signal(EXPONENT)
        m.d.sync += [exponent.eq(kept.exponent), self.o.exponent.eq(exponent)]
        cut = RECIPROCAL - FRACTION
        width = HELD + len(reciprocal)
        for name, out in zip(NAMES, (self.o.u, self.o.v), strict=True):
            rows = [*partial_products(kept[name], reciprocal), Const(1 << cut - 1)]
            low, high = carry_save(m, rows, width, f"{name}_rows")
            total = register(m, low, width, f"{name}_low") + register(
                m, high, width, f"{name}_high"
            )
            m.d.sync += out.eq(total[:width].as_signed() >> cut)


def _named(m, domain, value, name):
    """A value under a name of its own, in this clock or the next one."""
    if domain == "comb":
        return named(m, value, name)
    return register(m, value, value.shape(), name)
