# SPDX-License-Identifier: BSD-2-Clause
"""Quotients of the output merger: exact, for every dividend."""

from types import ModuleType

from amaranth.hdl import Const, Mux

from fixfunc.rtl.output.merger import quotient
from fixfunc.rtl.output.merger.formats import FormatSet
from fixfunc.spec.dxgi import Format
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

FORMATS = FormatSet((Format.B4G4R4A4_UNORM, Format.B5G6R5_UNORM))
BITS = 10  # of a dividend
QUOTIENT = 6


def quotients(module: ModuleType = quotient) -> Properties:
    """By 15, 31 and 63, or not at all; to the integer below."""
    p = Properties()
    unit = module.Quotient(FORMATS, BITS, QUOTIENT)
    p.add(unit)
    widths = FORMATS.widths
    chosen = p.past(unit.unit, unit.LATENCY)
    dividend = p.past(unit.i, unit.LATENCY).as_signed()
    for n, width in enumerate(widths):
        exact = p.named(f"exact_{width}", dividend // Const((1 << width) - 1))
        fits = (exact >= -(1 << QUOTIENT)) & (exact < 1 << QUOTIENT)
        divides = (chosen == 1 << n) & ~p.past(unit.whole, unit.LATENCY)
        p.prove(f"by_{width}", ~divides | ~fits | (unit.o == exact))
    whole = p.past(unit.whole, unit.LATENCY)
    fits = (dividend >= -(1 << QUOTIENT)) & (dividend < 1 << QUOTIENT)
    p.prove("whole", ~whole | ~fits | (unit.o == dividend))
    p.reach("negative", Mux(whole, 0, (chosen == 1) & (unit.o < -3)))
    return p


PROOFS = [
    Proof(
        "quotient",
        "output/merger/quotient.py Quotient",
        "The quotient by 2^n - 1 is that to the integer below, of every dividend whose quotient "
        "fits.",
        quotients,
        depth=5,
        size="10 bits by 15, 31 and 63",
    ),
]
