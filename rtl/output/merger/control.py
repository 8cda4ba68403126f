# SPDX-License-Identifier: BSD-2-Clause
"""A target's state as the stages of a lane take it."""

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.output.merger.formats import (
    FLOATS,
    INTEGERS,
    NORMALISED,
    SINT,
    SNORM,
    SRGB,
    UINT,
    UNORM,
    FormatSet,
    places,
)
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import MERGE_STATE
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp

FRACTION = 24  # bits of a constant factor
CONSTANT = signed(FRACTION + 2)  # -1..1 of 2^-24
FLOAT_WIDTHS = 32, 16, 11, 10  # bits of channels of floats
DITHERED = 8  # bits of a channel, of which less are dithered

# What a factor is made of: one bit of ``picked`` each.
NEW, OLD, SECOND = range(3)
SIDE = StructLayout(
    {
        "picked": 3,  # a colour: the shader's, the target's, the shader's second
        "alpha": 1,  # its alpha
        "saturates": 1,  # min(source alpha, 1 - target alpha)
        "constant": 1,  # the blend constant
        "inverse": 1,  # one less that; of nothing: one
        "negative": 1,  # it is subtracted
        "unit_constant": 1,  # what one is: 2^24,
        "unit_alpha": 1,  # or alpha's, or else the channel's own
    }
)
SOURCE, TARGET = range(2)
GROUP = StructLayout(
    {
        "sides": ArrayLayout(SIDE, 2),
        "blends": 1,  # the result is the sum of products
        "least": 1,  # MIN
        "greatest": 1,  # MAX
    }
)
COLOUR_GROUP, ALPHA_GROUP = range(2)

PICKED = {
    BlendFactor.SRC_COLOR: (NEW, 0),
    BlendFactor.SRC_ALPHA: (NEW, 1),
    BlendFactor.DEST_COLOR: (OLD, 0),
    BlendFactor.DEST_ALPHA: (OLD, 1),
    BlendFactor.SRC1_COLOR: (SECOND, 0),
    BlendFactor.SRC1_ALPHA: (SECOND, 1),
}
INVERSES = {
    BlendFactor.ONE: BlendFactor.ZERO,
    BlendFactor.INV_SRC_COLOR: BlendFactor.SRC_COLOR,
    BlendFactor.INV_SRC_ALPHA: BlendFactor.SRC_ALPHA,
    BlendFactor.INV_DEST_ALPHA: BlendFactor.DEST_ALPHA,
    BlendFactor.INV_DEST_COLOR: BlendFactor.DEST_COLOR,
    BlendFactor.INV_BLEND_FACTOR: BlendFactor.BLEND_FACTOR,
    BlendFactor.INV_SRC1_COLOR: BlendFactor.SRC1_COLOR,
    BlendFactor.INV_SRC1_ALPHA: BlendFactor.SRC1_ALPHA,
}


def constant_shape(formats: FormatSet) -> Shape:
    """The blend constant: -1..1 of 2^-24, or in steps."""
    return formats.value_shape if formats.constant_in_steps else CONSTANT


def control_layout(formats: FormatSet) -> StructLayout:
    """A state that has been decoded for a set of formats."""
    return StructLayout(
        {
            "error": 1,
            "layout": len(formats.layouts),  # one bit is set, or none in error
            "float_layout": max(len(formats.float_layouts), 1),  # the same, of floats
            "float_widths": ArrayLayout(len(FLOAT_WIDTHS), 4),
            "widths": ArrayLayout(len(formats.widths), 4),  # of each channel one bit is set
            "cuts": ArrayLayout(max(len(formats.cuts), 1), 4),
            "is_signed": 1,
            "is_integer": 1,
            "is_srgb": 1,
            "spreads": ArrayLayout(unsigned(1), 4),  # alpha's 1.0 times an integer is the channel's
            "dithers": ArrayLayout(unsigned(1), 4),
            "write": 4,
            "logic": 1,
            "logic_op": 4,
            "groups": ArrayLayout(GROUP, 2),
        }
    )


class StateDecoder(wiring.Component):
    """Decode a target's state; free-running.

    Parameters
    ----------
    formats : FormatSet
    second : bool
        Second colours are known; else they count as zeros.
    constant : bool
        The blend constant is known; else it counts as ones.
    logic : bool
        Logic operations are known; else they are errors.

    Members
    -------
    i : In(layout(MERGE_STATE))
    control : Out(control_layout(formats))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 1

    def __init__(self, formats: FormatSet, second: bool, constant: bool, logic: bool) -> None:
        self._formats = formats
        self._second = second
        self._constant = constant
        self._logic = logic
        super().__init__({"i": In(layout(MERGE_STATE)), "control": Out(control_layout(formats))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        control = Signal.like(self.control)
        m.d.sync += self.control.eq(control)
        error = Signal()
        self._decode_format(m, control, error)
        apart = self._is(Format.B5G6R5_UNORM)
        state = self.i
        self._group(
            m,
            control.groups[COLOUR_GROUP],
            (state.src_blend, state.dest_blend, state.blend_op),
            apart,
            False,
        )
        self._group(
            m,
            control.groups[ALPHA_GROUP],
            (state.src_blend_alpha, state.dest_blend_alpha, state.blend_op_alpha),
            apart,
            True,
        )
        known = Cat(self._is(form) for form in self._formats.formats).any()
        factors = Cat(
            *(self._is_factor(state[name]) for name in ("src_blend", "dest_blend")),
            *(self._is_factor(state[f"{name}_alpha"]) for name in ("src_blend", "dest_blend")),
        ).all()
        ops = Cat(_among(op, BlendOp) for op in (state.blend_op, state.blend_op_alpha)).all()
        no_logic = self._any(SNORM, SINT, FLOATS) if self._logic else Const(1)
        m.d.comb += [
            error.eq(
                ~known
                | (state.blend_enable & (self._any(UINT, SINT) | ~factors | ~ops))
                | (state.logic_op_enable & no_logic)
            ),
            control.error.eq(error),
            control.write.eq(state.write_mask),
            control.logic.eq(state.logic_op_enable),
            control.logic_op.eq(state.logic_op),
        ]
        return m

    def _is(self, form):
        return self.i.format == form if form in self._formats.formats else Const(0)

    def _any(self, *kinds):
        return Cat(self._is(form) for kind in kinds for form in kind).any()

    def _is_factor(self, value):
        return _among(value, BlendFactor)

    def _decode_format(self, m, control, error):
        """Where channels lie, and how wide each is."""
        formats = self._formats
        normalised = formats.among(NORMALISED)
        whole = formats.among(INTEGERS)
        for n, arrangement in enumerate(formats.layouts):
            own = [form for form in (*normalised, *whole) if places(form) == arrangement]
            m.d.comb += control.layout[n].eq(self._any(own) & ~error)
        self._decode_floats(m, control, error)
        for channel in range(4):
            for n, unit in enumerate(formats.units):
                own = [f for f in normalised if formats.unit(f, channel) == unit]
                m.d.comb += control.widths[channel][n].eq(self._any(own))
            for n, width in enumerate(formats.cuts):
                own = [f for f in whole if formats.magnitude(f, channel) == width]
                m.d.comb += control.cuts[channel][n].eq(self._any(own))
            spread = [
                f
                for f in normalised
                if f != Format.B5G6R5_UNORM
                and formats.magnitude(f, channel) != formats.magnitude(f, 3)
            ]
            few = [f for f in formats.among(UNORM) if formats.magnitude(f, channel) < DITHERED]
            m.d.comb += [
                control.spreads[channel].eq(self._any(spread)),
                control.dithers[channel].eq(self._any(few) & self.i.dither),
            ]
        m.d.comb += [
            control.is_signed.eq(self._any(SNORM, SINT)),
            control.is_integer.eq(self._any(UINT, SINT)),
            control.is_srgb.eq(self._any(SRGB)),
        ]

    def _decode_floats(self, m, control, error):
        """The same of floats."""
        forms = self._formats.among(FLOATS)
        for n, arrangement in enumerate(self._formats.float_layouts):
            own = [form for form in forms if places(form) == arrangement]
            m.d.comb += control.float_layout[n].eq(self._any(own) & ~error)
        for channel in range(4):
            for n, width in enumerate(FLOAT_WIDTHS):
                own = [f for f in forms if (places(f)[channel] or (0, 0))[1] == width]
                m.d.comb += control.float_widths[channel][n].eq(self._any(own))

    def _group(self, m, group, blend, apart, is_alpha):
        """Factors and operation of colours, or of alpha.

        Without a unit of its own, zero or one takes that of the other side.
        """
        *factors, op = blend
        decoded = [self._side(factor, is_alpha) for factor in factors]
        free = [~(side["picked"].any() | side["saturates"] | side["constant"]) for side in decoded]
        for n, side in enumerate(decoded):
            other = decoded[1 - n]
            unit_alpha = (side["alpha"] | side["saturates"]) & apart & (not is_alpha)
            other_alpha = (other["alpha"] | other["saturates"]) & apart & (not is_alpha)
            m.d.comb += [group.sides[n][name].eq(value) for name, value in side.items()]
            m.d.comb += [
                group.sides[n].unit_constant.eq(Mux(free[n], other["constant"], side["constant"])),
                group.sides[n].unit_alpha.eq(Mux(free[n], other_alpha, unit_alpha)),
            ]
        m.d.comb += [
            group.sides[SOURCE].negative.eq(op == BlendOp.REV_SUBTRACT),
            group.sides[TARGET].negative.eq(op == BlendOp.SUBTRACT),
            group.least.eq(self.i.blend_enable & (op == BlendOp.MIN)),
            group.greatest.eq(self.i.blend_enable & (op == BlendOp.MAX)),
            group.blends.eq(self.i.blend_enable & ~_among(op, (BlendOp.MIN, BlendOp.MAX))),
        ]

    def _side(self, factor, is_alpha):
        """What a factor is made of."""

        def either(plain):
            inverse = [name for name, of in INVERSES.items() if of == plain]
            return Cat(factor == value for value in (plain, *inverse)).any()

        known = {NEW, OLD, SECOND} if self._second else {NEW, OLD}
        picked = [
            Cat(
                either(plain) for plain, (n, _) in PICKED.items() if n == colour and n in known
            ).any()
            for colour in range(3)
        ]
        alpha = Cat(either(plain) for plain, (n, is_one) in PICKED.items() if is_one).any()
        saturates = factor == BlendFactor.SRC_ALPHA_SAT
        inverse = _among(factor, INVERSES)
        # Of alpha it is one; so is a blend constant that is not known.
        ones = saturates if is_alpha else Const(0)
        flips = Const(0) if self._constant else either(BlendFactor.BLEND_FACTOR)
        return {
            "picked": Cat(picked),
            "alpha": alpha,
            "saturates": Const(0) if is_alpha else saturates,
            "constant": either(BlendFactor.BLEND_FACTOR) if self._constant else Const(0),
            "inverse": (inverse ^ flips) | ones,
        }


def _among(value, members):
    return Cat(value == member for member in members).any()
