# SPDX-License-Identifier: BSD-2-Clause
"""The reader's range check: planes that it accepts lie in memory, every tile and table of them."""

from types import ModuleType

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend import state_check
from fixfunc.rtl.memory.surface.tile_number import TileNumber
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.sizes import sizes

# Of each plane, bytes that memory keeps for a tile of 8x8 values, or of 4x4. Typed here, apart
# from the hardware.
TILE_BYTES = {
    8: {"depth": 256, "stencil": 64, "colour": 256},
    4: {"depth": 64, "stencil": 32, "colour": 64},
}
LINE_BYTES = 32
WIDE = 48  # bits that hold every address without wrapping


class FreeNumber(wiring.Component):
    """A tile's number that is any: what is proved of it needs no multiplier."""

    LATENCY = TileNumber.LATENCY

    def __init__(self, edge: int) -> None:
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "x": In(position),
                "y": In(position),
                "number": Out(28),
            }
        )
        self.last = Signal(28)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.number.eq(self.last)
        return m


def planes(edge: int, module: ModuleType) -> Properties:
    """A check with constant inputs, of a target with any number of tiles, and any tile of it."""
    p = Properties()
    numbers = []

    def free_number(edge: int) -> FreeNumber:
        numbers.append(FreeNumber(edge))
        return numbers[0]

    free_number.LATENCY = TileNumber.LATENCY
    with sizes(module, TileNumber=free_number):
        unit = module.PlaneCheck(edge)
        p.add(unit)
    last = p.constant(22, "last")
    p.m.d.comb += numbers[0].last.eq(last)
    for name in ("planes", "limit", *(f"{plane}_base" for plane in TILE_BYTES[edge])):
        port = Value.cast(getattr(unit, name))
        p.m.d.comb += port.eq(p.constant(len(port), f"constant_{name}"))
    number = p.constant(22, "number")
    p.assume(number <= last)
    settled = p.past(1, 4)
    for n, (plane, size) in enumerate(TILE_BYTES[edge].items()):
        base = Signal(WIDE, name=f"base_{plane}")
        end = Signal(WIDE, name=f"end_{plane}")
        line = Signal(WIDE, name=f"line_{plane}")
        line_end = Signal(WIDE, name=f"line_end_{plane}")
        p.m.d.comb += [
            base.eq(getattr(unit, f"{plane}_base")),
            end.eq(base + number * size + size),
            line.eq(base + (last + 1) * size + (number >> 6) * LINE_BYTES),
            line_end.eq(line + LINE_BYTES),
        ]
        accepted = settled & unit.o & unit.planes[n]
        p.prove(f"{plane}_tile", ~accepted | (end <= unit.limit))
        p.prove(f"{plane}_line", ~accepted | (line_end <= unit.limit))
        p.prove(f"{plane}_apart", ~accepted | (end <= base + (last + 1) * size))
        p.prove(f"{plane}_aligned", ~accepted | (base[:8] == 0))
        p.reach(f"{plane}_exact", accepted & (line_end == unit.limit) & (number > 64))
    return p


def wide(module: ModuleType = state_check) -> Properties:
    """Tiles of 8x8."""
    return planes(8, module)


def narrow(module: ModuleType = state_check) -> Properties:
    """Tiles of 4x4."""
    return planes(4, module)


STATEMENT = (
    "Of a plane that is accepted, every tile up to the last and its line of the mode table lie "
    "from the base to below the limit, without wrapping; the table lies behind the tiles; the base "
    "is aligned."
)
PROOFS = [
    Proof(
        name,
        "frontend/state_check.py PlaneCheck",
        STATEMENT,
        build,
        depth=6,
        size=f"tiles of {edge}x{edge}, every base, limit and number of tiles to 2^22",
        assumed="Inputs hold for the latency of the check; the number of the last tile is right, "
        "which simulation alone shows.",
        seconds=100,
    )
    for name, build, edge in (("plane_check", wide, 8), ("plane_check_tiny", narrow, 4))
]
