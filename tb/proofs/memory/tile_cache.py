# SPDX-License-Identifier: BSD-2-Clause
"""The tile cache: no slot in use is evicted, no tile is read before it has been written back."""

from types import ModuleType

from amaranth.hdl import Cat, Mux, Signal

from fixfunc.rtl.memory.tile_cache import command_queue, miss_scheduler, tag_array
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_cache.victims import victim_index
from fixfunc.spec.state import SlotOp
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.sizes import sizes
from fixfunc.tb.proofs.lib.pending import COLUMNS, ROWS, keys_of

MODE = 3  # bits
SETS = 2
WAYS = 2
WINDOW = 4
BITS = 2  # of a tile's number, by which write-backs are told apart
EVICTIONS = 4
VICTIMS = 2
SEQUENCE = 4  # bits


def tags(module: ModuleType = tag_array) -> Properties:
    """Two sets of two ways, and one tile among all that are asked for: any."""
    p = Properties()
    unit = module.TagArray(4, SETS, WAYS)
    p.add(unit)
    p.assume(~unit.walk & ~unit.take & ~unit.forget)
    tile = p.constant(22, "tile")
    index = p.constant(1, "tile_set")
    request = unit.i.payload
    p.assume((request.number != tile) | (request.x[0] == index))
    used = p.inner("unit.used")
    row, other = (
        unit.entry.shape()(Mux(used.bit_select(n, 1), p.row("unit.sets", n), 0))
        for n in (index, ~index)
    )

    # What the commands say of the tile.
    command = unit.o.payload
    moves = p.named("moves", unit.o.valid & unit.o.ready)
    its_own = p.named("its_own", command.number == tile)
    leaves = p.named("leaves", command.victim == tile)
    resident = Signal()
    dirty = Signal()
    slot = Signal(2)
    writes = Signal()
    needed = Signal()
    with p.m.If(unit.i.valid & unit.i.ready):
        p.m.d.sync += [
            writes.eq(request.writes),
            needed.eq(request.needed),
        ]
    with p.m.If(moves & its_own):
        p.m.d.sync += [
            resident.eq(1),
            slot.eq(command.slot[:2]),
            dirty.eq((dirty & resident) | writes),
        ]
    with p.m.Elif(moves & (command.slot == slot)):
        p.m.d.sync += resident.eq(0)
    same = p.named("same_slot", command.slot == slot)
    fill = moves & has(command.op, SlotOp.FILL)
    evict = moves & has(command.op, SlotOp.EVICT)
    p.prove("uses", ~moves | has(command.op, SlotOp.USE))
    p.prove("hit_in_place", ~(moves & its_own & resident) | (same & ~evict & ~fill))
    p.prove("is_needed", ~(moves & its_own & ~resident) | (fill == needed))
    p.prove("evicts_resident", ~(evict & leaves) | (resident & dirty & same))
    p.prove("evicts_holder", ~(evict & same & resident) | leaves)
    p.prove("not_lost", ~(moves & ~its_own & resident & same & dirty) | evict)
    p.prove("in_range", ~unit.o.valid | (command.slot < SETS * WAYS))

    # The set in memory says the same.
    ways = [row.ways[n] for n in range(WAYS)]
    held = [way.valid & (way.number == tile) for way in ways]
    p.prove("held", (held[0] + held[1]) == resident)
    elsewhere = [other.ways[n].valid & (other.ways[n].number == tile) for n in range(WAYS)]
    p.prove("one_set", ~Cat(elsewhere).any())
    for n, way in enumerate(ways):
        p.prove(f"slot_{n}", ~held[n] | ((slot == Cat(n, index)) & (way.dirty == dirty)))
    read = unit.entry.as_value()
    pending = p.inner("unit.pending")
    number = p.inner("unit.index")
    p.prove("read", ~(pending & (number == index)) | (read == row.as_value()))
    p.prove("read_other", ~(pending & (number != index)) | (read == other.as_value()))
    fields = request.shape()(p.inner("unit.request"))
    p.prove("asked", ~(pending & (fields.number == tile)) | (number == index))
    p.prove("written", ~pending | (fields.writes == writes))
    p.prove("wanted", ~pending | (fields.needed == needed))
    p.reach("evicted_tile", evict & leaves)
    return p


def interlock(module: ModuleType = command_queue) -> Properties:
    """An interlock of four clocks."""
    p = Properties()
    unit = module.Interlock(WINDOW)
    p.add(unit)
    command = unit.o.payload
    moves = p.named("moves", unit.o.valid & unit.o.ready)
    slot = p.constant(12, "slot")
    about = moves & (command.slot == slot) & command.op.any()
    evicts = has(command.op, SlotOp.EVICT)
    reads = about & evicts
    recent = Cat(p.past(about, n) for n in range(1, WINDOW)).any()
    p.prove("apart", ~reads | ~recent)
    p.prove("passed", moves == (unit.i.valid & unit.i.ready))
    p.prove("same", ~moves | (command.as_value() == unit.i.payload.as_value()))
    waits = Signal(range(WINDOW + 2))
    p.m.d.sync += waits.eq(Mux(unit.i.valid & unit.o.ready & ~moves, waits + 1, 0))
    p.prove("no_deadlock", waits < WINDOW)
    p.prove("at_once", ~unit.i.valid | evicts | unit.o.valid)
    p.reach("waited", reads & (p.past(waits) != 0))
    return p


def hazards(module: ModuleType = miss_scheduler) -> Properties:
    """The hazard check, and one tile among all: any."""
    p = Properties()
    small = {"COMMANDS": 2, "LOOKUPS": 4, "TILES": COLUMNS}
    with sizes(module, **small), sizes(victim_index, ENTRIES=2):
        unit = module.MissScheduler(MODE, ROWS, EVICTIONS, VICTIMS, SEQUENCE)
        p.add(unit)
    tile = p.constant(22, "tile")
    place = tile[:BITS]
    fields = unit.i.payload.shape()(p.inner("unit.command"))
    enters = p.named("enters", p.inner("unit.enters"))
    inserts = enters & has(fields.op, SlotOp.EVICT)
    evicts = inserts & (fields.victim == tile)
    fills = enters & (fields.number == tile) & p.inner("unit.fills")
    removed = unit.acknowledged_tile[:BITS]
    member = keys_of(
        p, "unit.write_backs", inserts, fields.victim[:BITS], unit.acknowledged, removed
    )
    outstanding = Signal()
    its_place = unit.acknowledged & (removed == place)
    p.assume(~(its_place & outstanding) | (unit.acknowledged_tile == tile))
    p.m.d.sync += outstanding.eq((outstanding & ~its_place) | evicts)
    p.prove("not_read", ~(fills & outstanding) | p.inner("unit.recalled"))
    p.prove("not_again", ~(evicts & outstanding))
    leaves = unit.miss & (unit.tile[BITS - 1] == tile[BITS - 1])
    p.prove("line_stays", ~(outstanding & leaves) | ~unit.drained)
    p.prove("held", ~outstanding | member.bit_select(place, 1))
    valid = p.inner("unit.valid")
    for n, number in enumerate((fields.number, fields.victim)):
        key = p.inner(f"unit.write_backs.key_{n}")
        p.prove(f"looked_up_{n}", ~valid | (key == number[:BITS]))
    p.reach("again", fills & p.past(outstanding, 2) & p.past(fields.number == tile))
    return p


PROOFS = [
    Proof(
        "tag_array",
        "memory/tile_cache/tag_array.py TagArray",
        "A tile is in one slot at most, and every USE finds it there; an EVICT is of the dirty "
        "tile that its slot holds, never of the tile that is used; no slot of a dirty tile is used "
        "for another without its EVICT; a tile that comes is filled in if its values are needed.",
        tags,
        depth=3,
        size="2 sets, 2 ways, every tile",
        assumed="A tile's number belongs to one place.",
        seconds=100,
        fresh=True,
    ),
    Proof(
        "interlock",
        "memory/tile_cache/command_queue.py Interlock",
        "No EVICT is sent within the window behind another command to its slot; what evicts "
        "nothing is sent at once, and each command passes once, unchanged, within the window.",
        interlock,
        depth=6,
        size="window of 4 clocks, every slot",
        seconds=60,
    ),
    Proof(
        "hazard_check",
        "memory/tile_cache/miss_scheduler.py MissScheduler",
        "From its eviction until memory has acknowledged it, no tile is looked up to be filled, "
        "but from its row in the victim buffer, or evicted again, nor does its line of modes "
        "leave. Behind the check commands stay in order (proof `credited_fifo`).",
        hazards,
        depth=4,
        size="4 write-backs, every tile",
        assumed="Memory acknowledges what has been evicted.",
        seconds=60,
    ),
]
