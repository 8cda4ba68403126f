# SPDX-License-Identifier: BSD-2-Clause
"""One operation of floats, between two streams."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.compare import Compare
from fixfunc.rtl.lib.float32.convert import FromFixed, ToFixed
from fixfunc.rtl.lib.float32.digit_recurrence import Divide, SquareRoot
from fixfunc.rtl.lib.float32.fields import FloatFormat
from fixfunc.rtl.lib.float32.invert import Invert
from fixfunc.rtl.lib.float32.multiply import Multiply
from fixfunc.rtl.lib.float32.multiply_add import MultiplyAdd
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.spec.errors import InputError
from fixfunc.spec.floats import FloatOp, operands, results

UNITS = {
    FloatOp.ADD: Add,
    FloatOp.MULTIPLY: Multiply,
    FloatOp.MULTIPLY_ADD: MultiplyAdd,
    FloatOp.INVERT: Invert,
    FloatOp.COMPARE: Compare,
    FloatOp.TO_FIXED: ToFixed,
    FloatOp.FROM_FIXED: FromFixed,
    FloatOp.DIVIDE: Divide,
    FloatOp.SQUARE_ROOT: SquareRoot,
}
FIXED = FloatOp.TO_FIXED, FloatOp.FROM_FIXED


@dataclass(frozen=True)
class FloatUnitParams:
    """Shape of a :class:`FloatUnit`.

    Parameters
    ----------
    op : FloatOp
        The operation.
    latency : int
        Clocks of it, from 1, or of INVERT 2; 0: as many as it has steps.
    exponent, fraction : int
        Bits of a float's fields: 3 to 8, 2 to 23.
    bits, point : int
        Of fixed point: all bits with the sign, 2 to 64, and those of them behind the point.
    """

    op: FloatOp = FloatOp.MULTIPLY_ADD
    latency: int = 0
    exponent: int = 8
    fraction: int = 23
    bits: int = 24
    point: int = 8

    def __post_init__(self):
        if not isinstance(self.op, FloatOp):
            raise InputError("op", f"be one of {', '.join(op.name for op in FloatOp)}", self.op)
        least = 2 if self.op == FloatOp.INVERT else 1
        steps = UNITS[self.op].STEPS
        if self.latency and not least <= self.latency <= steps:
            raise InputError("latency", f"be 0, or {least} to {steps}", self.latency)
        self.unit()  # its rules hold here

    @property
    def form(self) -> FloatFormat:
        """The floats."""
        return FloatFormat(self.exponent, self.fraction)

    @property
    def operands(self) -> tuple:
        """Field table of a beat in."""
        return operands(self.op, self.form.bits, self.bits)

    @property
    def results(self) -> tuple:
        """Field table of a beat out."""
        return results(self.op, self.form.bits, self.bits)

    def unit(self) -> wiring.Component:
        """A free-running unit of the operation."""
        kind = UNITS[self.op]
        fixed = (self.bits, self.point) if self.op in FIXED else ()
        return kind(*fixed, self.form, self.latency or kind.STEPS)


CONFIGS = {
    "default": FloatUnitParams(),
    "add": FloatUnitParams(FloatOp.ADD),
    "multiply": FloatUnitParams(FloatOp.MULTIPLY),
    "invert": FloatUnitParams(FloatOp.INVERT),
    "compare": FloatUnitParams(FloatOp.COMPARE),
    "to_fixed": FloatUnitParams(FloatOp.TO_FIXED),
    "from_fixed": FloatUnitParams(FloatOp.FROM_FIXED),
    "divide": FloatUnitParams(FloatOp.DIVIDE),
    "square_root": FloatUnitParams(FloatOp.SQUARE_ROOT),
    "tiny": FloatUnitParams(latency=3, exponent=3, fraction=2),
}
PURPOSE = {  # of each configuration
    "default": "a * b + c, rounded once",
    "add": "a + b",
    "multiply": "a * b",
    "invert": "1 / a",
    "compare": "a < b, a = b",
    "to_fixed": "to s15.8, saturating",
    "from_fixed": "from s15.8",
    "divide": "a / b",
    "square_root": "the square root of a",
    "tiny": "for benches: a * b + c of 6 bits, of which all are tried",
}


class _Fields(wiring.Component):
    """A unit whose operands and results are beats."""

    def __init__(self, params):
        self._params = params
        self._unit = params.unit()
        super().__init__({"i": In(layout(params.operands)), "o": Out(layout(params.results))})

    @property
    def latency(self):
        return self._unit.latency

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self._unit
        m.d.comb += [getattr(unit, f.name).eq(self.i[f.name]) for f in self._params.operands]
        m.d.comb += [self.o[f.name].eq(getattr(unit, f.name)) for f in self._params.results]
        return m


class FloatUnit(wiring.Component):
    """An operation of float32 as Direct3D 11 has it: to the nearest, ties to even.

    Denormals are zeros of their sign before and after it, and NaN is one, 0x7FC00000 [fs 3.1.3]. An
    operation a clock, in order.

    Parameters
    ----------
    params : FloatUnitParams

    Members
    -------
    i : In(stream.Signature(layout(params.operands)))
        Operands: ``a``, ``b``, ``c``, as many as there are.
    o : Out(stream.Signature(layout(params.results)))
        ``o``; of COMPARE ``less`` and ``equal``. :attr:`latency` clocks later at the earliest.
    """

    def __init__(self, params: FloatUnitParams = CONFIGS["default"]) -> None:
        self._unit = _Fields(params)
        super().__init__(
            {
                "i": In(stream.Signature(layout(params.operands))),
                "o": Out(stream.Signature(layout(params.results))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from operands to results."""
        return self._unit.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pipeline = pipeline = StallablePipeline(self._unit, self._unit.latency)
        wiring.connect(m, wiring.flipped(self.i), pipeline.i)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        return m
