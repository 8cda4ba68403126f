# SPDX-License-Identifier: BSD-2-Clause
"""Blending: integers exactly, with one rounding at the end; floats by float32."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.spec.state import BlendFactor, BlendOp, LogicOp

FRACTION = 24  # bits of a constant factor
ONE = 1 << FRACTION
UNORM8 = (255,) * 4
ALPHA = slice(3, 4)
COLOURS = slice(0, 3)


class Blend(NamedTuple):
    """Blend state of a target [fs 17.1]."""

    enable: bool = False
    source: BlendFactor = BlendFactor.ONE
    target: BlendFactor = BlendFactor.ZERO
    op: BlendOp = BlendOp.ADD
    source_alpha: BlendFactor = BlendFactor.ONE
    target_alpha: BlendFactor = BlendFactor.ZERO
    op_alpha: BlendOp = BlendOp.ADD
    write: int = 15  # channels: red 1, green 2, blue 4, alpha 8
    logic: bool = False
    logic_op: LogicOp = LogicOp.NOOP
    dither: bool = False  # UNORM of fewer than 8 bits: of the pixel's place


def blend_of(state: np.void) -> Blend:
    """How a draw state blends."""
    return Blend(
        bool(state["blend_enable"]),
        *(int(state[name]) for name in ("src_blend", "dest_blend", "blend_op")),
        *(int(state[name]) for name in ("src_blend_alpha", "dest_blend_alpha", "blend_op_alpha")),
        int(state["colour_write"]),
        bool(state["logic_op_enable"]),
        int(state["logic_op"]),
    )


class Sources(NamedTuple):
    """What factors are made of, shape (..., 4) each."""

    new: np.ndarray
    old: np.ndarray
    second: np.ndarray
    constant: np.ndarray  # of integers: in units of 1 / unit
    aligned: np.ndarray  # bool, shape (4,): alpha as a channel's factor is cut to its steps
    unit: np.ndarray | None = None  # int64, shape (4,): what is 1.0 of the constant


def blend(
    new: np.ndarray,
    old: np.ndarray,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
    most: tuple[int, ...] | np.ndarray = UNORM8,
    signed: bool = False,
    steps: int | np.ndarray = 1,
    cuts_alpha: bool = False,
) -> np.ndarray:
    """What is stored of normalised colours.

    Parameters
    ----------
    new : ndarray of integer, shape (..., 4)
        Red, green, blue, alpha of a shader, in ``steps`` of the target's units.
    old : ndarray of integer, shape (..., 4)
        What is stored.
    state : Blend
    constant : ndarray of float32, or of int64, shape (4,), optional
        Blend constant, ones by default: it is cut to the range, and is of 24 bits, to the nearest.
        Integers are steps, as ``new`` has them.
    second : ndarray of integer, shape (..., 4), optional
        A shader's second colour, as ``new``, for dual-source factors; zeros by default.
    most : four of int
        What is 1.0 of each channel of the target, at most 16 bits.
    signed : bool
        The range is -1..1; else 0..1.
    steps : int, or four
        Steps of a shader's channel in one of the target's: 1 where nothing is blended.
    cuts_alpha : bool
        As colour write does it: where a channel's unit is a multiple of alpha's, alpha as its
        factor is cut to the channel's steps.

    Returns
    -------
    ndarray of int64, shape (..., 4)
        Exact sums, rounded once to the nearest, ties up, and cut to the range. The write mask is
        that of bits: see :func:`fixfunc.models.output.formats.masked`.

    Source: [fs 17.5-17.7], numerics: output.
    """
    new = np.asarray(new, np.int64)
    old = np.broadcast_to(np.asarray(old, np.int64), new.shape)
    most = np.asarray(most, np.int64)
    low = -1 if signed else 0
    if state.logic:
        return LOGIC[LogicOp(state.logic_op)](new, old) & most
    if not state.enable:
        return new
    steps = np.broadcast_to(np.asarray(steps, np.int64), 4)
    fixed, unit = _constant(constant, low, most * steps)
    second = np.zeros_like(new) if second is None else np.asarray(second, np.int64)
    aligned = cuts_alpha & (most % most[3] == 0)
    colours = Sources(new, old * steps, second, fixed, aligned, unit)
    both = (
        (state.source, state.target, state.op, COLOURS),
        (state.source_alpha, state.target_alpha, state.op_alpha, ALPHA),
    )
    twice = np.concatenate([_twice_combined(colours, *how, most * steps) for how in both], -1)
    return np.clip((twice + steps) // (2 * steps), low * most, most)


def _constant(constant, low, most):
    """The blend constant as integers, and what is 1.0 of it."""
    fixed = np.ones(4, np.float32) if constant is None else np.asarray(constant)
    if fixed.dtype.kind == "i":
        return fixed, most
    # Exact: a float32 times a power of two.
    fixed = np.clip(np.nan_to_num(fixed.astype(np.float32)), low, 1).astype(np.float64)
    return np.rint(fixed * ONE).astype(np.int64), np.full(4, ONE)


def _twice_combined(colours, source, target, op, channels, most):
    """Some channels, colours or alpha: the integer below twice what they become."""
    new = colours.new[..., channels]
    old = colours.old[..., channels]
    if op == BlendOp.MIN:
        return 2 * np.minimum(new, old)
    if op == BlendOp.MAX:
        return 2 * np.maximum(new, old)
    factor, unit = _factor(colours, source, channels, most)
    first = -new * factor if op == BlendOp.REV_SUBTRACT else new * factor
    factor, other_unit = _factor(colours, target, channels, most)
    other = -old * factor if op == BlendOp.SUBTRACT else old * factor
    # Quotients and what they leave, apart: a product of both units with a sum is past 64 bits.
    whole, part = np.divmod(first, unit)
    other_whole, other_part = np.divmod(other, other_unit)
    parts = part * other_unit + other_part * unit
    return 2 * (whole + other_whole) + 2 * parts // (unit * other_unit)


def _factor(colours, factor, channels, most):
    """A factor as a quotient of integers."""
    factor = BlendFactor(factor)
    if factor.name.startswith("INV_"):
        value, unit = _factor(colours, BlendFactor[factor.name[4:]], channels, most)
        return unit - value, unit
    if factor in (BlendFactor.ZERO, BlendFactor.ONE):
        return np.int64(factor == BlendFactor.ONE), np.int64(1)
    if factor == BlendFactor.SRC_ALPHA_SAT:
        if channels == ALPHA:
            return np.int64(1), np.int64(1)
        room = most[3] - colours.old[..., ALPHA]
        return _of_alpha(colours, np.minimum(colours.new[..., ALPHA], room), channels, most)
    if factor == BlendFactor.BLEND_FACTOR:
        return colours.constant[channels], colours.unit[channels]
    name, chosen = PLAIN[factor]
    if chosen is ALPHA:
        return _of_alpha(colours, getattr(colours, name)[..., ALPHA], channels, most)
    return getattr(colours, name)[..., channels], most[channels]


def _of_alpha(colours, value, channels, most):
    """Alpha as a factor of some channels."""
    own = most[channels]
    aligned = colours.aligned[channels]
    return np.where(aligned, value * own // most[3], value), np.where(aligned, own, most[3])


# Factors that are a colour, or its alpha.
PLAIN = {
    BlendFactor.SRC_COLOR: ("new", COLOURS),
    BlendFactor.SRC_ALPHA: ("new", ALPHA),
    BlendFactor.DEST_COLOR: ("old", COLOURS),
    BlendFactor.DEST_ALPHA: ("old", ALPHA),
    BlendFactor.SRC1_COLOR: ("second", COLOURS),
    BlendFactor.SRC1_ALPHA: ("second", ALPHA),
}


def blend_floats(
    new: np.ndarray,
    old: np.ndarray,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
) -> np.ndarray:
    """What is stored of colours of floats: float32, before it is cut to the format.

    Parameters are those of :func:`blend`, all of them float32. Products and their sum are rounded
    once: source times its factor is added to target times its factor by a multiply-add. NaN
    and signed zeros pass, with weights of zero too [fs 17.5].
    """
    new = np.asarray(new, np.float32)
    old = np.broadcast_to(np.asarray(old, np.float32), new.shape)
    if not state.enable:
        return new
    constant = np.ones(4, np.float32) if constant is None else np.asarray(constant, np.float32)
    second = np.zeros_like(new) if second is None else np.asarray(second, np.float32)
    colours = Sources(new, old, second, constant, np.zeros(4, bool))
    both = (
        (state.source, state.target, state.op, COLOURS),
        (state.source_alpha, state.target_alpha, state.op_alpha, ALPHA),
    )
    return np.concatenate([_combined_floats(colours, *how) for how in both], -1)


def _combined_floats(colours, source, target, op, channels):
    new = colours.new[..., channels]
    old = colours.old[..., channels]
    if op in (BlendOp.MIN, BlendOp.MAX):
        # Not numpy's, which of zeros of both signs takes one or the other by the array's length.
        takes = new < old if op == BlendOp.MIN else new > old
        return float32.flush(np.where(takes | np.isnan(old), new, old))
    other = float32.multiply(old, _float_factor(colours, target, channels))
    if op == BlendOp.SUBTRACT:
        other = -other
    if op == BlendOp.REV_SUBTRACT:
        new = -new
    return float32.multiply_add(new, _float_factor(colours, source, channels), other)


def _float_factor(colours, factor, channels):
    factor = BlendFactor(factor)
    one = np.float32(1)
    if factor.name.startswith("INV_"):
        return float32.subtract(one, _float_factor(colours, BlendFactor[factor.name[4:]], channels))
    if factor in (BlendFactor.ZERO, BlendFactor.ONE):
        return np.float32(factor == BlendFactor.ONE)
    if factor == BlendFactor.SRC_ALPHA_SAT:
        if channels == ALPHA:
            return one
        alpha = colours.new[..., ALPHA]
        room = float32.subtract(one, colours.old[..., ALPHA])
        return np.where((alpha < room) | np.isnan(alpha), alpha, room)
    if factor == BlendFactor.BLEND_FACTOR:
        return colours.constant[channels]
    name, chosen = PLAIN[factor]
    return getattr(colours, name)[..., ALPHA if chosen is ALPHA else channels]


LOGIC = {
    LogicOp.CLEAR: lambda s, _d: np.zeros_like(s),
    LogicOp.SET: lambda s, _d: ~np.zeros_like(s),
    LogicOp.COPY: lambda s, _d: s,
    LogicOp.COPY_INVERTED: lambda s, _d: ~s,
    LogicOp.NOOP: lambda _s, d: d,
    LogicOp.INVERT: lambda _s, d: ~d,
    LogicOp.AND: lambda s, d: s & d,
    LogicOp.NAND: lambda s, d: ~(s & d),
    LogicOp.OR: lambda s, d: s | d,
    LogicOp.NOR: lambda s, d: ~(s | d),
    LogicOp.XOR: lambda s, d: s ^ d,
    LogicOp.EQUIV: lambda s, d: ~(s ^ d),
    LogicOp.AND_REVERSE: lambda s, d: s & ~d,
    LogicOp.AND_INVERTED: lambda s, d: ~s & d,
    LogicOp.OR_REVERSE: lambda s, d: s | ~d,
    LogicOp.OR_INVERTED: lambda s, d: ~s | d,
}
