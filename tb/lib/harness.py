# SPDX-License-Identifier: BSD-2-Clause
"""Primitives side by side, for one build of a simulator."""

from collections.abc import Sequence
from types import ModuleType

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
    """Primitives of ``rtl/lib`` beside one another; ports of each behind the name of its case.

    Parameters
    ----------
    benches : sequence of ModuleType
        Those whose cases are needed.
    """

    def __init__(self, benches: Sequence[ModuleType] = BENCHES) -> None:
        cases = {name: case for bench in benches for name, case in bench.CASES.items()}
        self._parts = {name: case.create() for name, case in cases.items()}
        if axi in benches:
            self._parts["axi"] = axi.AxiPort()
        super().__init__({name: Out(part.signature) for name, part in self._parts.items()})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, part in self._parts.items():
            m.submodules[name] = part
            wiring.connect(m, wiring.flipped(getattr(self, name)), part)
        return m
