# SPDX-License-Identifier: BSD-2-Clause
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.sim import Simulator

from fixfunc.rtl.lib.fork_join import move_together


@pytest.mark.parametrize(("sources", "sinks"), [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3)])
def test_all_move_or_none(sources, sinks):
    """Every combination of who offers, who takes, and ``when``."""
    m = Module()
    signature = stream.Signature(1)
    sources = [signature.create(path=("source", str(n))) for n in range(sources)]
    sinks = [signature.create(path=("sink", str(n))) for n in range(sinks)]
    when = Signal()
    moves = Signal()
    m.d.comb += moves.eq(move_together(m, sources, sinks, when))
    driven = [when, *(s.valid for s in sources), *(s.ready for s in sinks)]
    seen = set()

    async def drive(ctx):
        for word in range(1 << len(driven)):
            bits = [word >> n & 1 for n in range(len(driven))]
            for signal, bit in zip(driven, bits, strict=True):
                ctx.set(signal, bit)
            assert ctx.get(moves) == all(bits)
            taken = [ctx.get(s.valid & s.ready) for s in (*sources, *sinks)]
            assert taken == [all(bits)] * len(taken)
            # A sink hears of a beat whatever it says itself; so does a source.
            for signal, port in zip(driven[1:], (*sources, *sinks), strict=True):
                others = [b for s, b in zip(driven, bits, strict=True) if s is not signal]
                answer = port.ready if port in sources else port.valid
                assert ctx.get(answer) == all(others)
            seen.add(ctx.get(moves))

    simulator = Simulator(m)
    simulator.add_testbench(drive)
    simulator.run()
    assert seen == {0, 1}
