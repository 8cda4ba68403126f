# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the texture stage: operations by source, alpha tests, ends of colours and texels."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.pixel.texture_stage import TextureStageParams
from fixfunc.spec.pixels.texture_stage import (
    SHADED_QUAD,
    STAGE_QUAD,
    STAGE_STATE,
    TextureOp,
)
from fixfunc.spec.state import Compare
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag, of

CONFIG = "tiny"
COUNT = 6000
ONE = 0x3F800000
SOMETIMES = [it for it in Compare if it not in (Compare.NEVER, Compare.ALWAYS)]
TEXTURED = [it for it in TextureOp if it != TextureOp.NONE]


def bins(seen: Seen, _: TextureStageParams) -> dict[str, int]:
    """Counts of one batch."""
    states, beats, state_of = parted(seen.rows, STAGE_STATE, STAGE_QUAD)
    out = codec.unpack(seen.out["o"], SHADED_QUAD, dtype(SHADED_QUAD))
    ends = np.flatnonzero(beats["end"])
    state = states[state_of[ends]]
    last = beats[ends]
    source = flag(state["interpolated"], "constant", "interpolated")
    operation = of(TextureOp, state["op"])
    found = cross("operation x source", operation, source)
    before = state["attribute"] < last["attribute"]
    found |= cross("colour", flag(before, "the last attribute", "one before it"), source)
    lives = out["mask"] == last["mask"]
    found |= cross(
        "alpha test",
        of(SOMETIMES, state["alpha_test"]),
        {"all is left": lives & (last["mask"] != 0), "something fails": ~lives},
    )
    alpha = out["c0_3"].astype(np.int64)
    relation = _relation(alpha, state["alpha_reference"].astype(np.int64))
    found |= cross("alpha", relation, of(Compare, state["alpha_test"]))
    colour = out["c0_0"].astype(np.int64)
    values = {"zero": colour == 0, "between": (colour > 0) & (colour < ONE), "one": colour == ONE}
    return found | cross("result", of(TEXTURED, state["op"]), values)


def _relation(a, b):
    """Which of two floats is the greater."""
    with np.errstate(invalid="ignore"):
        first, second = (bits.astype(np.uint32).view(np.float32) for bits in (a, b))
        return {
            "less": first < second,
            "equal": first == second,
            "greater": first > second,
            "no number": np.isnan(first) | np.isnan(second),
        }
