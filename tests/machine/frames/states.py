# SPDX-License-Identifier: BSD-2-Clause
"""What random frames have to reach, by the names that the naive renderer counts."""

from fixfunc.spec.dxgi import DEPTH_FORMATS
from fixfunc.spec.state import (
    COLOURS_OF_SOURCE,
    SAMPLE_COUNTS,
    BlendFactor,
    BlendOp,
    Compare,
    LogicOp,
    StencilOp,
)
from tests.machine.frames.random_frames import COLOURS

ALWAYS_PASSES = Compare.ALWAYS
NEVER_PASSES = Compare.NEVER

# What every thirty-two frames reach.
FEW = {
    *(
        "front drawn",
        "back drawn",
        "cut front drawn",
        "cut back drawn",
        "no area",
        "rejected",
        "pixel whole",
        "pixel in part",
    ),
    *("late kept", "early kept", "late in alpha", "late out of alpha"),
    *("late in coverage", "late out of coverage", "depth in range"),
    *(f"{samples} samples" for samples in SAMPLE_COUNTS),
}


def every() -> set[str]:
    """What two hundred frames reach."""
    out = set(FEW)
    out |= {
        "depth cut to the range",
        "front culled",
        "back culled",
        "early discarded",
        "early in alpha",
    }
    out |= {"late discarded", "early out of alpha", "early in coverage", "early out of coverage"}
    for function in Compare:
        out.add(f"depth {function.name} of equals")
        for test in ("depth", "stencil"):
            if function != NEVER_PASSES:
                out.add(f"{test} {function.name} passed")
            if function != ALWAYS_PASSES:
                out.add(f"{test} {function.name} failed")
    for face in ("front", "back"):
        for what in ("fail", "depth_fail", "pass"):
            out |= {f"{face} {what} {operation.name}" for operation in StencilOp}
    for kind in ("UNORM", "SNORM", "SRGB", "FLOAT"):
        for channels in ("colour", "alpha"):
            out |= {f"{kind} {channels} {operation.name}" for operation in BlendOp}
    for side in ("source", "target"):
        out |= {f"{side} {factor.name}" for factor in BlendFactor}
        alphas = set(BlendFactor) - set(COLOURS_OF_SOURCE)
        out |= {f"{side}_alpha {factor.name}" for factor in alphas}
    out |= {f"UINT logic {operation.name}" for operation in LogicOp}
    out |= {f"{form.name} written" for form in COLOURS}
    out |= {f"{form.name} tested" for form in DEPTH_FORMATS}
    return out
