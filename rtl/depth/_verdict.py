# SPDX-License-Identifier: BSD-2-Clause
"""What ranges decide about a tile, and what the tile does to them."""

from amaranth.hdl import Cat, Mux, Signal

from fixfunc.rtl.depth._rule import SIGNS, keeps, signs
from fixfunc.spec.state import StencilOp


def impossible_signs(m, memory, low_ones, high_zeros):
    """Which signs no comparison of the tile's new depths with those it holds can have."""
    found, new, held = Signal(SIGNS), memory.op, memory.range
    below, above = new.high < held.low, new.low > held.high
    m.d.comb += [
        found.less.eq(above | ((new.low == held.high) & low_ones)), found.equal.eq(below | above),
        found.greater.eq(below | ((new.high == held.low) & high_zeros)),
    ]
    return found.as_value()


def depth_verdict(state, impossible, back):
    """Whether depths alone let nothing pass, or everything."""
    allowed = signs(state.depth_compare) | ~state.depth_test.replicate(3)
    may_accept = state.hiz_accept & ~state.stencil_test
    return state.hiz_drop & keeps(state, back) & (~allowed | impossible).all(), may_accept & (allowed | impossible).all()


def stencil_fails(state, held, back):
    """Whether every stencil value that may be stored fails, and stays."""
    read, ref = state.stencil_read, state.stencil_ref & state.stencil_read
    low, high = held.low & read, held.high & read
    allowed = signs(Mux(back, state.stencil_back_func, state.stencil_front_func))
    never = Cat(ref >= high, (ref < low) | (ref > high), ref <= low)
    fails = (~allowed | never).all() & (read.all() | (held.low == held.high))
    stays = Mux(back, state.stencil_back_fail, state.stencil_front_fail) == StencilOp.KEEP
    return fails & stays & state.stencil_test & state.hiz_drop


def depth_op(m, state, query, memory, tests, clears):
    """What a tile that is tested, or cleared, does to the range of its depths; a clock later.

    Dropped tiles need no exception: what lets nothing pass leaves a range as it is.
    """
    allowed = Signal(SIGNS)
    m.d.comb += allowed.eq(signs(state.depth_compare) & (state.depth_test & state.depth_write & tests).replicate(3))
    full = query.full & state.early_write & ~state.stencil_test
    op = memory.op
    m.d.sync += [op.low.eq(query.low), op.high.eq(query.high), op.lower.eq(allowed.less), op.higher.eq(allowed.greater), op.full.eq(full)]
    _clear_op(m, memory, clears)


def stencil_op(m, state, memory, tests, clears, back):
    """The same for the range of its stencil values, which never tightens but by clears."""
    written = [_stencil_written(m, state, face) for face in ("front", "back")]
    some, least, most = (Mux(back, b, f) for f, b in zip(*written, strict=True))
    op = memory.op
    m.d.sync += [op.low.eq(least), op.high.eq(most), op.lower.eq(tests & some), op.higher.eq(tests & some), op.full.eq(0)]
    _clear_op(m, memory, clears)


def _clear_op(m, memory, clears):
    """A clear that visits its tiles."""
    op = memory.op
    with m.If(clears):
        m.d.sync += [op.low.eq(memory.value), op.high.eq(memory.value), op.lower.eq(memory.touched), op.higher.eq(memory.touched),
                     op.full.eq(memory.whole)]


def restore_op(m, memory, restores, low, high):
    """What was known comes back, whatever was."""
    op = memory.op
    with m.If(restores):
        m.d.sync += [op.low.eq(low), op.high.eq(high), op.lower.eq(1), op.higher.eq(1), op.full.eq(1)]


def _stencil_written(m, state, face):
    """Whether a face writes stencil values, and the least and the greatest of them; registers."""
    operations = [state[f"stencil_{face}_{name}"] for name in ("fail", "depth_fail", "pass")]
    zero, ref = (Cat(op == which for op in operations).any() for which in (StencilOp.ZERO, StencilOp.REPLACE))
    some = Cat(op != StencilOp.KEEP for op in operations).any() & state.stencil_test & (state.stencil_write != 0)
    other = Cat(op > StencilOp.REPLACE for op in operations).any() | ~state.stencil_write.all()
    out = Signal(name=f"{face}_writes"), Signal(8, name=f"{face}_least"), Signal(8, name=f"{face}_most")
    m.d.sync += [out[0].eq(some), out[1].eq(Mux(other | zero, 0, state.stencil_ref)),
                 out[2].eq(Mux(other, 255, Mux(ref, state.stencil_ref, 0)))]
    return out
