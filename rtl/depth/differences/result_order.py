# SPDX-License-Identifier: BSD-2-Clause
"""Results of a quick unit and a slow one, in the order in which tiles went there."""

from amaranth.hdl import Module
from amaranth.lib import fifo, wiring
from amaranth.lib.wiring import In, Out


class ResultOrder(wiring.Component):
    """Knows which of two FIFOs of results has the next one.

    Parameters
    ----------
    depth : int
        Tiles that may be on their way.

    Members
    -------
    begin, is_slow : In(1)
        A tile goes to the quick unit, or to the slow one.
    has_quick, has_slow : In(1)
        The FIFO of that unit has a result.
    valid, ready : Out, In(1)
        The next result is there; it is taken.
    slow : Out(1)
        It is that of the slow unit.
    take_quick, take_slow : Out(1)
        It is taken from that FIFO.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "begin": In(1),
                "is_slow": In(1),
                "has_quick": In(1),
                "has_slow": In(1),
                "valid": Out(1),
                "ready": In(1),
                "slow": Out(1),
                "take_quick": Out(1),
                "take_slow": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.order = order = fifo.SyncFIFOBuffered(width=1, depth=self._depth)
        has_quick = self.has_quick & ~self.slow
        has_slow = self.has_slow & self.slow
        m.d.comb += [
            order.w_en.eq(self.begin),
            order.w_data.eq(self.is_slow),
            self.slow.eq(order.r_data),
            self.valid.eq(order.r_rdy & (has_quick | has_slow)),
            order.r_en.eq(self.valid & self.ready),
            self.take_quick.eq(order.r_en & ~self.slow),
            self.take_slow.eq(order.r_en & self.slow),
        ]
        return m
