"""What is known of the planes of tiles on chip."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.depth._tile_planes import FewestPlanes
from rtl.payload import layout
from rtl.pipeline import NEVER_COLLIDES, DelayLine, delay
from spec import payloads
from spec.payloads import PLANES, SLOT
from spec.state import LineOp


def known(edge):
    """Fields of :func:`spec.payloads.known_planes`."""
    return layout(payloads.known_planes(edge))


class PlaneLines(wiring.Component):
    """Planes of each slot's tile, and which of them each of its samples belongs to: kept up to date at every write.

    One thing a clock, but the same slot only :attr:`APART` clocks later.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.

    Members
    -------
    i : In(StructLayout)
        What has been done to a slot, if ``valid``: ``op``, ``slot``, ``done``, as :func:`spec.payloads.line_done`; ``filled``: planes of
        what has been put there.
    o : Out(StructLayout)
        The same slot, :attr:`LATENCY` clocks later: ``op``, ``written``: its tile is not as it is in memory; its planes, its depths.
    """

    LATENCY = 2 + FewestPlanes.LATENCY
    APART = LATENCY

    def __init__(self, edge, slots):
        self._edge, self._slots = edge, slots
        depths = ArrayLayout(payloads.DEPTH, edge**2)
        self._entry = StructLayout({"written": 1, "known": known(edge)})
        super().__init__({
            "i": In(StructLayout({"valid": 1, "op": 2, "slot": SLOT, "done": layout(payloads.line_done(edge)), "filled": known(edge)})),
            "o": Out(StructLayout({"op": 2, "known": known(edge), "written": 1, "depths": depths})),
        })

    def elaborate(self, platform):
        m = Module()
        edge, lanes, i, done = self._edge, self._edge**2, self.i, self.i.done
        m.submodules.memory = memory = Memory(shape=self._entry, depth=self._slots, init=[], attrs=NEVER_COLLIDES)
        read, write, late = memory.read_port(), memory.write_port(), FewestPlanes.LATENCY
        m.d.comb += read.addr.eq(i.slot)

        # A clock later: the tile's planes and the new one, which is the fifth.
        brought = {name: done[name] for name in ("exact", "z0", "dx", "dy")} | {"written": Mux(i.op == LineOp.USE, done.written, 0)}
        given = {name: delay(m, value, 1, name) for name, value in brought.items()}
        old, some, every = read.data.known, given["written"].any(), given["written"].all()
        was_known = old.planes != 0
        m.submodules.fewest = fewest = FewestPlanes(edge, PLANES + 1)
        m.d.comb += fewest.known.eq(Mux(some, (was_known | every) & given["exact"], was_known))
        for name in ("z0", "dx", "dy"):
            m.d.comb += [fewest.planes[PLANES][name].eq(given[name]), *(fewest.planes[k][name].eq(old[f"{name}_{k}"]) for k in range(PLANES))]
        m.d.comb += [fewest.numbers[0].eq(old.mask_low & ~given["written"]), fewest.numbers[1].eq(old.mask_high & ~given["written"]),
                     fewest.numbers[2].eq(given["written"])]

        # Then what is left of them, or what has been put there.
        m.submodules.filled = filled = DelayLine(known(edge).size, 1 + late, near=True)
        m.submodules.depths = depths = DelayLine(lanes * payloads.DEPTH, 2 + late, near=True)
        m.d.comb += [filled.i.eq(i.filled), depths.i.eq(Cat(done[f"value{n}"] for n in range(lanes)))]
        op, slot, valid = delay(m, i.op, 1 + late, "op"), delay(m, i.slot, 1 + late, "slot"), delay(m, i.valid, 1 + late, "valid")
        entry, left = Signal(self._entry), Signal(known(edge))
        m.d.comb += [left.planes.eq(Mux(fewest.left_count > PLANES, 0, fewest.left_count)),
                     left.mask_low.eq(fewest.left_numbers[0]), left.mask_high.eq(fewest.left_numbers[1])]
        m.d.comb += [left[f"{name}_{k}"].eq(fewest.left[k][name]) for k in range(PLANES) for name in ("z0", "dx", "dy")]
        fills = op == LineOp.FILL
        m.d.comb += [entry.known.eq(Mux(fills, filled.o, left)),
                     entry.written.eq(~fills & delay(m, some | read.data.written, late, "some")),
                     write.addr.eq(slot), write.data.eq(entry), write.en.eq(valid)]
        m.d.sync += [self.o.op.eq(op), self.o.known.eq(entry.known), self.o.written.eq(entry.written)]
        m.d.comb += self.o.depths.eq(depths.o)
        return m
