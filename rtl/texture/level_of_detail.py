# SPDX-License-Identifier: BSD-2-Clause
"""Level of detail: coordinates of quads become levels, without anisotropy."""

import math
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, clamp, maximum, minimum, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply import Multiply
from fixfunc.rtl.lib.float32.rounding import normalised
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.state_feed import feed
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.level_of_detail import LOD, LOD_OF_QUAD, LOD_QUAD, LOD_STATE, LodKind

BEATS = UnionLayout({"kind": 1, "state": layout(LOD_STATE), "quad": layout(LOD_QUAD)})
GRADIENTS = StructLayout({"state": layout(LOD_STATE), "quad": layout(LOD_QUAD)})
LEAST = -(1 << LOD - 1)
MOST = (1 << LOD - 1) - 1
FINITE = 0x7F7FFFFF  # the greatest float32
# Of mantissas, by their first eight bits.
LOGARITHMS = [round(256 * math.log2(1 + n / 256)) for n in range(256)]


@dataclass(frozen=True)
class LevelOfDetailParams:
    """Shape of a :class:`LevelOfDetail`: there is one."""


CONFIGS = {"default": LevelOfDetailParams(), "tiny": LevelOfDetailParams()}
PURPOSE = {  # of each configuration
    "default": "levels of textures of two dimensions, without anisotropy",
    "tiny": "for benches: the default by another name",
}


class LevelOfDetail(wiring.Component):
    """Levels of detail of quads by the longer gradient, with biases, within bounds: a quad a clock.

    Parameters
    ----------
    params : LevelOfDetailParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.level_of_detail.LodKind`.
    o : Out(stream.Signature(layout(LOD_OF_QUAD)))
        :attr:`latency` clocks behind a quad at the earliest.
    """

    def __init__(self, params: LevelOfDetailParams = CONFIGS["default"]) -> None:
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(LOD_OF_QUAD))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad to its levels."""
        return Levels.LATENCY + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.levels = pipeline = StallablePipeline(Levels(), Levels.LATENCY)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        feed(m, self.i, pipeline, LodKind.QUAD)
        return m


class Levels(wiring.Component):
    """Levels of detail of a quad; free-running.

    Members
    -------
    i : In(GRADIENTS)
    o : Out(layout(LOD_OF_QUAD))
        :attr:`LATENCY` clocks later.
    """

    BEFORE = Add.STEPS + 2 * Multiply.STEPS + Add.STEPS  # squared lengths
    LATENCY = BEFORE + 6

    def __init__(self) -> None:
        super().__init__({"i": In(GRADIENTS), "o": Out(layout(LOD_OF_QUAD))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        states = [later(m, self.i.state, self.BEFORE + 1, "state")]
        for clock in range(4):
            states.append(delay(m, states[-1], 1, f"state_{clock}"))
        biases = self._biases(m)
        floor = self._floor(m, states)
        across, down = self._squares(m)
        for pixel in range(4):
            longer = maximum(across[pixel >> 1], down[pixel & 1])
            square = register(m, longer, FLOAT32.magnitude, f"square_{pixel}")
            self._level(m, square, biases[pixel], states, floor, pixel)
        return m

    def _biases(self, m):
        """Of the pixels, as late as the greater squares."""
        shape = StructLayout({f"bias{pixel}": signed(LOD) for pixel in range(4)})
        biases = Signal(shape, name="own_biases")
        m.d.comb += [biases[f"bias{n}"].eq(self.i.quad[f"bias{n}"]) for n in range(4)]
        held = later(m, biases, self.BEFORE + 1, "biases")
        return [held[f"bias{pixel}"] for pixel in range(4)]

    def _floor(self, m, states):
        """The lower bound of all pixels, and whether it is above the upper one; it prevails."""
        own_least = Mux(states[1].least > 0, states[1].least, LEAST)
        lower = register(m, maximum(states[1].minimum, own_least), signed(LOD), "lower")
        always = register(m, lower >= states[2].maximum, 1, "always")
        return delay(m, lower, 1, "floor"), always

    def _squares(self, m):
        """Squared lengths of the gradients of rows, and of columns."""
        sizes = [self._float(m, self.i.state[name], name) for name in ("width", "height")]
        # Of coarse gradients, those of the first row and column.
        rows = [self._length(m, (2 * n, 2 * n + 1), (0, 1), sizes) for n in range(2)]
        columns = [self._length(m, (n, n + 2), (0, 2), sizes) for n in range(2)]
        return rows, columns

    def _length(self, m, ends, first, sizes):
        """The squared length, in texels, from one pixel to another."""
        squares = []
        for name, size in zip("uv", sizes, strict=True):
            label = f"{name}_{ends[0]}_{ends[1]}"
            a, b = (
                Mux(self.i.state.coarse, self.i.quad[f"{name}{k}"], self.i.quad[f"{name}{end}"])
                for k, end in zip(first, ends, strict=True)
            )
            m.submodules[f"subtract_{label}"] = subtract = Add()
            m.submodules[f"scale_{label}"] = scale = Multiply()
            m.submodules[f"square_{label}"] = square = Multiply()
            m.d.comb += [
                subtract.a.eq(b),
                subtract.b.eq(a ^ (1 << FLOAT32.magnitude)),
                scale.a.eq(subtract.o),
                scale.b.eq(size),
                square.a.eq(scale.o),
                square.b.eq(scale.o),
            ]
            squares.append(named(m, finite(square.o), f"finite_{label}"))
        m.submodules[f"length_{ends[0]}_{ends[1]}"] = length = Add()
        m.d.comb += [length.a.eq(squares[0]), length.b.eq(squares[1])]
        return length.o[: FLOAT32.magnitude]

    def _float(self, m, size, name):
        """A size as float32, as late as gradients."""
        held = register(m, size, EXTENT + 1, f"{name}_held")
        shifted, zeros = normalised(m, held, name)
        exponent = named(m, (FLOAT32.bias + EXTENT - zeros)[: FLOAT32.exponent], f"{name}_exponent")
        fraction = Cat(Const(0, FLOAT32.fraction - EXTENT), shifted[:EXTENT])
        bits = register(m, Cat(fraction, exponent, Const(0, 1)), 32, f"{name}_float")
        return delay(m, bits, Add.STEPS - 2, f"{name}_late")

    def _level(self, m, square, bias, states, floor, pixel):
        """A level by a squared length; five clocks."""
        fraction = FLOAT32.fraction
        entry = choose(square[fraction - 8 : fraction], [Const(n, 8) for n in LOGARITHMS])
        exponent = named(m, square[fraction:] - FLOAT32.bias, f"exponent_{pixel}")
        logarithm = named(m, Cat(entry, exponent[:9]).as_signed(), f"logarithm_{pixel}")
        is_zero = ~square[fraction:].any()
        unclamped = register(
            m, Mux(is_zero, LEAST >> 1, logarithm >> 1), signed(LOD), f"unclamped_{pixel}"
        )
        own = delay(m, bias, 1, f"bias_{pixel}")
        biased = clamp(unclamped + own, LEAST, MOST)
        biased = register(m, biased, signed(LOD), f"biased_{pixel}")
        both = clamp(biased + states[2].bias, LEAST, MOST)
        both = register(m, both, signed(LOD), f"both_{pixel}")
        upper = minimum(both, states[3].maximum)
        lower, always = floor
        is_least = named(m, always | (both < lower), f"is_least_{pixel}")
        # Bounds of the state, then those of the levels: in one clock they are six comparisons.
        lod = register(m, Mux(is_least, lower, upper), signed(LOD), f"lod_{pixel}")
        state = states[4]
        held = named(m, clamp(lod, 0, state.last << 8)[:12], f"held_{pixel}")
        nearest = minimum((held + 128)[8:], state.last)
        m.d.sync += [
            self.o[f"unclamped{pixel}"].eq(delay(m, unclamped, 3, f"unclamped_{pixel}_late")),
            self.o[f"level{pixel}"].eq(Mux(state.smooth, held[8:], nearest)),
            self.o[f"fraction{pixel}"].eq(Mux(state.smooth, held[:8], 0)),
            self.o[f"minifies{pixel}"].eq(lod > 0),
        ]


def finite(square: Value) -> Value:
    """A square: the greatest number for infinity, 0 for what is no number."""
    return Mux(FLOAT32.is_nan(square), 0, Mux(FLOAT32.is_infinite(square), FINITE, square))
