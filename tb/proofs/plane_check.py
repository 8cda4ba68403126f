# SPDX-License-Identifier: BSD-2-Clause
"""The reader's range check: every tile and table of a plane that it accepts lies in memory.

No byte is of two planes that it accepts, or of a plane and the packets.
"""

from functools import partial
from itertools import combinations
from types import ModuleType

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring

from fixfunc.rtl.frontend import state_check
from fixfunc.rtl.memory.surface.tile_number import TileNumber
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


def planes(colours: int) -> list[str]:
    """Names of the planes of a target with so many of colours."""
    return [*TILE_BYTES[8], *(f"colour{n}" for n in range(1, colours))]


class FreeNumber(TileNumber):
    """A tile's number that is any: what is proved of it needs no multiplier."""

    def __init__(self, edge: int) -> None:
        super().__init__(edge)
        self.last = Signal(28)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.number.eq(self.last)
        return m


def check(
    edge: int, module: ModuleType, colour_planes: int = 1
) -> tuple[Properties, wiring.Component, Signal]:
    """A check with constant inputs, and the number of its target's last tile: any."""
    p = Properties()
    numbers = []

    def free_number(edge: int) -> FreeNumber:
        numbers.append(FreeNumber(edge))
        return numbers[0]

    free_number.LATENCY = TileNumber.LATENCY
    with sizes(module, TileNumber=free_number):
        unit = module.PlaneCheck(edge, colour_planes=colour_planes, other=True)
        p.add(unit)
    last = p.constant(22, "last")
    p.m.d.comb += numbers[0].last.eq(last)
    places = [f"{plane}_{what}" for plane in planes(colour_planes) for what in ("base", "placed")]
    stays = ["stays"] if colour_planes > 1 else []
    others = "limit", "packets_begin", "packets_end", "other_begin", "other_end"
    for name in ("planes", *stays, *others, *places):
        port = Value.cast(getattr(unit, name))
        p.m.d.comb += port.eq(p.constant(len(port), f"constant_{name}"))
    return p, unit, last


def in_memory(edge: int, plane: str, module: ModuleType = state_check) -> Properties:
    """One plane, and any tile of it."""
    p, unit, last = check(edge, module)
    number = p.constant(22, "number")
    p.assume(number <= last)
    settled = p.past(1, 4)
    named = unit.planes[[*TILE_BYTES[edge]].index(plane)]
    size = TILE_BYTES[edge][plane]
    base = Value.cast(getattr(unit, f"{plane}_base"))
    # Offsets from the base: behind the tiles, behind the table; behind a tile, behind its line.
    tiles = p.named("tiles", (last + 1) * size)
    plane_end = p.named("plane_end", tiles + ((last >> 6) + 1) * LINE_BYTES)
    tile_end = p.named("tile_end", number * size + size)
    line_end = p.named("line_end", tiles + (number >> 6) * LINE_BYTES + LINE_BYTES)
    end = p.named("end", base + plane_end)
    accepted = settled & unit.o & named
    p.prove("end", ~(settled & named) | (p.inner(f"unit.{plane}_end") == end))
    p.prove("limit", ~accepted | (end <= unit.limit))
    p.prove("tile", tile_end <= tiles)
    p.prove("line", line_end <= plane_end)
    p.prove("aligned", ~accepted | (base[:8] == 0))
    exact = (end == unit.limit) & (line_end == plane_end) & (number > 64)
    p.reach("exact", accepted & exact)
    return p


def disjoint(module: ModuleType = state_check, colours: int = 1) -> Properties:
    """All planes, and any byte; where planes end is what :func:`in_memory` proves."""
    p, unit, _ = check(8, module, colours)
    accepted = p.past(1, 4) & unit.disjoint
    byte = p.constant(40, "byte")
    holds = held(p, unit, byte, colours)
    holds["packets"] = (byte >= unit.packets_begin) & (byte < unit.packets_end)
    for one, other in combinations(holds, 2):
        p.prove(f"{one}_or_{other}", ~accepted | ~(holds[one] & holds[other]))
    p.reach("accepted", accepted & unit.planes.all() & holds["depth"])
    return p


def other_disjoint(module: ModuleType = state_check) -> Properties:
    """Two colour planes and the others, another place in memory, and any byte."""
    p, unit, _ = check(8, module, 2)
    accepted = p.past(1, 4) & unit.other_disjoint
    byte = p.constant(40, "byte")
    in_other = (byte >= unit.other_begin) & (byte < unit.other_end)
    holds = held(p, unit, byte, 2)
    for plane, inside in holds.items():
        p.prove(f"{plane}_or_other", ~(accepted & inside & in_other))
    p.reach("accepted", accepted & in_other & unit.planes.all())
    return p


def held(p: Properties, unit: wiring.Component, byte: Value, colours: int) -> dict[str, Value]:
    """Whether planes hold a byte, by plane.

    Of several colour planes those but the first may be absent: then they hold no byte.
    """
    holds = {}
    for n, plane in enumerate(planes(colours)):
        base, placed = (getattr(unit, f"{plane}_{what}") for what in ("base", "placed"))
        begin = p.named(f"begin_{plane}", Mux(unit.planes[n], base, placed))
        behind = p.past(p.inner(f"unit.{plane}_end"))
        inside = (byte >= begin) & (byte < behind)
        if n >= len(TILE_BYTES[8]):
            inside &= unit.planes[n] | unit.stays[n - len(TILE_BYTES[8])]
        holds[plane] = p.named(f"in_{plane}", inside)
    return holds


PROOFS = [
    *(
        Proof(
            f"{plane}_in_memory_{edge}",
            "frontend/state_check.py PlaneCheck",
            f"Of a {plane} plane that is accepted, every tile up to the last and its line of the "
            "mode table lie from the base to below the limit, without wrapping; the table lies "
            "behind the tiles; the base is aligned.",
            partial(in_memory, edge, plane),
            depth=6,
            size=f"tiles of {edge}x{edge}, every base, limit and number of tiles to 2^22",
            assumed="Inputs hold for the latency of the check; the number of the last tile is "
            "right, which simulation alone shows.",
            quick=False,
            fresh=True,
        )
        for edge, planes in TILE_BYTES.items()
        for plane in planes
    ),
    Proof(
        "planes_disjoint",
        "frontend/state_check.py PlaneCheck",
        "Of planes that are accepted no byte is of two, or of one and the packets.",
        disjoint,
        depth=6,
        size="tiles of 8x8, all addresses, every number of tiles to 2^22",
        assumed="Inputs hold for the latency of the check; planes end where the proofs of each "
        "say.",
    ),
    Proof(
        "colour_planes_disjoint",
        "frontend/state_check.py PlaneCheck",
        "The same with a second colour plane, which may be absent.",
        partial(disjoint, colours=2),
        depth=6,
        size="tiles of 8x8, all addresses, every number of tiles to 2^22",
        assumed="Inputs hold for the latency of the check; planes end where the proofs of each "
        "say.",
        quick=False,
    ),
    Proof(
        "planes_and_other_disjoint",
        "frontend/state_check.py PlaneCheck",
        "Where another place in memory counts as disjoint, it has no byte in common with a plane.",
        other_disjoint,
        depth=6,
        size="tiles of 8x8, all addresses, every number of tiles to 2^22",
        assumed="Inputs hold for the latency of the check; planes end where the proofs of each "
        "say.",
        quick=False,
    ),
]
