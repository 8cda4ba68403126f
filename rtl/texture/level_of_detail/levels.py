# SPDX-License-Identifier: BSD-2-Clause
"""Levels of detail of quads."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import clamp, maximum, minimum, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.level_of_detail.footprints import FOOTPRINT, Footprints
from fixfunc.rtl.texture.level_of_detail.gradients import (
    COLUMN,
    ROW,
    SQUARE,
    Gradients,
)
from fixfunc.rtl.texture.level_of_detail.logarithm import LEAST, MOST, logarithm
from fixfunc.rtl.texture.state_feed import PIXELS, TURN
from fixfunc.spec.textures.level_of_detail import (
    FOOTPRINTS_OF_QUAD,
    GRADIENTS,
    LOD,
    LOD_OF_QUAD,
    LOD_QUAD,
    LOD_STATE,
)


class Levels(wiring.Component):
    """Levels of detail of a quad; free-running.

    A quad of an anisotropic filter, or one that brings gradients, comes in four clocks, one behind
    the other, each with the number of a pixel; what leaves with the last one is of all of them.

    Parameters
    ----------
    footprints, gradients : bool

    Members
    -------
    i : In(StructLayout)
        ``state``, ``quad``; with footprints or gradients ``pixel``.
    o : Out(layout(LOD_OF_QUAD)), or Out(layout(FOOTPRINTS_OF_QUAD))
        :attr:`latency` clocks later.
    """

    _BOUNDS = 6  # clocks behind a squared length

    def __init__(self, footprints: bool, gradients: bool) -> None:
        self._footprints = footprints
        self._gradients = gradients
        self.turns = footprints or gradients
        self._before = Gradients.LENGTHS
        if footprints:
            self._before = Gradients.DIFFERENCES + Footprints.LATENCY
        # The last field is the number of samples, which nothing else needs.
        state = layout(LOD_STATE if footprints else LOD_STATE[:-1])
        quad = layout((*LOD_QUAD, *GRADIENTS) if gradients else LOD_QUAD)
        beat = {"state": state, "quad": quad} | ({"pixel": TURN} if self.turns else {})
        super().__init__(
            {
                "i": In(StructLayout(beat)),
                "o": Out(layout(FOOTPRINTS_OF_QUAD if footprints else LOD_OF_QUAD)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad to its levels."""
        return self._before + self._BOUNDS

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.gradients = gradients = Gradients(self._gradients)
        m.d.comb += [
            gradients.i.state.eq(self.i.state),
            gradients.i.quad.eq(self.i.quad),
        ]
        if self._gradients:
            m.d.comb += gradients.i.pixel.eq(self.i.pixel)
        states = [later(m, self.i.state, self._before + 1, "state")]
        for clock in range(4):
            states.append(delay(m, states[-1], 1, f"state_{clock}"))
        biases = self._biases(m)
        floor = self._floor(m, states)
        squares = self._squares(m, gradients, states[0])
        found = self._found(m, gradients, states[0]) if self._footprints else [None] * PIXELS
        for pixel in range(PIXELS):
            self._level(m, squares[pixel], found[pixel], biases[pixel], states, floor, pixel)
        return m

    def _biases(self, m):
        """Of the pixels, as late as the greater squares."""
        shape = StructLayout({f"bias{pixel}": signed(LOD) for pixel in range(PIXELS)})
        biases = Signal(shape, name="own_biases")
        m.d.comb += [biases[f"bias{n}"].eq(self.i.quad[f"bias{n}"]) for n in range(PIXELS)]
        held = later(m, biases, self._before + 1, "biases")
        return [held[f"bias{pixel}"] for pixel in range(PIXELS)]

    def _floor(self, m, states):
        """The lower bound of all pixels, and whether it is above the upper one; it prevails."""
        own_least = Mux(states[1].least > 0, states[1].least, LEAST)
        lower = register(m, maximum(states[1].minimum, own_least), signed(LOD), "lower")
        always = register(m, lower >= states[2].maximum, 1, "always")
        return delay(m, lower, 1, "floor"), always

    def _squares(self, m, gradients, state):
        """The greater squared length of each pixel, in the clock behind the last lengths."""
        lengths = gradients.lengths
        longer = [
            register(
                m,
                maximum(lengths[ROW + (pixel >> 1)], lengths[COLUMN + (pixel & 1)]),
                SQUARE,
                f"square_{pixel}",
            )
            for pixel in range(PIXELS)
        ]
        if self._footprints:
            shape = ArrayLayout(SQUARE, PIXELS)
            own = Signal(shape, name="own_squares")
            m.d.comb += [own[pixel].eq(square) for pixel, square in enumerate(longer)]
            held = later(m, own, self._before - Gradients.LENGTHS, "squares")
            longer = [held[pixel] for pixel in range(PIXELS)]
        if not self._gradients:
            return longer
        # Gradients that a quad brings are those of a pixel: the earlier ones came clocks before.
        turns = [longer[-1]]
        for _ in range(PIXELS - 1):
            turns.append(delay(m, turns[-1], 1, f"square_before_{len(turns)}"))
        return [
            Mux(state.explicit_gradients, turn, plain)
            for turn, plain in zip(reversed(turns), longer, strict=True)
        ]

    def _found(self, m, gradients, state):
        """Levels of footprints, None of others; number of samples and axis go to the outputs."""
        m.submodules.footprints = unit = Footprints()
        pixels = [delay(m, self.i.pixel, Gradients.DIFFERENCES, "pixel")]
        for name, clock, target in (
            ("differences", Gradients.DIFFERENCES, unit.differences),
            ("texels", Gradients.TEXELS, unit.texels),
            ("squares", Gradients.SQUARES, unit.squares),
            ("lengths", Gradients.LENGTHS, unit.lengths),
        ):
            while len(pixels) <= clock - Gradients.DIFFERENCES:
                pixels.append(delay(m, pixels[-1], 1, f"pixel_{len(pixels)}"))
            pixel = pixels[clock - Gradients.DIFFERENCES]
            four = getattr(gradients, name)
            m.d.sync += [
                target.x.eq(Mux(pixel[1], four[ROW + 1], four[ROW])),
                target.y.eq(Mux(pixel[0], four[COLUMN + 1], four[COLUMN])),
            ]
        anisotropy = delay(m, self.i.state.anisotropy, Gradients.DIFFERENCES, "anisotropy")
        m.d.sync += [
            unit.sizes.eq(gradients.sizes),
            unit.anisotropy.eq(anisotropy),
        ]
        return self._put_footprints(m, unit.o, state)

    def _put_footprints(self, m, footprint, state):
        """Of all pixels with the last one; those of the earlier ones came some clocks before."""
        is_anisotropic = named(m, state.anisotropy > 1, "is_anisotropic")
        turns = [footprint]
        for _ in range(PIXELS - 1):
            turns.append(delay(m, turns[-1], 1, f"footprint_{len(turns)}"))
        own = Signal(ArrayLayout(FOOTPRINT, PIXELS), name="own_footprints")
        for pixel, found in enumerate(reversed(turns)):
            m.d.comb += own[pixel].eq(Mux(is_anisotropic, found, NONE))
        held = later(m, own, self._BOUNDS - 1, "footprints_held")
        for pixel in range(PIXELS):
            m.d.comb += [
                self.o[f"count{pixel}"].eq(held[pixel].count),
                self.o[f"along_u{pixel}"].eq(held[pixel].along.u),
                self.o[f"along_v{pixel}"].eq(held[pixel].along.v),
            ]
        return [(is_anisotropic, own[pixel].lod) for pixel in range(PIXELS)]

    def _level(self, m, square, found, bias, states, floor, pixel):
        """A level by a squared length, or by a footprint; five clocks."""
        unclamped = logarithm(m, square, str(pixel)) >> 1
        if found:
            unclamped = Mux(*found, unclamped)
        unclamped = Mux(states[0].explicit_level, 0, unclamped)
        unclamped = register(m, unclamped, signed(LOD), f"unclamped_{pixel}")
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
        nearest = (held + 128)[8:]
        m.d.sync += [
            self.o[f"unclamped{pixel}"].eq(delay(m, unclamped, 3, f"unclamped_{pixel}_late")),
            self.o[f"level{pixel}"].eq(Mux(state.smooth, held[8:], nearest)),
            self.o[f"fraction{pixel}"].eq(Mux(state.smooth, held[:8], 0)),
            self.o[f"minifies{pixel}"].eq(lod > 0),
        ]


NONE = 1 << LOD  # of a footprint: one sample, no axis
