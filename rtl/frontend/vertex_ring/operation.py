# SPDX-License-Identifier: BSD-2-Clause
"""What the intake of packets tells the parts behind it."""

from enum import IntEnum

from amaranth.lib.data import ArrayLayout, StructLayout

from fixfunc.rtl.payload import layout
from fixfunc.spec import commands
from fixfunc.spec.commands import COUNT_BITS, SLOT_BITS, VERTEX_PLACE, VERTEX_WEIGHTS
from fixfunc.spec.payloads import Field


class Step(IntEnum):
    """What an operation is; each takes a clock."""

    ENTRY = 0  # three slots
    RELEASE = 1
    ERROR = 2  # a header breaks a rule
    BEGIN = 3  # of PRIMITIVES: no triangle of it has broken a rule yet


OPERATION = StructLayout(
    {
        "step": 2,
        "slots": ArrayLayout(SLOT_BITS, 3),
        "used": 3,  # of the slots: it was written at some time
        "held": 3,  # if it was, it holds a vertex
        "cut": 1,
        "second": 1,  # entry of a cut triangle: that of its primitive
        "attributes": 4,
        "at": COUNT_BITS,  # which triangle
        "error": 4,
        "count": SLOT_BITS + 1,  # slots that are released
    }
)
# A vertex without its attributes.
VERTEX = layout((*VERTEX_PLACE, *VERTEX_WEIGHTS, Field("attributes", 4), Field("has_weights", 1)))
ATTRIBUTE = layout(commands.VERTEX_ATTRIBUTE)


def vertex_write(slots: int) -> StructLayout:
    """A vertex is written to its slot."""
    return StructLayout({"enable": 1, "slot": range(slots), "vertex": VERTEX})


def attribute_write(slots: int) -> StructLayout:
    """Two attributes are written to a slot: number 2 ``row``, and the one before it."""
    return StructLayout(
        {
            "slot": range(slots),
            "row": 3,
            "even_enable": 1,
            "even": ATTRIBUTE,
            "odd_enable": 1,
            "odd": ATTRIBUTE,
        }
    )
