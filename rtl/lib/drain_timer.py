# SPDX-License-Identifier: BSD-2-Clause
"""Drain timer: when a pipeline that never stalls is empty."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class DrainTimer(wiring.Component):
    """Tell that nothing has entered a free-running pipeline for as long as it takes to leave it.

    Parameters
    ----------
    latency : int
        Clocks of the pipeline.

    Members
    -------
    enter : In(1)
        Something enters.
    drained : Out(1)
        A register: nothing entered in the last clock, nor in the ``latency`` clocks before it.
    """

    enter: In(1)
    drained: Out(1, init=1)

    def __init__(self, latency: int) -> None:
        self._latency = latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(range(self._latency + 1))
        m.d.sync += [
            left.eq(Mux(self.enter, self._latency, Mux(left == 0, 0, left - 1))),
            self.drained.eq((left == 0) & ~self.enter),
        ]
        return m
