# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the texture stage: colours of quads without a shader."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.payload import dtype
from fixfunc.spec.pixels.texture_stage import CHANNELS, SHADED_QUAD, TextureOp
from fixfunc.spec.points import QUAD, QUAD_SAMPLES
from fixfunc.spec.state import Compare

ONE = (1 << 16) - 1  # of UNORM of 16 bits


def shade(states: np.ndarray, beats: np.ndarray, state_of: np.ndarray) -> np.ndarray:
    """Colours of quads.

    Parameters
    ----------
    states : structured ndarray, shape (s,)
        As :data:`fixfunc.spec.pixels.texture_stage.STAGE_STATE`.
    beats : structured ndarray, shape (n,)
        Attributes of quads, as :data:`fixfunc.spec.pixels.texture_stage.STAGE_QUAD`.
    state_of : ndarray of intp, shape (n,)
        The state of each.

    Returns
    -------
    structured ndarray, shape (q,)
        As :data:`fixfunc.spec.pixels.texture_stage.SHADED_QUAD`, one a quad.
    """
    ends = np.flatnonzero(beats["end"])
    quads = beats[ends]
    state = states[state_of[ends]]
    first = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    given = first + state["attribute"].astype(np.intp)
    # An attribute that a quad does not have is its last one.
    given = np.minimum(given, ends)
    colour = np.stack(
        [[beats[f"p{pixel}_{n}"][given] for n in range(4)] for pixel in range(4)]
    ).transpose(2, 0, 1)
    constant = np.stack([state[f"constant_{name}"] for name in CHANNELS], -1)[:, None]
    interpolated = (state["interpolated"] == 1)[:, None, None]
    colour = np.where(interpolated, colour, constant).astype(np.int64)
    texel = (
        np.stack([[quads[f"t{pixel}_{n}"] for n in range(4)] for pixel in range(4)])
        .transpose(2, 0, 1)
        .astype(np.int64)
    )
    textured = floats(combined(state["op"], float32.unorm(colour), texel))
    colour = np.where((state["op"] == TextureOp.NONE)[:, None, None], colour, textured)
    lives = passes(state["alpha_test"], colour[:, :, 3], state["alpha_reference"])
    out = np.zeros(len(quads), dtype(SHADED_QUAD))
    for field in QUAD:
        out[field.name] = quads[field.name]
    bits = (lives * (255 << QUAD_SAMPLES * np.arange(4, dtype=np.int64))).sum(1)
    out["mask"] &= bits.astype(out["mask"].dtype)
    for pixel in range(4):
        for n in range(4):
            out[f"c{pixel}_{n}"] = colour[:, pixel, n]
    return out


def floats(values: np.ndarray) -> np.ndarray:
    """The bits of the float32 nearest to UNORM of 16 bits: int64."""
    # No quotient of these lies within 2^-53 of the middle between two float32.
    return (values / ONE).astype(np.float32).view(np.uint32).astype(np.int64)


def combined(op: np.ndarray, colour: np.ndarray, texel: np.ndarray) -> np.ndarray:
    """Colours and texels by the operation of each quad: int64, shape (q, 4, 4)."""
    alpha = texel[:, :, 3:]
    modulated = quotient(colour * texel)
    decal = quotient(colour * ONE + alpha * (texel - colour))
    added = np.minimum(colour + texel, ONE)
    decal[:, :, 3], added[:, :, 3] = colour[:, :, 3], modulated[:, :, 3]
    results = {
        TextureOp.REPLACE: texel,
        TextureOp.MODULATE: modulated,
        TextureOp.DECAL: decal,
        TextureOp.ADD: added,
    }
    out = colour.copy()
    for name, value in results.items():
        out = np.where((op == name)[:, None, None], value, out)
    return out


def quotient(product: np.ndarray) -> np.ndarray:
    """A product of two UNORM of 16 bits, the nearest."""
    return (product + ONE // 2) // ONE


def passes(function: np.ndarray, alpha: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Which pixels the alpha test leaves: bool, shape (q, 4). NaN passes NOT_EQUAL and ALWAYS."""
    a = float32.flush(alpha.astype(np.uint32).view(np.float32))
    b = float32.flush(reference.astype(np.uint32).view(np.float32))[:, None]
    code = function[:, None]
    less, equal = a < b, a == b
    greater = b < a
    chosen = {
        Compare.LESS: less,
        Compare.EQUAL: equal,
        Compare.LESS_EQUAL: less | equal,
        Compare.GREATER: greater,
        Compare.NOT_EQUAL: ~equal,
        Compare.GREATER_EQUAL: greater | equal,
        Compare.ALWAYS: np.ones_like(less),
    }
    out = np.zeros_like(less)
    for name, value in chosen.items():
        out |= (code == name) & value
    return out
