# SPDX-License-Identifier: BSD-2-Clause
"""Credits, and FIFOs in block RAM."""

from types import ModuleType

from amaranth.hdl import Signal

from fixfunc.rtl.lib import credit, fifo
from fixfunc.tb.proofs.engine.places import buffered_fifo
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.streams import Order, no_deadlock, output_keeps

BITS = 2
DEPTH = 3


def stream_fifo(module: ModuleType = fifo, depth: int = DEPTH) -> Properties:
    """A FIFO between two streams."""
    p = Properties()
    unit = module.StreamFIFO(BITS, depth)
    p.add(unit)
    pop = unit.o.valid & unit.o.ready
    push = unit.i.valid & unit.i.ready
    order = Order(p, push, unit.i.payload, pop, unit.o.payload, depth + 1)
    places = buffered_fifo(p, "unit.fifo", depth)
    order.holds_slots([(unit.o.valid, unit.o.payload), *places])
    p.prove("occupied", unit.occupied == (order.count != 0))
    output_keeps(p, unit.o)
    waits = (order.count != 0) & unit.o.ready
    no_deadlock(p, waits, unit.o.valid, 2)
    full = order.count == depth + 1
    no_deadlock(p, unit.o.ready & ~full, unit.i.ready, 2, "accepts")
    return p


def two_places(module: ModuleType = fifo) -> Properties:
    """The least FIFO."""
    return stream_fifo(module, 2)


def credit_counter(module: ModuleType = credit) -> Properties:
    """Credits for four places, allowed a clock before they are consumed."""
    p = Properties()
    places, lookahead = 4, 2
    unit = module.CreditCounter(places, lookahead)
    p.add(unit)
    taken = Signal(range(places + 2))
    p.m.d.sync += taken.eq(taken + unit.consume - unit.release - unit.cancel)
    p.assume(~unit.consume | p.past(unit.available, lookahead - 1))
    p.assume(taken >= unit.release + unit.cancel)
    p.prove("room", taken + unit.consume <= places)
    p.prove("places", p.inner("unit.free") == places - taken)
    p.prove("idle", unit.idle == (taken == 0))
    no_deadlock(p, taken < places - lookahead, unit.available, 1)
    p.reach("full", taken == places)
    return p


def credited_fifo(module: ModuleType = fifo) -> Properties:
    """A FIFO behind a pipeline of two clocks, whose beats may be cancelled at its end."""
    p = Properties()
    unit = module.CreditedFIFO(BITS, DEPTH)
    p.add(unit)
    stages = Signal(2)
    drop = p.free(1, "drop")
    pop = unit.o.valid & unit.o.ready
    p.m.d.sync += stages.eq((stages << 1) | unit.consume)
    p.m.d.comb += [
        unit.push.eq(stages[1] & ~drop),
        unit.cancel.eq(stages[1] & drop),
    ]
    p.assume(~unit.consume | unit.available)
    order = Order(p, unit.push, unit.i, pop, unit.o.payload, DEPTH)
    places = buffered_fifo(p, "unit.fifo.fifo", DEPTH)
    order.holds_slots([(unit.o.valid, unit.o.payload), *places])
    under_way = stages[0] + stages[1] + order.count
    p.prove("credits", p.inner("unit.credit.free") == DEPTH - under_way)
    p.prove("never_full", ~unit.push | (p.inner("unit.fifo.fifo.inner_level") < DEPTH - 1))
    p.prove("idle", unit.idle == (under_way == 0))
    output_keeps(p, unit.o)
    no_deadlock(p, (order.count != 0) & unit.o.ready, unit.o.valid, 2)
    no_deadlock(p, under_way < DEPTH - 1, unit.available, 1, "accepts")
    return p


IN_ORDER = "Beats leave in order, each once, and stay until they are taken"
PROOFS = [
    Proof(
        "stream_fifo",
        "lib/fifo.py StreamFIFO",
        f"{IN_ORDER}; `occupied` tells of any; a beat leaves within 3 clocks of a ready receiver, "
        "and a place that is free is offered within 3.",
        stream_fifo,
        depth=5,
        size="2 bits, depth 3",
    ),
    Proof(
        "stream_fifo_2",
        "lib/fifo.py StreamFIFO",
        f"{IN_ORDER}, in the least depth too.",
        two_places,
        depth=5,
        size="2 bits, depth 2",
    ),
    Proof(
        "credit_counter",
        "lib/credit.py CreditCounter",
        "No more than all places are promised, with credits consumed a clock after they are seen; "
        "`idle` is exact; free places beyond the lookahead are available a clock later.",
        credit_counter,
        depth=5,
        size="4 places, lookahead 2",
        assumed="A credit is consumed a clock after `available`; only what was consumed is "
        "released or cancelled.",
    ),
    Proof(
        "credited_fifo",
        "lib/fifo.py CreditedFIFO",
        f"{IN_ORDER}; the FIFO always has room for a beat with a credit; `idle` is exact; no "
        "credit is lost.",
        credited_fifo,
        depth=6,
        size="2 bits, depth 3, a pipeline of 2 clocks",
        assumed="A credit is consumed while `available`; its beat arrives, or is cancelled, 2 "
        "clocks later.",
    ),
]
