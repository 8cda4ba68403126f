# SPDX-License-Identifier: BSD-2-Clause
"""Rules: what a draw, or a clear, does to a sample; compare and stencil operations, decoded."""

from amaranth.hdl import Array, Cat, Const, Mux, Value
from amaranth.lib.data import StructLayout

from fixfunc.spec.state import Compare, StencilOp

SIGNS = StructLayout({"less": 1, "equal": 1, "greater": 1})  # what a comparison lets pass
# A stencil operation, decoded: ((stored value, if it is preserved, or else 0) ^ invert), then
# incremented or decremented, saturated or not. REPLACE inverts zero by the reference.
OPERATION = StructLayout(
    {"preserve": 1, "invert": 8, "increment": 1, "decrement": 1, "saturate": 1}
)
RULE = StructLayout(
    {
        "depth": SIGNS,
        "write": 1,  # of the new depth and the stored one; passing samples are written
        "stencil": SIGNS,
        "against": 8,
        "read": 8,  # of the masked reference and the stored value, to be masked
        "mask": 8,
        "fail": OPERATION,
        "depth_fail": OPERATION,
        "pass": OPERATION,  # the bits that may be written, and how
    }
)
LANE = StructLayout({"passes": SIGNS, "writes": SIGNS})  # of a covered sample
PASSING = {
    Compare.NEVER: 0b000,
    Compare.LESS: 0b001,
    Compare.EQUAL: 0b010,
    Compare.LESS_EQUAL: 0b011,
    Compare.GREATER: 0b100,
    Compare.NOT_EQUAL: 0b101,
    Compare.GREATER_EQUAL: 0b110,
    Compare.ALWAYS: 0b111,
}


def signs(compare: Value) -> Value:
    """Which signs a :class:`~fixfunc.spec.state.Compare` lets pass."""
    return Array([Const(PASSING[c], 3) for c in Compare])[compare]


def preserves_failing(state: Value, back: Value) -> Value:
    """Samples that fail change nothing: they may be dropped before anything else is known."""
    by_face = {
        face: (state[f"stencil_{face}_fail"] == StencilOp.KEEP)
        & (state[f"stencil_{face}_depth_fail"] == StencilOp.KEEP)
        for face in ("front", "back")
    }
    return ~state.stencil_test | Mux(back, by_face["back"], by_face["front"])


def operation(op: Value, ref: Value) -> Value:
    """A :class:`~fixfunc.spec.state.StencilOp` in parts."""

    def among(*operations):
        return Cat(op == other for other in operations).any()

    invert = Mux(op == StencilOp.INVERT, 255, Mux(op == StencilOp.REPLACE, ref, 0))
    return Cat(
        ~among(StencilOp.ZERO, StencilOp.REPLACE),
        invert[:8],
        among(StencilOp.INCR, StencilOp.INCR_SAT),
        among(StencilOp.DECR, StencilOp.DECR_SAT),
        among(StencilOp.INCR_SAT, StencilOp.DECR_SAT),
    )


def draw_rule(state: Value, back: Value, ahead: Value) -> Value:
    """Assignments, by field, for a draw; ``back``: the triangle faces away; ``ahead``: nothing may
    be written yet.
    """
    untested = (ahead & ~(state.early_reject & preserves_failing(state, back))).replicate(3)
    acts = ~ahead
    face = {
        name: Mux(back, state[f"stencil_back_{name}"], state[f"stencil_front_{name}"])
        for name in ("func", "fail", "depth_fail", "pass")
    }
    return {
        "depth": signs(state.depth_compare) | ~state.depth_test.replicate(3) | untested,
        "write": state.depth_test & state.depth_write & acts,
        "stencil": signs(face["func"]) | ~state.stencil_test.replicate(3) | untested,
        "against": state.stencil_ref & state.stencil_read,
        "read": state.stencil_read,
        "mask": state.stencil_write & (state.stencil_test & acts).replicate(8),
    } | {name: operation(face[name], state.stencil_ref) for name in ("fail", "depth_fail", "pass")}


def clear_rule(clear: Value) -> Value:
    """The same for a clear: every sample passes, and is replaced in the planes that are cleared."""
    all_signs = Const(0b111, 3)
    replaces = operation(Const(StencilOp.REPLACE, 3), clear.stencil_value)
    return {
        "depth": all_signs,
        "write": clear.depth,
        "stencil": all_signs,
        "against": clear.stencil_value,
        "read": Const(255, 8),
        "mask": clear.stencil.replicate(8),
    } | dict.fromkeys(("fail", "depth_fail", "pass"), replaces)


def passes(allowed: Value, less: Value, equal: Value) -> Value:
    """Whether a comparison passes."""
    return (allowed.less & less) | (allowed.equal & equal) | (allowed.greater & ~less & ~equal)


def operated(op: Value, mask: Value, stencil: Value) -> Value:
    """What an operation makes of a stored value."""
    saturated = op.saturate & Mux(op.decrement, ~stencil.any(), stencil.all())
    changed = Mux(op.preserve, stencil, 0) ^ op.invert
    result = changed + Mux(op.decrement, 255, op.increment)
    return (((result ^ stencil) & Mux(saturated, 0, mask)) ^ stencil)[:8]


def stencil_signs(against: Value, read: Value, stencil: Value) -> Value:
    """Whether the masked reference is less than a stored value, and whether they are equal."""
    masked = stencil & read
    return Cat(against < masked, against == masked)


def stencil_outcomes(rule: Value, passing: Value, covered: Value, stencil: Value) -> tuple:
    """What is stored if a sample passes the stencil test, by the operation ``passing``, and what if
    it fails.
    """
    mask = Mux(covered, rule.mask, 0)
    return operated(passing, mask, stencil), operated(rule.fail, mask, stencil)
