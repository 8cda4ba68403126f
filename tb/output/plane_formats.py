# SPDX-License-Identifier: BSD-2-Clause
"""Stimuli for formats of colour planes: draw states with what a format has, and what it has not."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.state import BLENDED, COMBINED, OF_SHADER_ALPHA, WITHOUT_ALPHA
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor

KINDS = {"blend_enable": BLENDED, "logic_op_enable": COMBINED}


def has(form: Format, enable: str, floats: bool = False) -> bool:
    """A format has what ``blend_enable`` or ``logic_op_enable`` asks for; of floats, if they are
    blended."""
    kind = form.name.rpartition("_")[2]
    return kind in KINDS[enable] or (floats and kind == "FLOAT" and enable == "blend_enable")


def choose(
    rng: np.random.Generator,
    states: np.ndarray,
    formats: Sequence[Format],
    illegal: float = 0.02,
    floats: bool = False,
) -> None:
    """Give draw states formats, in place; what a format does not have is taken away.

    Formats that are blended come more often than the others. Some states, a part of ``illegal``,
    have a number of another format or of none, or what their format does not have.
    """
    weights = np.array([1 + has(form, "blend_enable", floats) for form in formats], float)
    numbers = np.array([int(form) for form in formats])
    chosen = rng.choice(len(formats), len(states), p=weights / weights.sum())
    states["colour_format"] = numbers[chosen]
    wrong = rng.random(len(states)) < illegal
    for enable in KINDS:
        known = np.array([has(form, enable, floats) for form in formats])[chosen]
        states[enable] &= (known | wrong).astype(np.uint8)
    lacks = np.isin(states["colour_format"], WITHOUT_ALPHA) & ~wrong
    for name in ("src_blend", "dest_blend"):
        asks = lacks & np.isin(states[name], OF_SHADER_ALPHA)
        states[name][asks] = rng.choice((BlendFactor.ONE, BlendFactor.DEST_COLOR), int(asks.sum()))
    other = wrong & (rng.random(len(states)) < 0.5)
    states["colour_format"][other] = rng.integers(0, 1 << 7, int(other.sum()))
