# SPDX-License-Identifier: BSD-2-Clause
"""Stencil test and stencil operations."""

import numpy as np

from fixfunc.models.depth.compare import COMPARE
from fixfunc.spec.state import Compare, StencilOp

OPERATE = {
    StencilOp.KEEP: lambda old, _ref: old,
    StencilOp.ZERO: lambda old, _ref: 0 * old,
    StencilOp.REPLACE: lambda old, ref: 0 * old + ref,
    StencilOp.INCR_SAT: lambda old, _ref: np.minimum(old + 1, 255),
    StencilOp.DECR_SAT: lambda old, _ref: np.maximum(old - 1, 0),
    StencilOp.INVERT: lambda old, _ref: ~old & 255,
    StencilOp.INCR: lambda old, _ref: old + 1 & 255,
    StencilOp.DECR: lambda old, _ref: old - 1 & 255,
}


def stencil_test(state: np.void, face: str, stored: np.ndarray) -> np.ndarray:
    """Samples that pass the stencil test of a face: bool, in the shape of ``stored``.

    ``face`` is ``"front"`` or ``"back"``.
    """
    read = int(state["stencil_read"])
    return COMPARE[Compare(state[f"stencil_{face}_func"])](
        int(state["stencil_ref"]) & read, stored & read
    )


def preserves_failing(tiles: np.ndarray, state: np.void) -> np.ndarray:
    """Tiles whose failing samples change nothing: bool, shape (n,).

    Such samples may be left out before anything else is known.
    """
    front = all(state[f"stencil_front_{name}"] == StencilOp.KEEP for name in ("fail", "depth_fail"))
    back = all(state[f"stencil_back_{name}"] == StencilOp.KEEP for name in ("fail", "depth_fail"))
    return np.where(tiles["back"], back, front) | (not state["stencil_test"])


def changes(state: np.void) -> bool:
    """Whether a draw may change any stencil value."""
    each = (
        state[f"stencil_{face}_{name}"]
        for face in ("front", "back")
        for name in ("fail", "depth_fail", "pass")
    )
    return bool(
        state["stencil_test"]
        and state["stencil_write"]
        and any(operation != StencilOp.KEEP for operation in each)
    )


def stencil_update(
    state: np.void,
    face: str,
    stored: np.ndarray,
    passed: np.ndarray,
    depth_passed: np.ndarray,
) -> np.ndarray:
    """Stencil values after the test.

    The operation of a sample depends on which test it failed, if any.
    """
    old = stored.astype(np.int64)
    ref = int(state["stencil_ref"])
    write = int(state["stencil_write"])
    done = {
        name: OPERATE[StencilOp(state[f"stencil_{face}_{name}"])](old, ref)
        for name in ("fail", "depth_fail", "pass")
    }
    new = np.where(passed, np.where(depth_passed, done["pass"], done["depth_fail"]), done["fail"])
    return ((old & ~write) | (new & write)).astype(np.uint8)
