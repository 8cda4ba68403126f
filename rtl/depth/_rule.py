# SPDX-License-Identifier: BSD-2-Clause
"""What a draw, or a clear, does to a sample: one rule for both."""

from amaranth.hdl import Array, Cat, Const, Mux
from amaranth.lib.data import StructLayout

from fixfunc.spec.state import Compare, StencilOp

SIGNS = StructLayout({"less": 1, "equal": 1, "greater": 1})  # which of the three a comparison lets pass
OPERATION = StructLayout({"keeps": 1, "turns": 8, "up": 1, "down": 1, "stops": 1})  # ((s or 0) ^ turns) + 1, - 1, or neither
RULE = StructLayout({
    "depth": SIGNS, "write": 1,  # of the new depth and the stored one; passing samples are written
    "stencil": SIGNS, "against": 8, "read": 8,  # of the masked reference and the stored value, to be masked
    "mask": 8, "fail": OPERATION, "depth_fail": OPERATION, "pass": OPERATION,  # the bits that may be written, and how
})
LANE = StructLayout({"passes": SIGNS, "writes": SIGNS})  # which of the three pass, and are written, of a covered sample
PASSING = {
    Compare.NEVER: 0b000, Compare.LESS: 0b001, Compare.EQUAL: 0b010, Compare.LESS_EQUAL: 0b011,
    Compare.GREATER: 0b100, Compare.NOT_EQUAL: 0b101, Compare.GREATER_EQUAL: 0b110, Compare.ALWAYS: 0b111,
}


def signs(compare):
    """Which signs a :class:`~fixfunc.spec.state.Compare` lets pass."""
    return Array([Const(PASSING[c], 3) for c in Compare])[compare]


def keeps(state, back):
    """Samples that fail change nothing: they may be left out before anything else is known of them."""
    by_face = {face: (state[f"stencil_{face}_fail"] == StencilOp.KEEP) & (state[f"stencil_{face}_depth_fail"] == StencilOp.KEEP)
               for face in ("front", "back")}
    return ~state.stencil_test | Mux(back, by_face["back"], by_face["front"])


def operation(op, ref):
    """A :class:`~fixfunc.spec.state.StencilOp` in parts."""
    def among(*those):
        return Cat(op == which for which in those).any()

    turns = Mux(op == StencilOp.INVERT, 255, Mux(op == StencilOp.REPLACE, ref, 0))
    return Cat(~among(StencilOp.ZERO, StencilOp.REPLACE), turns[:8], among(StencilOp.INCR, StencilOp.INCR_SAT),
               among(StencilOp.DECR, StencilOp.DECR_SAT), among(StencilOp.INCR_SAT, StencilOp.DECR_SAT))


def draw_rule(state, back, ahead):
    """Assignments, by field, for a draw; ``back``: the triangle faces away; ``ahead``: nothing may be written yet."""
    lets, acts = (ahead & ~(state.early_reject & keeps(state, back))).replicate(3), ~ahead
    face = {name: Mux(back, state[f"stencil_back_{name}"], state[f"stencil_front_{name}"]) for name in ("func", "fail", "depth_fail", "pass")}
    return {
        "depth": signs(state.depth_compare) | ~state.depth_test.replicate(3) | lets, "write": state.depth_test & state.depth_write & acts,
        "stencil": signs(face["func"]) | ~state.stencil_test.replicate(3) | lets, "against": state.stencil_ref & state.stencil_read,
        "read": state.stencil_read, "mask": state.stencil_write & (state.stencil_test & acts).replicate(8),
    } | {name: operation(face[name], state.stencil_ref) for name in ("fail", "depth_fail", "pass")}


def clear_rule(clear):
    """The same for a clear: every sample passes, and is replaced in the planes that are cleared."""
    every, replaces = Const(0b111, 3), operation(Const(StencilOp.REPLACE, 3), clear.stencil_value)
    return {"depth": every, "write": clear.depth, "stencil": every, "against": clear.stencil_value, "read": Const(255, 8),
            "mask": clear.stencil.replicate(8)} | dict.fromkeys(("fail", "depth_fail", "pass"), replaces)


def passes(allowed, less, equal):
    """Whether a comparison passes."""
    return (allowed.less & less) | (allowed.equal & equal) | (allowed.greater & ~less & ~equal)


def operated(op, mask, stencil, brought=0):
    """What an operation makes of a stored value; ``brought`` instead of zero."""
    stays = op.stops & Mux(op.down, ~stencil.any(), stencil.all())
    moved = (Mux(op.keeps, stencil, 0) ^ op.turns ^ brought) + Mux(op.down, 255, op.up)
    return (((moved ^ stencil) & Mux(stays, 0, mask)) ^ stencil)[:8]


def stencil_signs(against, read, stencil):
    """Whether the masked reference is less than a stored value, and whether they are equal."""
    masked = stencil & read
    return Cat(against < masked, against == masked)


def stencil_outcomes(rule, passing, covered, stencil, brought=0):
    """What is stored if a sample passes the stencil test, by the operation ``passing``, and what if it fails."""
    mask = Mux(covered, rule.mask, 0)
    return operated(passing, mask, stencil, brought), operated(rule.fail, mask, stencil)
