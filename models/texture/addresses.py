# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of texel addresses: places of quads become texels of their grids, and weights."""

import numpy as np

from fixfunc.models.payload import dtype, enumerated
from fixfunc.models.texture.filtering.filtering import addressed
from fixfunc.models.texture.filtering.reduction import ONE, WEIGHT_BITS, weights
from fixfunc.models.texture.filtering.sampler_state import ADDRESSES
from fixfunc.spec.textures.addresses import ADDRESSED_QUAD, Address

# By the numbers of their modes.
NAMES = dict(zip(Address, ADDRESSES, strict=True))


def address_quads(states: np.ndarray, quads: np.ndarray, state_of: np.ndarray) -> np.ndarray:
    """Texels of quads.

    Parameters
    ----------
    states : structured ndarray, shape (s,)
        As :data:`fixfunc.spec.textures.addresses.ADDRESS_STATE`.
    quads : structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.addresses.ADDRESS_QUAD`.
    state_of : ndarray of intp, shape (n,)
        The state of each.

    Returns
    -------
    structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.addresses.ADDRESSED_QUAD`.
    """
    state = states[state_of]
    out = np.zeros(len(quads), dtype(ADDRESSED_QUAD))
    for pixel in range(4):
        level = quads[f"level{pixel}"].astype(np.int64)
        smooth = quads[f"smooth{pixel}"] == 1
        borders = np.zeros((4, len(quads)), bool)
        fractions = []
        for axis, (along, place, size, names) in enumerate(
            (("u", "x", "width", ("left", "right")), ("v", "y", "height", ("upper", "lower")))
        ):
            extent = np.maximum(state[size].astype(np.int64) >> level, 1)
            at = quads[f"{place}{pixel}"].astype(np.int64) - np.where(smooth, ONE // 2, 0)
            first = (at >> WEIGHT_BITS) + state[f"offset_{along}"]
            for step, name in enumerate(names):
                mode = state[f"mode_{along}"]
                out[f"{name}{pixel}"], outside = _addressed(first + step, extent, mode)
                borders |= outside & (np.arange(4) >> axis & 1 == step)[:, None]
            fractions.append(np.where(smooth, at & ONE - 1, 0))
            out[f"{along}{pixel}"] = fractions[-1]
        counts = (weights(fractions) > 0) | (state["gathers"] == 1)
        out[f"borders{pixel}"] = _bits(borders)
        out[f"reads{pixel}"] = _bits(counts & ~borders)
    return out


def _addressed(place, size, modes):
    """Texels that exist, by the mode of each, and whether the border is meant."""
    texel = np.zeros_like(place)
    outside = np.zeros(len(place), bool)
    for mode in np.unique(modes):
        chosen = modes == mode
        texel[chosen], outside[chosen] = addressed(
            place[chosen], size[chosen], NAMES[enumerated(Address, mode, "mode")]
        )
    return texel, outside


def _bits(flags):
    """Flags by corner as a number."""
    return (flags << np.arange(4)[:, None]).sum(0)
