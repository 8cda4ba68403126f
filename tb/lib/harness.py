# SPDX-License-Identifier: BSD-2-Clause
"""All primitives side by side, for one build of each simulator."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from fixfunc.tb.lib import (
    axi,
    delay,
    fifo,
    forwarded_memory,
    pending_table,
    placing,
    scoreboard,
    skid_buffer,
    write_buffer,
)
from fixfunc.tb.lib.arithmetic import pipelined, shared

BENCHES = (
    pipelined,
    shared,
    axi,
    delay,
    fifo,
    forwarded_memory,
    pending_table,
    placing,
    scoreboard,
    skid_buffer,
    write_buffer,
)
CASES = {name: case for bench in BENCHES for name, case in bench.CASES.items()}
EXAMPLES = {name: example for bench in BENCHES for name, example in bench.EXAMPLES.items()}


class Harness(wiring.Component):
    """Primitives of ``rtl/lib`` beside one another; ports of each behind the name of its case."""

    def __init__(self) -> None:
        self._parts = {name: case.create() for name, case in CASES.items()}
        self._parts["axi"] = axi.AxiPort()
        super().__init__({name: Out(part.signature) for name, part in self._parts.items()})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, part in self._parts.items():
            m.submodules[name] = part
            wiring.connect(m, wiring.flipped(getattr(self, name)), part)
        return m
