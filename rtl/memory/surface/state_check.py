# SPDX-License-Identifier: BSD-2-Clause
"""State check: which draw states a block can obey, and on which target."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.sample_depths import MOST
from fixfunc.rtl.output.merger.formats import (
    ALPHA,
    FLOATS,
    NORMALISED,
    UINT,
    UNORM,
    places,
    with_shader_alpha,
)
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp

CONSTANT_FACTORS = BlendFactor.BLEND_FACTOR, BlendFactor.INV_BLEND_FACTOR
SECOND_FACTORS = (
    BlendFactor.SRC1_COLOR,
    BlendFactor.INV_SRC1_COLOR,
    BlendFactor.SRC1_ALPHA,
    BlendFactor.INV_SRC1_ALPHA,
)
OF_SHADER_ALPHA = (
    BlendFactor.SRC_ALPHA,
    BlendFactor.INV_SRC_ALPHA,
    BlendFactor.SRC_ALPHA_SAT,
    BlendFactor.SRC1_ALPHA,
    BlendFactor.INV_SRC1_ALPHA,
)
TARGET = ("target", "target_width", "target_height", "samples", "depth_format")


def most_depth(depth_format: Value) -> Value:
    """The largest depth of a format, as it is stored."""
    return Array(MOST.get(form, 0) for form in range(4))[depth_format]


def follows(new: Value, old: Value) -> Value:
    """Tiles of a draw state may follow those of another one that are still under way.

    Both are of one target, which clears and caches know, and write their tiles early: what comes
    back from the shader is tested by the state in force.
    """
    same_target = Cat(new[name] == old[name] for name in TARGET).all()
    return same_target & new.early_write & old.early_write


def covers_target(rectangle: Value, state: Value) -> Value:
    """A rectangle, cut to the target, is all of it."""
    return (
        (rectangle.x0 == 0)
        & (rectangle.y0 == 0)
        & (rectangle.x1 == state.target_width)
        & (rectangle.y1 == state.target_height)
    )


def check_colour_formats(name: str, formats: Sequence[Format]) -> None:
    """Raise ``ValueError`` for formats, a parameter of that name, that colour planes cannot have.

    R8G8B8A8_UNORM is among them, in which tiles are filled and cleared.
    """
    known = [form for form in formats if form in COLOUR_FORMATS]
    if BASE_FORMATS[0] not in known or len(set(known)) < len(formats):
        names = ", ".join(form.name for form in COLOUR_FORMATS)
        raise ValueError(
            f"{name} must be some of {names}, each once, {BASE_FORMATS[0].name} among them, "
            f"not {formats!r}"
        )


def factors(state: Value) -> list[Value]:
    """Blend factors of a state."""
    return [state[f"{side}_blend{alpha}"] for side in ("src", "dest") for alpha in ("", "_alpha")]


def needs_constant(state: Value) -> Value:
    """A state blends with the blend constant."""
    return _blends_with(state, CONSTANT_FACTORS)


def needs_second(state: Value) -> Value:
    """A state blends with a shader's second colour."""
    return _blends_with(state, SECOND_FACTORS)


def _blends_with(state, known):
    is_known = [factor == its for factor in factors(state) for its in known]
    return state.blend_enable & Cat(is_known).any()


def blending_known(
    state: Value,
    formats: Sequence[Format] = BASE_FORMATS,
    second: bool = False,
    planes: int = 1,
    floats: bool = False,
) -> Value:
    """A state is of a format that there is, which has its blending and its logic operation.

    It blends by factors and operations that there are, or not at all; by those of a second colour
    where ``second`` says so, on the first of several ``planes`` alone. Floats are blended where
    ``floats`` says so. Normalised formats have a shader's alpha where they have an alpha, or leave
    room for one.
    """
    last = BlendFactor.INV_SRC1_ALPHA if second else BlendFactor.INV_BLEND_FACTOR
    known = [
        *(
            ((f >= BlendFactor.ZERO) & (f <= BlendFactor.SRC_ALPHA_SAT))
            | ((f >= BlendFactor.BLEND_FACTOR) & (f <= last))
            for f in factors(state)
        ),
        *(
            (op >= BlendOp.ADD) & (op <= BlendOp.MAX)
            for op in (state.blend_op, state.blend_op_alpha)
        ),
    ]
    blended = (*NORMALISED, *FLOATS) if floats else NORMALISED
    is_blended = _is_one_of(state.colour_format, formats, blended)
    has_logic = _is_one_of(state.colour_format, formats, (*UNORM, *UINT))
    without_alpha = [
        form
        for form in formats
        if with_shader_alpha(places(form))[ALPHA] is None and not (floats and form in FLOATS)
    ]
    if without_alpha:
        lacks_alpha = _is_one_of(state.colour_format, formats, without_alpha)
        colour_factors = state.src_blend, state.dest_blend
        is_alpha = [factor == its for factor in colour_factors for its in OF_SHADER_ALPHA]
        known.append(~(lacks_alpha & Cat(is_alpha).any()))
    if second and planes > 1:
        known.append(~needs_second(state) | (state.slot == 0))
    return (
        _is_one_of(state.colour_format, formats, formats)
        & (~state.blend_enable | (is_blended & Cat(known).all()))
        & (~state.logic_op_enable | has_logic)
    )


def _is_one_of(value, formats, kind):
    """A number is that of one of the formats that are of a kind."""
    return Cat(value == form for form in formats if form in kind).any()


class TargetMatch(wiring.Component):
    """Remember the target of a draw state; compare later ones with it.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    remember : In(1)
        ``state`` is remembered from the next clock on.
    remembered : Out(1)
        Some target has been remembered.
    equal : Out(1)
        The target of ``state`` is the remembered one. Combinational.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "remember": In(1),
                "remembered": Out(1),
                "equal": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        target = {name: Signal.like(self.state[name], name=name) for name in TARGET}
        m.d.comb += self.equal.eq(
            Cat(self.state[name] == value for name, value in target.items()).all()
        )
        with m.If(self.remember):
            m.d.sync += self.remembered.eq(1)
            m.d.sync += [value.eq(self.state[name]) for name, value in target.items()]
        return m


class StateCheck(wiring.Component):
    """Say whether a draw state, and a clear, are legal for a block.

    Parameters
    ----------
    params
        ``samples``, ``modes``, ``formats``, ``stencil``.
    planes : sequence of str
        What the block clears: depth, stencil, colour.
    persistent : bool
        Contents of planes persist from draw to draw. Nothing of a target is legal before a clear of
        all of it, all planes at once.
    colour_planes : int
        Colour planes of a target. A clear of the first begins it.
    colour_formats : sequence of Format
        What colour planes may be.
    second : bool
        Shaders give two colours.
    floats : bool
        Colour planes of floats are blended.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        The draw state in force.
    clear : In(layout(payloads.CLEAR))
        A clear, cut to the target.
    clear_begins : In(1)
        ``clear`` is executed from now on.
    state_legal : Out(1)
        Tiles of ``state`` may be drawn. One clock after ``state``; two after a clear that makes
        its target legal.
    clear_legal : Out(1)
        ``clear`` may be executed in ``state``. As late as ``state_legal``; ``clear`` itself is
        combinational.
    touches : Out(1)
        ``clear`` is of a plane of this block. Combinational.
    """

    def __init__(
        self,
        params: Any,
        planes: Sequence[str],
        persistent: bool,
        colour_planes: int = 1,
        colour_formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        floats: bool = False,
    ) -> None:
        self._second = second
        self._floats = floats
        self._params = params
        self._planes = planes
        self._colour_planes = colour_planes
        self._colour_formats = colour_formats
        self._persistent = persistent
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "clear": In(layout(payloads.CLEAR)),
                "clear_begins": In(1),
                "state_legal": Out(1),
                "clear_legal": Out(1),
                "touches": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        state = self.state
        clear = self.clear
        one = most_depth(state.depth_format)
        conditions = [
            Array(form in p.formats for form in range(4))[state.depth_format],
            Array(mode in p.modes for mode in range(4))[state.samples],
            state.depth_min <= state.depth_max,
            state.depth_min <= one,
            ~(state.bias_slope[23:31].all() | state.bias_clamp[23:31].all()),  # finite
        ]
        if not p.stencil:
            conditions.append(~state.stencil_test)
        if "colour" in self._planes:
            known = blending_known(
                *(state, self._colour_formats, self._second, self._colour_planes, self._floats)
            )
            conditions.append(known)
        supported = Signal()
        too_far = clear.depth & (clear.depth_value > one) if "depth" in self._planes else 0
        m.d.comb += self.touches.eq(Cat(clear[plane] for plane in self._planes).any())
        m.d.sync += supported.eq(Cat(conditions).all())
        if not self._persistent:
            m.d.comb += [
                self.state_legal.eq(supported),
                self.clear_legal.eq(supported & ~too_far),
            ]
            return m

        m.submodules.cleared_target = cleared_target = TargetMatch()
        is_cleared = Signal()
        held_planes = [plane for plane in self._planes if plane != "stencil" or p.stencil]
        begins_target = (
            covers_target(clear, state) & Cat(clear[plane] for plane in held_planes).all()
        )
        if self._colour_planes > 1:
            begins_target &= clear.slot == 0
        m.d.sync += is_cleared.eq(cleared_target.remembered & cleared_target.equal)
        m.d.comb += [
            cleared_target.state.eq(state),
            cleared_target.remember.eq(self.clear_begins & begins_target),
            self.state_legal.eq(supported & is_cleared),
            self.clear_legal.eq(supported & ~too_far & (is_cleared | begins_target)),
        ]
        return m
