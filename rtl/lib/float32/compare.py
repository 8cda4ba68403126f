# SPDX-License-Identifier: BSD-2-Clause
"""a < b, a = b."""

from amaranth.hdl import Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.fields import FLOAT32, FloatFormat


def less(form: FloatFormat, a: Value, b: Value) -> Value:
    """a < b, of denormals too: zeros are equal, and NaN is not less, nor is anything than it."""
    magnitude_a, magnitude_b = a[: form.magnitude], b[: form.magnitude]
    sign_a, sign_b = form.sign_of(a), form.sign_of(b)
    both_zero = (magnitude_a == 0) & (magnitude_b == 0)
    by_magnitude = Mux(sign_a, magnitude_a > magnitude_b, magnitude_a < magnitude_b)
    numbers = ~form.is_nan(a) & ~form.is_nan(b) & ~both_zero
    return numbers & Mux(sign_a ^ sign_b, sign_a, by_magnitude)


class Compare(wiring.Component):
    """Whether a is less than b, or equal to it; one a clock, free-running.

    Neither is set where one of them is NaN. Zeros are equal, whatever their signs.

    Parameters
    ----------
    form : FloatFormat
    latency : int
        0 clocks, or more.

    Members
    -------
    a, b : In(form.bits)
    less, equal : Out(1)
        ``latency`` clocks later.
    """

    STEPS = 1

    def __init__(self, form: FloatFormat = FLOAT32, latency: int = STEPS) -> None:
        self._form = form
        self.latency = latency
        bits = form.bits
        super().__init__({"a": In(bits), "b": In(bits), "less": Out(1), "equal": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        a, b = form.flushed(self.a), form.flushed(self.b)
        both_zero = form.is_zero(a) & form.is_zero(b)
        equal = ((a == b) & ~form.is_nan(a)) | both_zero
        for port, value in ((self.less, less(form, a, b)), (self.equal, equal)):
            m.d.comb += port.eq(delay(m, value, self.latency, port.name))
        return m
