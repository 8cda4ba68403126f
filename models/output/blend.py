# SPDX-License-Identifier: BSD-2-Clause
"""Blending of 8-bit UNORM colours: exact, with one rounding at the end."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fixfunc.spec.state import BlendFactor, BlendOp, LogicOp

FRACTION = 24  # bits of a constant factor
ONE = 1 << FRACTION
MOST = 255


class Blend(NamedTuple):
    """Blend state of a target [fs 17.6]."""

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


def blend(
    new: np.ndarray,
    old: np.ndarray,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
) -> np.ndarray:
    """What is stored of colours.

    Parameters
    ----------
    new, old : ndarray of uint8, shape (..., 4)
        Red, green, blue, alpha of a shader, and what is stored.
    state : Blend
    constant : ndarray of float32, shape (4,), optional
        Blend factor, ones by default: it is cut to 0..1, and is of 24 bits, to the nearest.
    second : ndarray of uint8, shape (..., 4), optional
        A shader's second colour, for dual-source factors; zeros by default.

    Returns
    -------
    ndarray of uint8, shape (..., 4)
        Exact sums, rounded once to the nearest, ties up, and cut to 0..1. Channels that are not
        written keep what is stored.

    Source: [fs 17.5-17.7], numerics: output.
    """
    new = np.asarray(new, np.uint8)
    old = np.broadcast_to(np.asarray(old, np.uint8), new.shape)
    if state.logic:
        result = LOGIC[LogicOp(state.logic_op)](new, old)
    elif state.enable:
        fixed = np.ones(4, np.float32) if constant is None else np.asarray(constant, np.float32)
        # Exact: a float32 times a power of two.
        fixed = np.rint(np.clip(np.nan_to_num(fixed), 0, 1).astype(np.float64) * ONE)
        colours = {
            "new": new.astype(np.int64),
            "old": old.astype(np.int64),
            "second": np.zeros_like(new, np.int64) if second is None else second.astype(np.int64),
            "constant": fixed.astype(np.int64),
        }
        result = np.concatenate(
            [
                _combined(colours, state.source, state.target, state.op, slice(0, 3)),
                _combined(
                    colours, state.source_alpha, state.target_alpha, state.op_alpha, slice(3, 4)
                ),
            ],
            -1,
        )
    else:
        result = new
    written = state.write >> np.arange(4) & 1
    return np.where(written, result, old).astype(np.uint8)


def _combined(colours, source, target, op, channels):
    """Some channels: colours, or alpha."""
    new = colours["new"][..., channels]
    old = colours["old"][..., channels]
    if op == BlendOp.MIN:
        return np.minimum(new, old)
    if op == BlendOp.MAX:
        return np.maximum(new, old)
    # Factors are in units of 1 / (255 * 2^24).
    first = new * _factor(colours, source, channels)
    other = old * _factor(colours, target, channels)
    if op == BlendOp.REV_SUBTRACT:
        first, other = other, first
    total = first + other if op == BlendOp.ADD else first - other
    unit = MOST * ONE
    return np.clip((2 * total + unit) // (2 * unit), 0, MOST)


def _factor(colours: Mapping[str, np.ndarray], factor: BlendFactor, channels):
    """A factor in units of 1 / (255 * 2^24)."""
    factor = BlendFactor(factor)
    if factor.name.startswith("INV_"):
        return MOST * ONE - _factor(colours, BlendFactor[factor.name[4:]], channels)
    alpha = slice(3, 4)
    if factor == BlendFactor.SRC_ALPHA_SAT:
        if channels == alpha:
            return np.int64(MOST * ONE)
        return np.minimum(colours["new"][..., alpha], MOST - colours["old"][..., alpha]) * ONE
    if factor == BlendFactor.BLEND_FACTOR:
        return colours["constant"][channels] * MOST
    plain = {
        BlendFactor.ZERO: ("new", None),
        BlendFactor.ONE: ("new", None),
        BlendFactor.SRC_COLOR: ("new", channels),
        BlendFactor.SRC_ALPHA: ("new", alpha),
        BlendFactor.DEST_COLOR: ("old", channels),
        BlendFactor.DEST_ALPHA: ("old", alpha),
        BlendFactor.SRC1_COLOR: ("second", channels),
        BlendFactor.SRC1_ALPHA: ("second", alpha),
    }
    name, chosen = plain[factor]
    if chosen is None:
        return np.int64(0 if factor == BlendFactor.ZERO else MOST * ONE)
    return colours[name][..., chosen] * ONE


LOGIC = {
    LogicOp.CLEAR: lambda s, _d: np.zeros_like(s),
    LogicOp.SET: lambda s, _d: np.full_like(s, MOST),
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
