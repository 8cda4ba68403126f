# SPDX-License-Identifier: BSD-2-Clause
"""Texture stage: colours of quads without a shader."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.bits import choose, minimum, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.lib.float32.compare import Compare
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.rounding import normalised
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.spec.pixels.texture_stage import (
    CHANNELS,
    SHADED_QUAD,
    STAGE_QUAD,
    STAGE_STATE,
    StageKind,
    TextureOp,
)
from fixfunc.spec.points import QUAD, QUAD_SAMPLES

BITS = 16  # of UNORM
ALPHA = CHANNELS.index("a")
BEATS = UnionLayout({"kind": 1, "state": layout(STAGE_STATE), "quad": layout(STAGE_QUAD)})
PIXELS = ArrayLayout(ArrayLayout(32, len(CHANNELS)), 4)
TEXELS = ArrayLayout(ArrayLayout(BITS, len(CHANNELS)), 4)
COLOURED = StructLayout(
    {
        "quad": layout(QUAD),
        "colours": PIXELS,
        "texels": TEXELS,
        "op": 3,
        "alpha_test": 3,
        "alpha_reference": 32,
    }
)


@dataclass(frozen=True)
class TextureStageParams:
    """Shape of a :class:`TextureStage`.

    Parameters
    ----------
    textured : bool
        Texels count; else every operation is NONE.
    """

    textured: bool = True


CONFIGS = {
    "default": TextureStageParams(),
    "plain": TextureStageParams(textured=False),
    "tiny": TextureStageParams(),
}
PURPOSE = {  # of each configuration
    "default": "constant or interpolated colours, textured, alpha test",
    "plain": "the same without textures: less area",
    "tiny": "for benches: the default by another name",
}


class TextureStage(wiring.Component):
    """A colour for every pixel of a quad: constant or interpolated, with a texel, alpha-tested.

    A quad a clock. Its attributes come one by one; the colour is one of them.

    Parameters
    ----------
    params : TextureStageParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, between quads, or QUAD: :class:`fixfunc.spec.pixels.texture_stage.StageKind`.
    o : Out(stream.Signature(layout(SHADED_QUAD)))
        Quads, even those that the alpha test leaves nothing of. :attr:`latency` clocks behind the
        end of a quad at the earliest.
    """

    def __init__(self, params: TextureStageParams = CONFIGS["default"]) -> None:
        self._unit = Colours(params.textured)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(SHADED_QUAD))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from the end of a quad to its colours."""
        return self._unit.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.colours = pipeline = StallablePipeline(self._unit, self._unit.latency)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        state = Signal(layout(STAGE_STATE))
        given = Signal(PIXELS)
        quad = self.i.payload.quad
        own = Cat(quad[f"p{pixel}_{n}"] for pixel in range(4) for n in range(len(CHANNELS)))
        is_quad = self.i.payload.kind == StageKind.QUAD
        is_last = named(m, is_quad & quad.end, "is_last")
        accepted = named(m, self.i.valid & self.i.ready, "accepted")
        m.d.comb += [
            self.i.ready.eq(~is_last | pipeline.i.ready),
            pipeline.i.valid.eq(self.i.valid & is_last),
        ]
        with m.If(accepted & ~is_quad):
            m.d.sync += state.eq(self.i.payload.state)
        with m.If(accepted & is_quad & (quad.attribute == state.attribute)):
            m.d.sync += given.eq(own)
        # An attribute that a quad does not have is its last one.
        interpolated = Mux(quad.attribute > state.attribute, given.as_value(), own)
        constant = Cat([Cat(state[f"constant_{name}"] for name in CHANNELS)] * 4)
        out = pipeline.i.payload
        m.d.comb += [
            *(out.quad[f.name].eq(quad[f.name]) for f in QUAD),
            out.colours.eq(Mux(state.interpolated, interpolated, constant)),
            out.texels.eq(Cat(quad[f"t{pixel}_{n}"] for pixel in range(4) for n in range(4))),
            *(out[name].eq(state[name]) for name in ("op", "alpha_test", "alpha_reference")),
        ]
        return m


class Colours(wiring.Component):
    """Colours of a quad, and its mask behind the alpha test; free-running.

    Parameters
    ----------
    textured : bool

    Members
    -------
    i : In(COLOURED)
    o : Out(layout(SHADED_QUAD))
        :attr:`latency` clocks later.
    """

    def __init__(self, textured: bool) -> None:
        self._textured = textured
        super().__init__({"i": In(COLOURED), "o": Out(layout(SHADED_QUAD))})

    @property
    def latency(self) -> int:
        """Clocks from a colour to what becomes of it."""
        return Combine.LATENCY * self._textured + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        now = self.i
        colours = Signal(PIXELS, name="combined")
        if self._textured:
            now = later(m, self.i, Combine.LATENCY, "kept")
            for pixel in range(4):
                for n in range(len(CHANNELS)):
                    m.submodules[f"combine_{pixel}_{n}"] = combine = Combine(n == ALPHA)
                    m.d.comb += [
                        combine.colour.eq(self.i.colours[pixel][n]),
                        combine.texel.eq(self.i.texels[pixel][n]),
                        combine.texel_alpha.eq(self.i.texels[pixel][ALPHA]),
                        combine.op.eq(self.i.op),
                        colours[pixel][n].eq(
                            Mux(now.op == TextureOp.NONE, now.colours[pixel][n], combine.o)
                        ),
                    ]
        else:
            m.d.comb += colours.eq(now.colours)
        self._test(m, now, colours)
        return m

    def _test(self, m, now, colours):
        """What the alpha test leaves."""
        quad = delay(m, now.quad, 2, "quad")
        function = register(m, now.alpha_test, 3, "alpha_test")
        first = register(m, colours, PIXELS, "colours")
        second = register(m, first, PIXELS, "colours_later")
        lives = Signal(4)
        for pixel in range(4):
            m.submodules[f"compare_{pixel}"] = compare = Compare()
            m.d.comb += [
                compare.a.eq(colours[pixel][ALPHA]),
                compare.b.eq(now.alpha_reference),
            ]
            unequal = named(m, ~compare.less & ~compare.equal, f"unequal_{pixel}")
            nan = register(m, FLOAT32.is_nan(colours[pixel][ALPHA]), 1, f"nan_{pixel}")
            no_reference = register(
                m, FLOAT32.is_nan(now.alpha_reference), 1, f"no_reference_{pixel}"
            )
            greater = unequal & ~nan & ~no_reference
            # As the enumeration has them: bits for less, equal, greater; NaN is not equal.
            passes = Cat(compare.less, compare.equal, greater) & function
            is_other = (function == 5) & ~compare.equal
            always = function == 7
            m.d.sync += lives[pixel].eq(passes.any() | is_other | always)
        m.d.comb += [
            *(self.o[f.name].eq(quad[f.name]) for f in QUAD if f.name != "mask"),
            self.o.mask.eq(quad.mask & Cat(bit.replicate(QUAD_SAMPLES) for bit in lives)),
            *(
                self.o[f"c{pixel}_{n}"].eq(second[pixel][n])
                for pixel in range(4)
                for n in range(len(CHANNELS))
            ),
        ]


class Combine(wiring.Component):
    """A channel of a colour and that of a texel, combined as UNORM of 16 bits; free-running.

    Parameters
    ----------
    is_alpha : bool

    Members
    -------
    colour : In(32)
        float32.
    texel, texel_alpha : In(16)
    op : In(3)
        :class:`fixfunc.spec.pixels.texture_stage.TextureOp`; of NONE anything comes out.
    o : Out(32)
        float32, :attr:`LATENCY` clocks later.
    """

    LATENCY = 6

    def __init__(self, is_alpha: bool) -> None:
        self._is_alpha = is_alpha
        super().__init__(
            {
                "colour": In(32),
                "texel": In(BITS),
                "texel_alpha": In(BITS),
                "op": In(3),
                "o": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unorm = unorm = ToUnorm((BITS, 0))
        m.d.comb += unorm.a.eq(self.colour)
        colour = unorm.o
        texel = delay(m, self.texel, 2, "texel")
        alpha = delay(m, self.texel_alpha, 2, "texel_alpha")
        op = delay(m, self.op, 2, "op")
        decal = named(m, (op == TextureOp.DECAL) & (not self._is_alpha), "decal")
        factor = Mux(decal, (texel - colour).as_signed(), colour)
        other = Mux(decal, alpha, texel)
        whole = Mux(decal, (colour << BITS) - colour, 0)
        rows = [*partial_products(factor, other), whole, Const(1 << BITS - 1)]
        low, high = carry_save(m, rows, 2 * BITS, "rows")
        total = register(m, low, 2 * BITS, "low") + register(m, high, 2 * BITS, "high")
        rounded = named(m, total[: 2 * BITS], "rounded")
        quotient = named(m, (rounded + (rounded >> BITS)) >> BITS, "quotient")
        late = delay(m, op, 1, "late_op")
        late_colour = delay(m, colour, 1, "late_colour")
        late_texel = delay(m, texel, 1, "late_texel")
        added = named(m, minimum(late_colour + late_texel, (1 << BITS) - 1), "added")
        value = choose(
            late,
            [
                late_colour,
                late_texel,
                quotient[:BITS],
                late_colour if self._is_alpha else quotient[:BITS],
                quotient[:BITS] if self._is_alpha else added[:BITS],
            ],
        )
        self._float(m, register(m, value, BITS, "value"))
        return m

    def _float(self, m, value):
        """The nearest float32, two clocks later.

        A quotient by 2^16 - 1 has the value's bits again and again behind the point.
        """
        _, zeros = normalised(m, value, "value")
        repeated = Cat([value] * 3) << zeros
        kept = register(m, repeated[3 * BITS - FLOAT32.mantissa - 1 : 3 * BITS], 25, "kept")
        exponent = register(m, FLOAT32.bias - 1 - zeros, 8, "exponent")
        nothing = register(m, value == 0, 1, "nothing")
        mantissa = named(m, kept[1:] + kept[0], "mantissa")
        up = mantissa[FLOAT32.mantissa]
        fraction = Mux(up, 0, mantissa[: FLOAT32.fraction])
        bits = Cat(fraction, (exponent + up)[:8], Const(0, 1))
        m.d.sync += self.o.eq(Mux(nothing, 0, bits))
