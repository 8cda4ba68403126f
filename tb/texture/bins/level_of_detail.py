# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the level of detail: gradients, logarithms, biases, bounds, footprints, results."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.level_of_detail.level_of_detail import LevelOfDetailParams
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, LOD_STATE
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag, ranges

CONFIG = "tiny"
COUNT = 6000
LEAST, MOST = -(1 << 16), (1 << 16) - 1
SIGN = 1 << 31


def bins(seen: Seen, params: LevelOfDetailParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, LOD_STATE, params.quad)
    out = codec.unpack(seen.out["o"], params.levels, dtype(params.levels))
    state = states[state_of]
    coarse = flag(state["coarse"], "fine", "coarse")
    smooth = flag(state["smooth"], "nearest", "between")
    own = out["unclamped3"].astype(np.int64)
    lengths = {
        "none": own == LEAST >> 1,
        "below a texel": (own > LEAST >> 1) & (own < 0),
        "a texel": own == 0,
        "texels": (own > 0) & (own < 16 << 8),
        "beyond any texture": own >= 16 << 8,
        "infinite": own == 64 << 8,
    }
    given = state["explicit_level"] == 1
    found = cross("length", lengths, coarse, where=~given)
    several = flag(state["anisotropy"] > 1, "isotropic", "anisotropic")
    found |= cross("level given", flag(given, "no", "yes"), several)
    biased = own + quads["bias3"]
    both = np.clip(biased, LEAST, MOST) + state["bias"]
    saturates = {"below": lambda v: v < LEAST, "not": _inside, "above": lambda v: v > MOST}
    for name, value in (("bias of a pixel", biased), ("bias of the sampler", both)):
        found |= cross(name, {label: rule(value) for label, rule in saturates.items()})
    both = np.clip(both, LEAST, MOST)
    low, high, least = (state[name] for name in ("minimum", "maximum", "least"))
    found |= cross(
        "bound",
        {
            "none": (both >= low) & (both <= high),
            "minimum": both < low,
            "maximum": (both > high) & (high >= low),
            "minimum above maximum": low > high,
            "least of the texture": (least > 0) & (np.maximum(np.minimum(both, high), low) < least),
        },
    )
    levels = {"0": out["level3"] == 0, "last": out["level3"] == state["last"]}
    found |= cross("level", levels, smooth)
    found |= cross("number of levels", ranges(state["last"], {"one": (0, 0), "several": (1, 14)}))
    weights = {"none": (0, 0), "some": (1, 254), "255": (255, 255)}
    found |= cross("weight", ranges(out["fraction3"], weights))
    found |= cross("filter", flag(out["minifies3"], "magnifies", "minifies"))
    # A bound decides alone where the texture has one below it.
    bounded = np.where(both < low, np.maximum(low, least), LEAST)
    found |= cross("just", ranges(bounded, {"magnifies": (0, 0), "minifies": (1, 1)}))
    return found | (_footprints(state, out) if params.footprints else {})


def _footprints(state, out):
    """Of pixels of anisotropic filters: numbers of samples, and where their axes lie."""
    most = {"none": (0, 1), "some": (2, 15), "16": (16, 16), "beyond": (17, 31)}
    found = cross("anisotropy", ranges(state["anisotropy"], most))
    for pixel in range(4):
        count = out[f"count{pixel}"]
        samples = {str(n): count == n for n in range(1, ANISOTROPY + 1)}
        found |= cross(f"samples of pixel {pixel}", samples)
        u, v = (out[f"along_{name}{pixel}"].astype(np.int64) for name in "uv")
        of_u, of_v = (axis % SIGN > 0 for axis in (u, v))
        both = of_u & of_v
        kinds = {
            "of u": ~of_v,
            "of v": ~of_u,
            "of one sign": both & ((u ^ v) < SIGN),
            "of two": both & ((u ^ v) >= SIGN),
        }
        found |= cross(f"axis of pixel {pixel}", kinds, where=count > 1)
    return found


def _inside(value):
    return (value >= LEAST) & (value <= MOST)
