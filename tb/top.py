"""Bench of :class:`rtl.top.Top`: every stage held to the golden one, and every byte of memory."""

import cocotb
import numpy as np

from cosim import codec
from cosim.commands import CommandList
from models.depth.depth_cache import CacheShape
from models.frontend.command_reader import CommandLimits
from models.payload import dtype
from models.top import Machine
from rtl import top as rtl
from rtl.top import CONFIGS
from spec import payloads
from spec.commands import START, STATUS, CommandError
from spec.quads import colours, quads
from spec.state import DepthFormat, Kind, Outcome
from tb.bench import depths, scenes
from tb.bench.bench import StreamBench, configuration
from tb.bench.memory import MemoryBehind
from tb.bench.pace import PACES
from tb.bench.stream import StreamDriver

PIXELS = {4: 24, 8: 100}  # largest side of a target, by the tile's edge
PLACE = 1 << 18  # of each plane, in bytes; packets lie behind them
LISTS = 3 * PLACE
SIZE = LISTS + (1 << 18)
MARK = np.uint64(1 << 63)  # of a row that is a START


def Harness(params):
    """The top, with all its seams in view."""
    return rtl.Top(params, seams=True)


def limits_of(params):
    return CommandLimits(params.reader.edge, params.reader.samples, params.reader.pixels, params.reader.stencil)


def machine(params, data, **more):
    """The golden one."""
    shape = CacheShape(params.depth.sets, params.depth.ways, params.depth.table_lines)
    return Machine(data, limits_of(params), shape, params.raster.grid, **more)


def requests(rng, count, params):
    """Command streams, as rows of 32 bytes, each behind its START: draws of every kind on targets of every kind."""
    rows, at = [], LISTS
    while sum(map(len, rows)) < count and at < SIZE - (1 << 15):
        packets = stream_of(rng, params)
        if rng.random() < 0.3:
            spoil(rng, packets)
        transfers = packets.transfers
        start = np.zeros(1, dtype(START))
        start["address"], start["transfers"], start["limit"] = at, len(transfers), SIZE
        rows += [mark(start), transfers]
        at += 32 * len(transfers)
    return np.concatenate(rows)


def mark(start):
    """A START, as a row."""
    row = np.zeros((1, 4), np.uint64)
    row[:, :2] = codec.pack(start, START)
    row[:, 3] |= MARK
    return row


def stream_of(rng, params):
    """One or two targets, a few draws on each."""
    packets, edge = CommandList(), params.raster.edge
    formats = [DepthFormat.D16, DepthFormat.D24]
    for _ in range(int(rng.integers(1, 3))):
        size = tuple(int(v) for v in rng.integers(1, PIXELS[edge] + 1, 2))
        samples, form = 1 << int(rng.integers(0, params.raster.samples.bit_length())), rng.choice(formats)
        packets.target(0, PLACE, 2 * PLACE)
        for n in range(int(rng.integers(1, 4))):
            packets.state(state_of(rng, size, samples, form, params))
            if not n or rng.random() < 0.3:
                fields = depths.clear(rng, size, form, whole=not n)
                fields["depth_value"] = min(int(fields["depth_value"]), depths.MOST[form])
                rectangle = [fields.pop(name) for name in ("x0", "y0", "x1", "y1")]
                packets.clear(rectangle, colour=not n or rng.random() < 0.5, colour_value=int(rng.integers(0, 1 << 32)), **fields)
            packets.triangles(depths.triangles(rng, int(rng.integers(0, 9)), size))
            if rng.random() < 0.3:
                packets.fence(int(rng.integers(0, 1 << 32)), int(rng.integers(0, 2)))
    return packets


def state_of(rng, size, samples, form, params):
    """A draw state that can be obeyed."""
    state, more = depths.state(rng, size, samples, form, params.reader.stencil), scenes.state(rng)
    for name in state.dtype.names:
        if name == "cull" or name == "front_ccw" or (rng.random() < 0.1 and name.startswith("scissor")):
            state[name] = more[name]
    for name in ("scissor_x", "scissor_y"):
        state[f"{name}0"] = min(state[f"{name}0"], state[f"{name}1"])
    state["early_write"], state["blend"], state["flat_colour"] = 1, rng.integers(0, 2), rng.integers(0, 1 << 32)
    state["colour_write"] = 15 if rng.random() < 0.7 else rng.integers(0, 16)
    return state


def spoil(rng, packets):
    """Break a packet: any bit of its first words, or its end is missing."""
    parts = [part for part in packets.parts if len(part)]
    part = parts[int(rng.integers(0, len(parts)))]
    if rng.random() < 0.2:
        packets.parts[-1] = packets.parts[-1][:0]
    else:
        part[int(rng.integers(0, len(part))), 0] ^= np.uint64(1) << np.uint64(rng.integers(0, 64) if rng.random() < 0.5 else rng.integers(0, 12))


def starts(rows):
    """Records of START, and the rows of each."""
    marks = np.flatnonzero((rows[:, 3] & MARK != 0) & (rows[:, 2] == 0) & (rows[:, 3] == MARK))
    records = codec.unpack(rows[marks][:, :2], START, dtype(START))
    ends, found = 0, []
    for at, record in zip(marks, records, strict=True):
        if at >= ends:
            ends = at + 1 + int(record["transfers"])
            found.append((record, rows[at + 1:ends]))
    return found


def memory(rows, _params):
    """What lies behind the ports at first: packets, and noise."""
    data = np.random.default_rng(len(rows)).integers(0, 256, SIZE, np.uint8)
    for start, transfers in starts(rows):
        data[start["address"]:start["address"] + 32 * len(transfers)] = np.ascontiguousarray(transfers).view(np.uint8).ravel()
    return data


def shade(shading):
    """Colours made up from where a sample is, and of which triangle."""
    tiles, n = shading.tiles, shading.triangle[:, None] * 37 + np.arange(64)[:shading_lanes(shading)]
    edge = int(n.shape[1] ** 0.5)
    value = (n * 0x9E3779B1 + tiles["x"].astype(np.int64)[:, None] * 0x85EBCA77 + tiles["y"].astype(np.int64)[:, None] * 0xC2B2AE3D) >> 3
    return (value & 0xFFFFFFFF).astype(np.uint32).reshape(-1, edge, edge)


def shading_lanes(shading):
    """Lanes of a tile, by the width of its mask."""
    return 64 if shading.tiles["mask"].dtype.itemsize == 8 else 16


def inputs(rows, params):
    """What goes in: the STARTs; colours, which do not depend on when; in the end nothing is asked."""
    golden = machine(params, memory(rows, params), shader=shade, in_memory=False)
    shaded, edge = [np.zeros((0, codec.words(32 * params.raster.edge**2)), np.uint64)], params.raster.edge
    for start, _ in starts(rows):
        shaded += [pack_colours(part, edge) for _, part in golden.draw(*(int(v) for v in start)).seams["colours"]]
    given = {"i": np.concatenate([codec.pack(start, START) for start, _ in starts(rows)]), "asked": np.zeros((0, 1), np.uint64)}
    return given if params.flat else given | {"colours": np.concatenate(shaded)}


def pack_colours(shaded, edge):
    """Colours of tiles as beats."""
    assert payloads.width(colours(edge)) == 32 * edge**2
    return np.ascontiguousarray(shaded.reshape(len(shaded), edge**2).astype("<u4")).view(np.uint64)


class Found:
    """What the hardware's HiZ found, handed to the golden pipeline tile by tile: what did not come out was dropped."""

    SAME = "slot", "x", "y", "last", "back", "z0", "dx", "dy"  # the mask of what was dropped is gone

    def __init__(self, rows, edge):
        table = payloads.tile(edge)
        tiles = codec.unpack(rows[rows[:, 0] & 3 == Kind.WORK], table, dtype(table))
        self._keys, self._outcome, self._at = list(zip(*(tiles[name].tolist() for name in self.SAME), strict=True)), tiles["outcome"], 0

    def __call__(self, tiles):
        out = np.full(len(tiles), Outcome.DROP, np.uint8)
        for n, key in enumerate(zip(*(tiles[name].tolist() for name in self.SAME), strict=True)):
            if self._at < len(self._keys) and self._keys[self._at] == key:
                out[n] = self._outcome[self._at]
                self._at += 1
        return out


def replay(rows, outputs, params):
    """What every seam should show, and memory hold, by what HiZ found, which depends on when."""
    data = memory(rows, params)
    golden = machine(params, data, found=Found(outputs["seam_hiz"], params.raster.edge), **({} if params.flat else {"shader": shade}))
    drawn = [golden.draw(*(int(v) for v in start)) for start, _ in starts(rows)]
    return expected_of(drawn, outputs, params) | {"memory": data.view(np.uint64).reshape(-1, 4)}


def expected_of(drawn, outputs, params):
    """Beats of every seam, in the order of the stages, and of the status."""
    edge, out = params.raster.edge, {}
    tables = {"commands": payloads.TRIANGLE, "setup": payloads.SETUP, "raster": payloads.tile(edge), "hiz": payloads.tile(edge),
              "depth": payloads.tile(edge)}
    for name, work in tables.items():
        bits = max(payloads.width(table) for table in (work, *payloads.CONTROL.values()))
        out[f"seam_{name}"] = np.concatenate([codec.pack(records, table_of(kind, work), bits) for part in drawn for kind, records in part.seams[name]])
    for name in ("hiz", "depth"):  # a note is HiZ's own
        take_notes(out[f"seam_{name}"], outputs[f"seam_{name}"], edge)
    shaded = [codec.pack(records, quads(edge)) for part in drawn for _, records in part.seams["quads"]]
    out["seam_quads"] = np.concatenate([np.zeros((0, codec.words(payloads.width(quads(edge)))), np.uint64), *shaded])
    if not params.flat:
        out["quads"] = out["seam_quads"]
    return out | {"o": np.concatenate([codec.pack(part.status, STATUS) for part in drawn])}


def table_of(kind, work):
    return {Kind.WORK: work, Kind.STATE: payloads.DRAW_STATE, Kind.CLEAR: payloads.CLEAR, Kind.FENCE: payloads.FENCE}[kind]


def take_notes(rows, given, edge):
    """HiZ's notes, as they came."""
    low, bits, at = 0, 0, 0
    for field in payloads.tile(edge):
        low, bits = (at, field.bits) if field.name == "note" else (low, bits)
        at += field.bits
    work = np.flatnonzero(rows[:, 0] & 3 == Kind.WORK)
    work = work[work < len(given)]
    for word in range(low // 64, (low + bits - 1) // 64 + 1):
        first, last = max(low - 64 * word, 0), min(low + bits - 64 * word, 64)
        mask = np.uint64(((1 << last) - 1) & ~((1 << first) - 1))
        rows[work, word] = (rows[work, word] & ~mask) | (given[work, word] & mask)


def describe(row, _params):
    record = codec.unpack(row[None], STATUS, dtype(STATUS))[0]
    return f"{CommandError(record['error']).name} " + " ".join(f"{name}={int(record[name]):#x}" for name in record.dtype.names)


class TopBench(MemoryBehind, StreamBench):
    """With memory behind every port, which is compared in the end."""

    def __init__(self, dut):
        self.params = configuration(CONFIGS)
        self.attach(dut, [f"{client}_memory" for client in ("commands", *self.params.clients)], SIZE)
        seams = [f"seam_{name}" for name in ("commands", "setup", "raster", "hiz", "depth", "quads")]
        super().__init__(dut, self._wanted, lambda row: describe(row, self.params), ("o", *seams, *(() if self.params.flat else ("quads",))))

    async def draw(self, rows, source="full", sink="full"):
        """Draw what command streams say."""
        self._rows = rows
        given = inputs(rows, self.params)
        self._dut.asked__valid.value, self._dut.told__ready.value = 0, 1
        if not self.params.flat:
            self._dut.colours__valid.value = 0
            driver = StreamDriver(self._dut, "colours", PACES["full"](None))
            cocotb.start_soon(driver.send(codec.to_int(row) for row in given["colours"]))
        self.fill(memory(rows, self.params), sink)
        await self.run(given["i"], source, sink)

    def _wanted(self, _rows):
        wanted = replay(self._rows, self.outputs, self.params)
        self.check_memory(wanted.pop("memory"))
        return wanted


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(sink=["full", "random", "bursty"])
async def every_stage_and_every_byte(dut, sink):
    bench = TopBench(dut)
    await bench.draw(requests(bench.rng, 60, bench.params), "full", sink)
