"""What ranges decide about a tile, and what the tile does to them."""

from amaranth.hdl import Cat, Mux, Signal

from rtl.depth._rule import SIGNS, signs
from spec.state import StencilOp


def depth_verdict(m, state, query, depth, back):
    """Whether depths alone let nothing pass, or everything: by which signs of the comparison cannot occur."""
    held = depth.range
    impossible, allowed = Signal(SIGNS), Signal(SIGNS)
    below, above = query.high < held.low, query.low > held.high
    m.d.comb += [
        impossible.less.eq(above | ((query.low == held.high) & query.low_ones)), impossible.equal.eq(below | above),
        impossible.greater.eq(below | ((query.high == held.low) & query.high_zeros)),
        allowed.eq(signs(state.depth_compare) | ~state.depth_test.replicate(3)),
    ]
    keeps = {face: (state[f"stencil_{face}_fail"] == StencilOp.KEEP) & (state[f"stencil_{face}_depth_fail"] == StencilOp.KEEP)
             for face in ("front", "back")}
    may_drop = state.hiz_drop & (~state.stencil_test | Mux(back, keeps["back"], keeps["front"]))
    may_accept = state.hiz_accept & ~state.stencil_test
    never, always = ((sign | impossible.as_value()).all() for sign in (~allowed.as_value(), allowed.as_value()))
    return may_drop & never, may_accept & always


def stencil_fails(m, state, stencil, back):
    """Whether every stencil value that may be stored fails, and stays."""
    held, read, ref = stencil.range, state.stencil_read, state.stencil_ref & state.stencil_read
    low, high = held.low & read, held.high & read
    allowed = Signal(SIGNS)
    m.d.comb += allowed.eq(signs(Mux(back, state.stencil_back_func, state.stencil_front_func)))
    impossible = Cat(ref >= high, (ref < low) | (ref > high), ref <= low)
    fails = (~allowed.as_value() | impossible).all() & (read.all() | (held.low == held.high))
    stays = Mux(back, state.stencil_back_fail, state.stencil_front_fail) == StencilOp.KEEP
    return fails & stays & state.stencil_test & state.hiz_drop


def write_ranges(m, front, query, ranges, visits, clears, writes, tests, back):
    """Ranges hold for whatever may be written, and tighten where a write of every sample is certain."""
    state, depth = front.state, ranges["depth"]
    held, allowed = depth.range, Signal(SIGNS)
    m.d.comb += allowed.eq(signs(state.depth_compare))
    full, free = query.full & state.early_write & ~state.stencil_test, allowed.less & allowed.greater
    lower, higher = query.low < held.low, query.high > held.high
    m.d.comb += [
        depth.new.low.eq(Mux(full & free, query.low, Mux(Mux(allowed.less, lower, full & allowed.greater & ~lower), query.low, held.low))),
        depth.new.high.eq(Mux(full & free, query.high, Mux(Mux(allowed.greater, higher, full & allowed.less & ~higher), query.high, held.high))),
        depth.write.eq(writes),
    ]
    if "stencil" in ranges:
        _write_stencil(m, state, ranges["stencil"], tests, back)

    # A clear that visits its tiles.
    for plane, memory in ranges.items():
        with m.If(clears):
            value, held = memory.value, memory.range
            m.d.comb += [memory.new.low.eq(Mux(memory.whole | (value < held.low), value, held.low)),
                         memory.new.high.eq(Mux(memory.whole | (value > held.high), value, held.high)),
                         memory.write.eq(visits[plane] & memory.touched)]


def _write_stencil(m, state, stencil, tests, back):
    """The same for stencil values; they never tighten but by clears."""
    written = [_stencil_written(m, state, face) for face in ("front", "back")]
    some, least, most = (Mux(back, b, f) for f, b in zip(*written, strict=True))
    held = stencil.range
    m.d.comb += [stencil.new.low.eq(Mux(least < held.low, least, held.low)), stencil.new.high.eq(Mux(most > held.high, most, held.high)),
                 stencil.write.eq(tests & some)]


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
