# SPDX-License-Identifier: BSD-2-Clause
"""Bursts of tiles, of lines of the mode table, of commands: none crosses a page."""

from types import ModuleType

from amaranth.hdl import Mux, Signal, Value

from fixfunc.rtl.frontend import command_fetch
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache import refill, write_back
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

PAGE = 4096
BYTES = 32  # of a transfer
SURFACE = Surface(8, 24)
ROOM = 256  # bytes that memory keeps for a tile of it


def _within(p: Properties, valid: Value, address: Value, length: Value, longest: int) -> None:
    """Prove that a burst is of whole transfers and stays within a page."""
    end = p.named("end", address[:12] + (length + 1) * BYTES)
    p.prove("page", ~valid | (end <= PAGE))
    p.prove("whole", ~valid | (address[:5] == 0))
    p.prove("longest", ~valid | (length < longest))


def _target(p: Properties, unit: object) -> Signal:
    """A target: its base, aligned as the reader checks, and its number of tiles."""
    base = p.constant(32, "constant_base")
    p.m.d.comb += [
        unit.base.eq(base),
        unit.count.eq(p.constant(len(unit.count), "constant_count")),
        unit.is_float.eq(p.constant(1, "constant_is_float")),
    ]
    p.assume(base[:8] == 0)
    return base


def reads(module: ModuleType = refill) -> Properties:
    """Reads of tiles and lines."""
    p = Properties()
    unit = module.RefillUnit(SURFACE, 4)
    p.add(unit)
    base = _target(p, unit)
    port = unit.memory
    _within(p, port.arvalid, port.araddr, port.arlen, ROOM // BYTES)
    in_memory = (unit.i.payload.mode != 0) & (unit.i.payload.mode < 7) & ~unit.stopped
    tile = p.past(unit.i.valid & unit.i.ready & in_memory)
    place = base + p.past(unit.i.payload.number) * ROOM
    p.prove("its_tile", ~tile | (port.arvalid & (port.araddr == place[:32])))
    p.reach("longest", port.arvalid & (port.arlen == SURFACE.most - 1))
    return p


def writes(module: ModuleType = write_back) -> Properties:
    """Writes of tiles and lines."""
    p = Properties()
    unit = module.WriteBackUnit(SURFACE)
    p.add(unit)
    _target(p, unit)
    port = unit.memory
    _within(p, port.awvalid, port.awaddr, port.awlen, ROOM // BYTES)
    p.reach("longest", port.awvalid & (port.awlen == SURFACE.most - 1))
    return p


def commands(module: ModuleType = command_fetch) -> Properties:
    """Reads of a command stream: one burst behind the other, exactly as many transfers."""
    p = Properties()
    unit = module.CommandFetch(32)
    p.add(unit)
    port = unit.memory
    control = unit.control
    p.assume(~control.start | (~control.busy & ~control.stop))
    _within(p, port.arvalid, port.araddr, port.arlen, 16)
    sent = port.arvalid & port.arready
    place = Signal(27)
    missing = Signal(24)
    stopped = Signal(init=1)
    length = p.named("length", port.arlen + 1)
    with p.m.If(sent):
        p.m.d.sync += [
            place.eq(place + length),
            missing.eq(missing - length),
        ]
    with p.m.If(control.stop):
        p.m.d.sync += stopped.eq(1)
    with p.m.If(control.start & ~port.arvalid):
        p.m.d.sync += [
            place.eq(control.address >> 5),
            missing.eq(control.transfers),
            stopped.eq(0),
        ]
    p.assume(~control.start | ~port.arvalid)
    p.prove("next", ~sent | stopped | (port.araddr == place << 5))
    p.prove("wanted", ~sent | stopped | (length <= missing))
    p.prove("all", stopped | control.busy | port.arvalid | (missing == 0))
    address = p.inner("unit.address")
    remaining = p.inner("unit.remaining")
    size = p.inner("unit.size")
    valid = p.inner("unit.size_valid")
    waits = Mux(port.arvalid, length, 0)
    boundary = 16 - address[:4]
    least = Mux(remaining < boundary, remaining, boundary)
    p.prove("place", stopped | (address == (place + waits)[:27]))
    p.prove("missing", stopped | (missing == remaining + waits))
    p.prove("waiting", stopped | ~port.arvalid | (port.araddr == place << 5))
    p.prove("size", ~valid | ((size == least) & (remaining != 0)))
    p.reach("second", sent & (port.arlen == 15) & p.past(port.arvalid & (port.arlen == 1)))
    return p


PROOFS = [
    Proof(
        "refill_bursts",
        "memory/tile_cache/refill.py RefillUnit",
        "No read crosses a page or a tile's place; a tile is read at its own place.",
        reads,
        depth=3,
        size="depths of 8x8 tiles, every tile, mode, base and count",
        assumed="The base is aligned to 256 bytes, as the reader checks.",
        seconds=60,
    ),
    Proof(
        "write_back_bursts",
        "memory/tile_cache/write_back.py WriteBackUnit",
        "No write crosses a page or a tile's place.",
        writes,
        depth=3,
        size="depths of 8x8 tiles, every tile, mode, base and count",
        assumed="The base is aligned to 256 bytes, as the reader checks.",
        seconds=60,
    ),
    Proof(
        "command_bursts",
        "frontend/command_fetch.py CommandFetch",
        "No read of commands crosses a page; bursts follow one another, and read exactly the "
        "transfers of the stream.",
        commands,
        depth=4,
        size="every address and length, FIFO of 32",
        assumed="A stream starts while the unit is idle, its last address taken.",
        seconds=60,
    ),
]
