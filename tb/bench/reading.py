# SPDX-License-Identifier: BSD-2-Clause
"""A block that reads memory by one port, and leaves it as it is."""

import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.memory import MemoryBehind


class ReadingBench(MemoryBehind, StreamBench):
    """Bench with a memory behind the port ``memory``.

    Its module says what memory holds, ``memory(rows, params)``, and which byte of it cannot be
    read, ``unreadable(rows)``. A block's ``forget`` is low.

    Attributes
    ----------
    size : int
        Bytes of memory; a subclass says it.
    """

    size: int

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.attach(dut, ["memory"], self.size)
        if hasattr(dut, "forget"):
            dut.forget.value = 0

    def golden(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Packed beats out, by port; memory has no beats."""
        golden = super().golden(rows)
        return {port: golden[port] for port in self.ports}

    async def read(self, rows: np.ndarray, source: str, sink: str, pace: str = "") -> None:
        """Send packed beats; memory has the pace of the sink, or another one."""
        self.fill(self._model.memory(rows, self.params), pace or sink)
        self.fail_at(self._model.unreadable(rows))
        await self.run(rows, source, sink)
