"""What a draw, or a clear, does to a sample: one rule for both."""

from amaranth.hdl import Array, Const, Mux
from amaranth.lib.data import StructLayout

from spec.state import Compare, StencilOp

SIGNS = StructLayout({"less": 1, "equal": 1, "greater": 1})  # which of the three a comparison lets pass
RULE = StructLayout({
    "depth": SIGNS, "write": 1,  # of the new depth and the stored one; passing samples are written
    "stencil": SIGNS, "against": 8, "read": 8,  # of the masked reference and the stored value, to be masked
    "ref": 8,
    "mask": 8, "fail": 3, "depth_fail": 3, "pass": 3,  # spec.state.StencilOp, and the bits that it may write
})
LANE = StructLayout({"passes": SIGNS, "writes": SIGNS})  # which of the three pass, and are written, of a covered sample
PASSING = {
    Compare.NEVER: 0b000, Compare.LESS: 0b001, Compare.EQUAL: 0b010, Compare.LESS_EQUAL: 0b011,
    Compare.GREATER: 0b100, Compare.NOT_EQUAL: 0b101, Compare.GREATER_EQUAL: 0b110, Compare.ALWAYS: 0b111,
}


def signs(compare):
    """Which signs a :class:`~spec.state.Compare` lets pass."""
    return Array([Const(PASSING[c], 3) for c in Compare])[compare]


def keeps(state, back):
    """Samples that fail change nothing: they may be left out before anything else is known of them."""
    by_face = {face: (state[f"stencil_{face}_fail"] == StencilOp.KEEP) & (state[f"stencil_{face}_depth_fail"] == StencilOp.KEEP)
               for face in ("front", "back")}
    return ~state.stencil_test | Mux(back, by_face["back"], by_face["front"])


def draw_rule(state, back, ahead):
    """Assignments, by field, for a draw; ``back``: the triangle faces away; ``ahead``: nothing may be written yet."""
    lets, acts = (ahead & ~(state.early_reject & keeps(state, back))).replicate(3), ~ahead
    face = {name: Mux(back, state[f"stencil_back_{name}"], state[f"stencil_front_{name}"]) for name in ("func", "fail", "depth_fail", "pass")}
    return {
        "depth": signs(state.depth_compare) | ~state.depth_test.replicate(3) | lets, "write": state.depth_test & state.depth_write & acts,
        "stencil": signs(face["func"]) | ~state.stencil_test.replicate(3) | lets, "against": state.stencil_ref & state.stencil_read,
        "ref": state.stencil_ref, "read": state.stencil_read,
        "mask": state.stencil_write & (state.stencil_test & acts).replicate(8),
    } | {name: face[name] for name in ("fail", "depth_fail", "pass")}


def clear_rule(clear):
    """The same for a clear: every sample passes, and is replaced in the planes that are cleared."""
    every = Const(0b111, 3)
    return {"depth": every, "write": clear.depth, "stencil": every, "against": clear.stencil_value, "ref": clear.stencil_value, "read": Const(255, 8),
            "mask": clear.stencil.replicate(8)} | dict.fromkeys(("fail", "depth_fail", "pass"), Const(StencilOp.REPLACE, 3))


def comparison(new, old):
    """(less, greater), by two subtractions side by side."""
    return new < old, old < new


def passes(allowed, less, greater):
    """Whether a comparison passes."""
    return (allowed.less & less) | (allowed.greater & greater) | (allowed.equal & ~less & ~greater)


def apply(rule, lane, covered, new, depth, stencil):
    """What becomes of a sample.

    Parameters
    ----------
    rule : View of RULE
    lane : View of LANE
    covered : Value
    new : Value
        Its depth.
    depth, stencil : Value
        What is stored.

    Returns
    -------
    passed, depth, stencil : Value

    All outcomes are formed side by side, so that the comparison of depths chooses last.
    """
    by_depth, by_stencil = comparison(new, depth), comparison(rule.against, stencil & rule.read)
    depth_passed, stencil_passed = passes(lane.passes, *by_depth), passes(rule.stencil, *by_stencil)
    writes = passes(lane.writes, *by_depth) & stencil_passed
    by_operation = {
        StencilOp.KEEP: stencil, StencilOp.ZERO: Const(0, 8), StencilOp.REPLACE: rule.ref, StencilOp.INVERT: ~stencil,
        StencilOp.INCR: stencil + 1, StencilOp.DECR: stencil - 1,
        StencilOp.INCR_SAT: Mux(stencil.all(), stencil, stencil + 1), StencilOp.DECR_SAT: Mux(stencil == 0, stencil, stencil - 1),
    }
    results = Array(by_operation[op][:8] for op in StencilOp)
    failed, depth_failed, done = ((results[rule[name]] & rule.mask) | (stencil & ~rule.mask) for name in ("fail", "depth_fail", "pass"))
    written = Mux(covered, Mux(stencil_passed, Mux(depth_passed, done, depth_failed), failed), stencil)
    return depth_passed & stencil_passed, Mux(writes, new, depth), written
