# SPDX-License-Identifier: BSD-2-Clause
"""Memories: a read returns what was written last; the write buffer keeps committed rows."""

from types import ModuleType

from amaranth.hdl import Mux, Signal

from fixfunc.rtl.lib import forwarded_memory, write_buffer
from fixfunc.tb.proofs.engine.places import ring_rows
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.streams import Order, no_deadlock, output_keeps

BITS = 2
ROWS = 4


def forwarded(module: ModuleType, latency: int, write_delay: int) -> Properties:
    """A memory of four rows, of which one is watched: any."""
    p = Properties()
    unit = module.ForwardedMemory(BITS, ROWS, latency, write_delay, read_ports=1)
    p.add(unit)
    watched = p.constant(range(ROWS), "watched")
    contents = p.constant(BITS, "contents")
    later = Signal()
    p.m.d.sync += later.eq(1)
    row = p.row("unit.rows", watched)
    p.assume(later | (row == contents))

    # The word of the watched row, by the operations whose results have come.
    begins = p.named("operation", unit.valid & (unit.address == watched))
    ends = p.named("result", p.past(begins, latency))
    written = Signal()
    last = Signal(BITS)
    word = p.named("word", Mux(written, last, contents))
    with p.m.If(ends):
        p.m.d.sync += [
            written.eq(1),
            last.eq(unit.result),
        ]
    clocks = latency - unit.fill_latency
    fill = p.past(unit.fill, clocks)
    filled = p.past(unit.filled, clocks)
    p.prove("value", ~ends | (unit.value == Mux(fill, filled, word)))
    p.prove("written", unit.written == p.past(unit.result))
    in_memory = p.past(word, write_delay) if write_delay else word
    p.prove("row", ~p.past(later, write_delay) | (row == in_memory))
    reads = p.past(unit.read_address_0 == watched)
    p.prove("read", ~(later & reads) | (unit.read_data_0 == p.past(row)))
    if latency > 2:
        early = p.past(Mux(unit.repeat, unit.result, unit.early))
        p.prove("early", ~ends | (unit.value == early))
    p.reach("again", ends & p.past(ends) & (unit.value == 3) & ~fill)
    return p


def short(module: ModuleType = forwarded_memory) -> Properties:
    """Two clocks, written at once."""
    return forwarded(module, 2, 0)


def long(module: ModuleType = forwarded_memory) -> Properties:
    """Forwarding split over two clocks, a register behind block RAM and one before it."""
    return forwarded(module, 4, 1)


def buffer(module: ModuleType = write_buffer) -> Properties:
    """A write buffer of four rows."""
    p = Properties()
    unit = module.WriteBuffer(BITS, ROWS)
    p.add(unit)
    pushed = p.past(unit.push)
    p.assume(~unit.push | unit.available)
    p.assume(~unit.commit | pushed)
    pop = unit.o.valid & unit.o.ready
    order = Order(p, unit.commit, p.past(unit.i), pop, unit.o.payload, ROWS)
    head = p.inner("unit.head")
    tail = p.inner("unit.tail")
    level = p.inner("unit.level")
    order.holds_slots(ring_rows(p, "unit.rows", head, level, ROWS))
    p.prove("pointers", tail == (head + level)[: len(tail)])
    p.prove("pushed", ~pushed | (p.row("unit.rows", tail) == p.past(unit.i)))
    p.prove("space", level + pushed <= ROWS)
    p.prove("offered", ~unit.o.valid | (level != 0))
    collides = unit.push & (p.write_address("unit.rows") == p.read_address("unit.rows"))
    p.prove("apart", ~(unit.o.valid & p.past(collides)))
    p.prove("read", ~unit.o.valid | (unit.o.payload == p.row("unit.rows", head)))
    output_keeps(p, unit.o)
    no_deadlock(p, order.count != 0, unit.o.valid, 1)
    no_deadlock(p, unit.o.ready & ~unit.push & ~unit.commit, unit.available, 5, "accepts")
    return p


PROOFS = [
    Proof(
        "forwarded_memory",
        "lib/forwarded_memory.py ForwardedMemory",
        "The value of an operation is the result of the last operation on its row, whenever that "
        "was, or what fills it; other read ports see rows as they are in memory.",
        short,
        depth=6,
        size="4 rows of 2 bits, latency 2",
    ),
    Proof(
        "forwarded_memory_split",
        "lib/forwarded_memory.py ForwardedMemory",
        "The same with forwarding split over two clocks and registers around block RAM; `early` "
        "and `repeat` tell the value a clock before.",
        long,
        depth=8,
        size="4 rows of 2 bits, latency 4, write delay 1",
    ),
    Proof(
        "write_buffer",
        "lib/write_buffer.py WriteBuffer",
        "Committed rows leave in order, each once, and stay until they are taken; rows that are "
        "not committed never leave; no row that is offered was read in the clock that wrote it.",
        buffer,
        depth=6,
        size="4 rows of 2 bits",
        assumed="A row is pushed while `available`, and committed a clock later or not at all.",
    ),
]
