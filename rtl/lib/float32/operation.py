# SPDX-License-Identifier: BSD-2-Clause
"""What operations on floats have in common: operands of one format, and a latency."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.float32.fields import FLOAT32, FloatFormat
from fixfunc.spec.errors import InputError


class Operation(wiring.Component):
    """An operation on operands of one format; one a clock, free-running.

    Parameters
    ----------
    form : FloatFormat
    latency : int, optional
        :attr:`LEAST` to :attr:`STEPS` clocks; by default the latter.

    Members
    -------
    a, b, c : In(form.bits)
        As many as :attr:`OPERANDS` names.
    o : Out(form.bits)
        ``latency`` clocks later.
    """

    OPERANDS = "ab"
    STEPS = 1  # most clocks that it can be cut into
    LEAST = 1

    def __init__(self, form: FloatFormat = FLOAT32, latency: int | None = None) -> None:
        latency = self.STEPS if latency is None else latency
        if not self.LEAST <= latency <= self.STEPS:
            raise InputError("latency", f"be {self.LEAST} to {self.STEPS}", latency)
        self._form = form
        self.latency = latency
        operands = {name: In(form.bits) for name in self.OPERANDS}
        super().__init__(operands | {"o": Out(form.bits)})
