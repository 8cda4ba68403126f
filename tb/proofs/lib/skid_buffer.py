# SPDX-License-Identifier: BSD-2-Clause
"""Skid buffer, and a pipeline that one enable stops."""

from functools import partial
from types import ModuleType

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib import skid_buffer
from fixfunc.rtl.lib.delay import delay
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.streams import Order, no_deadlock, output_keeps

BITS = 2


def buffer(module: ModuleType = skid_buffer) -> Properties:
    """A skid buffer."""
    p = Properties()
    unit = module.SkidBuffer(BITS)
    p.add(unit)
    level = p.inner("unit.level")
    second = p.inner("unit.second")
    pop = unit.o.valid & unit.o.ready
    order = Order(p, unit.push & unit.enable, unit.i, pop, unit.o.payload, 2)
    order.holds_slots([(level != 0, unit.o.payload), (level == 2, second)])
    p.prove("enabled", unit.enable == (level < 2))
    p.prove("level", level <= 2)
    output_keeps(p, unit.o)
    no_deadlock(p, order.count != 0, unit.o.valid, 0)
    no_deadlock(p, unit.o.ready, unit.enable, 1, "accepts")
    return p


class Stages(wiring.Component):
    """A pipeline of registers."""

    i: In(BITS)
    o: Out(BITS)

    def __init__(self, clocks: int) -> None:
        self._clocks = clocks
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.o.eq(delay(m, self.i, self._clocks, "stage"))
        return m


def pipeline(module: ModuleType = skid_buffer, places: int = 2) -> Properties:
    """A pipeline of two registers that an enable stops, before a skid buffer."""
    p = Properties()
    stages = Stages(2)
    unit = module.StallablePipeline(stages, 2, places)
    p.add(unit)
    valid = [p.inner(f"unit.inner.valid_{n}") for n in (3, 2, 1)]
    values = [p.inner("unit.inner.unit.stage_2"), p.inner("unit.inner.unit.stage_1"), stages.i]
    if places == 1:
        is_held = p.inner("unit.skid.is_held")
        held = [(is_held, p.inner("unit.skid.held"))]
        stops = is_held & valid[0]
    else:
        level = p.inner("unit.skid.level")
        held = [(level != 0, unit.o.payload), (level == 2, p.inner("unit.skid.second"))]
        stops = level == 2
        p.prove("level", level <= 2)
    pop = unit.o.valid & unit.o.ready
    taken = unit.i.valid & unit.i.ready
    order = Order(p, taken, unit.i.payload, pop, unit.o.payload, places + 3)
    # A beat that leaves the pipeline is in the skid buffer too, until the enable moves on.
    order.holds_slots([*held, *zip(valid, values)])
    p.prove("enabled", unit.i.ready == ~stops)
    output_keeps(p, unit.o)
    no_deadlock(p, (order.count != 0) & unit.o.ready, unit.o.valid, places + 2)
    no_deadlock(p, unit.o.ready, unit.i.ready, 1, "accepts")
    return p


PROOFS = [
    Proof(
        "skid_buffer",
        "lib/skid_buffer.py SkidBuffer",
        "Beats leave in order, each once, and stay until they are taken; none waits for anything "
        "but the receiver, and the enable is back a clock after it.",
        buffer,
        depth=3,
        size="2 bits",
    ),
    Proof(
        "stallable_pipeline",
        "lib/skid_buffer.py StallablePipeline",
        "Beats leave in order, each once, and stay until they are taken; a beat leaves within 4 "
        "clocks of a ready receiver.",
        pipeline,
        depth=7,
        size="2 bits, 2 stages",
    ),
    Proof(
        "stallable_pipeline_of_one",
        "lib/skid_buffer.py StallablePipeline",
        "The same of a skid buffer of one place; a beat leaves within 3 clocks.",
        partial(pipeline, places=1),
        depth=7,
        size="2 bits, 2 stages",
    ),
]
