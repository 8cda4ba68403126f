# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the float unit: classes of operands against one another, and what becomes of them."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.lib.float_unit import Form
from fixfunc.models.payload import dtype
from fixfunc.rtl.lib.float32.float_unit import FloatUnitParams
from fixfunc.tb.coverage.bins import Axis, Seen, cross

CONFIG = "tiny"
COUNT = 20_000


def bins(seen: Seen, params: FloatUnitParams) -> dict[str, int]:
    """Counts of one batch: of a configuration whose operands and result are floats."""
    form = Form(params.exponent, params.fraction)
    records = codec.unpack(seen.rows, params.operands, dtype(params.operands))
    out = codec.unpack(seen.out["o"], params.results, dtype(params.results))
    classes = {field.name: _classes(records[field.name], form) for field in params.operands}
    counts = {}
    names = [*classes]
    for n, first in enumerate(names):
        for second in names[n + 1 :]:
            counts |= cross(f"{first} x {second}", classes[first], classes[second])
    return counts | cross("result", _results(out["o"], form))


def _classes(bits: np.ndarray, form: Form) -> Axis:
    """An axis of classes and signs."""
    fraction, exponent, negative = _fields(bits, form)
    top = (1 << form.exponent) - 1
    kinds = {
        "zero": (exponent == 0) & (fraction == 0),
        "denormal": (exponent == 0) & (fraction != 0),
        "least": (exponent == 1) & (fraction == 0),
        "number": (exponent > 0) & (exponent < top),
        "infinity": (exponent == top) & (fraction == 0),
        "NaN": (exponent == top) & (fraction != 0),
    }
    signs = {"+": ~negative, "-": negative}
    return {f"{sign}{kind}": hit & s for kind, hit in kinds.items() for sign, s in signs.items()}


def _results(bits: np.ndarray, form: Form) -> Axis:
    """An axis of classes: no result is a denormal, and NaN is one."""
    every = _classes(bits, form)
    return {kind: hit for kind, hit in every.items() if "denormal" not in kind and kind != "-NaN"}


def _fields(bits, form):
    bits = np.asarray(bits, np.int64)
    exponent = bits >> form.fraction & (1 << form.exponent) - 1
    negative = bits >> form.exponent + form.fraction & 1 == 1
    return bits & (1 << form.fraction) - 1, exponent, negative
