# SPDX-License-Identifier: BSD-2-Clause
"""The reader's range check: planes that it accepts lie in memory, every tile and table of them."""

from types import ModuleType

from amaranth.hdl import Array, Signal, Value

from fixfunc.rtl.frontend import state_check
from fixfunc.rtl.frontend.command_reader import CommandReaderParams
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

# Of each plane, bytes that memory keeps for a tile of 8x8 values, or of 4x4; and log2 of the
# columns and rows of samples in a pixel. Typed here, apart from the hardware.
TILE_BYTES = {
    8: {"depth": 256, "stencil": 64, "colour": 256},
    4: {"depth": 64, "stencil": 32, "colour": 64},
}
PIXEL = [(0, 0), (0, 1), (1, 1), (1, 2)]
TILES_A_LINE = 64
LINE_BYTES = 32
WIDE = 48  # bits that hold every address without wrapping


class Target:
    """A check with constant inputs: any target that the reader draws, of so many pixels."""

    def __init__(self, edge: int, pixels: int, module: ModuleType) -> None:
        self.p = p = Properties()
        self.unit = unit = module.PlaneCheck(edge)
        self.edge = edge
        p.add(unit)
        names = ("state", "planes", "limit", *(f"{plane}_base" for plane in TILE_BYTES[edge]))
        for name in names:
            port = Value.cast(getattr(unit, name))
            p.m.d.comb += port.eq(p.constant(len(port), f"constant_{name}"))
        state = unit.state
        p.assume(module.state_supported(state, CommandReaderParams(edge, pixels=pixels)))
        self.columns = self._tiles("columns", state.target_width, 0)
        self.rows = self._tiles("rows", state.target_height, 1)
        self.settled = p.past(1, module.PlaneCheck.LATENCY)

    def _tiles(self, name: str, side: Value, axis: int) -> Signal:
        """Tiles along an axis of the target."""
        sizes = Array(self.edge >> pixel[axis] for pixel in PIXEL)
        shifts = Array((self.edge >> pixel[axis]).bit_length() - 1 for pixel in PIXEL)
        samples = self.unit.state.samples
        return self.p.named(name, ((side + sizes[samples] - 1) >> shifts[samples])[:15])

    def inside(self, number: Value, last: Value) -> None:
        """Prove that a tile and its line of the mode table lie in every plane that is accepted."""
        p, unit = self.p, self.unit
        for n, (plane, size) in enumerate(TILE_BYTES[self.edge].items()):
            base = Signal(WIDE, name=f"base_{plane}")
            end = Signal(WIDE, name=f"end_{plane}")
            line = Signal(WIDE, name=f"line_{plane}")
            line_end = Signal(WIDE, name=f"line_end_{plane}")
            p.m.d.comb += [
                base.eq(getattr(unit, f"{plane}_base")),
                end.eq(base + number * size + size),
                line.eq(base + (last + 1) * size + (number // TILES_A_LINE) * LINE_BYTES),
                line_end.eq(line + LINE_BYTES),
            ]
            accepted = self.settled & unit.o & unit.planes[n]
            p.prove(f"{plane}_tile", ~accepted | (end <= unit.limit))
            p.prove(f"{plane}_line", ~accepted | (line_end <= unit.limit))
            p.prove(f"{plane}_apart", ~accepted | (end <= base + (last + 1) * size))
            p.prove(f"{plane}_aligned", ~accepted | (base[:8] == 0))
            exact = (line_end == unit.limit) & (number == last) & (last >= TILES_A_LINE)
            p.reach(f"{plane}_exact", accepted & exact)


def any_tile(module: ModuleType = state_check) -> Properties:
    """Small targets, and any tile of which a pixel lies in the target."""
    target = Target(4, 64, module)
    p = target.p
    x = p.constant(6, "tile_x")
    y = p.constant(6, "tile_y")
    p.assume((x < target.columns) & (y < target.rows))
    number = p.named("number", y * target.columns[:6] + x)
    last = p.named("last", (target.rows - 1)[:6] * target.columns[:6] + target.columns[:6] - 1)
    target.inside(number[:13], last[:13])
    return p


def every_target(module: ModuleType = state_check) -> Properties:
    """Targets of every size, and any tile up to the last, whose number the hardware multiplies."""
    target = Target(8, 16384, module)
    p = target.p
    known = p.past(1, 2)
    row = "unit.number.row.factor"
    p.prove("rows", ~known | (p.inner(f"{row}_a") == target.rows - 1))
    p.prove("columns", ~p.past(1, 3) | (p.inner(f"{row}_b") == target.columns))
    product = Value.cast(p.inner("unit.number.row.part_0"))
    x = p.past(target.columns - 1)
    last = p.inner("unit.number.number")
    p.prove("last", ~p.past(1, 5) | (last == (p.past(product) + x)[: len(last)]))
    number = p.constant(len(last), "number")
    p.assume(~target.settled | (number <= last))
    p.assume(~target.settled | (last < 1 << 22))
    target.inside(number, last)
    return p


PROOFS = [
    Proof(
        "plane_check",
        "frontend/state_check.py PlaneCheck, state_supported",
        "Of a plane that is accepted, every tile of which a pixel lies in the target, and its line "
        "of the mode table, lie from the base to below the limit; the table lies behind the tiles; "
        "the base is aligned.",
        any_tile,
        depth=9,
        size="tiles of 4x4, targets up to 64 pixels, all addresses",
        assumed="Inputs hold for the latency of the check.",
        seconds=60,
    ),
    Proof(
        "plane_check_sizes",
        "frontend/state_check.py PlaneCheck, state_supported",
        "The same of every target; the factors of the last tile's number are its rows less one and "
        "its columns, the sum is exact.",
        every_target,
        depth=9,
        size="tiles of 8x8, targets up to 16384 pixels, all addresses",
        assumed="Inputs hold for the latency of the check; the product is exact (proof "
        "`multiplier`); a target has at most 2^22 tiles.",
        seconds=60,
    ),
]
