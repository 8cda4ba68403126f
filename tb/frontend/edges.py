# SPDX-License-Identifier: BSD-2-Clause
"""Command streams at the edges of the rules: the last value that is right, the first that is wrong.

Planes overlap lists behind their own here, so that these streams are for the command reader alone,
which writes nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.surface import plane_bytes, tiles_of
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import commands
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.commands import ALIGNED, START, Opcode
from fixfunc.spec.payloads import COLOUR_PLANES
from fixfunc.spec.state import TARGET_LIMIT, VIEWPORT_MAX, VIEWPORT_MIN, DepthFormat
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.texture_edges import change_texture

TABLES = {
    Opcode.TARGET: commands.TARGET_PACKET,
    Opcode.STATE: commands.STATE_PACKET,
    Opcode.CLEAR: commands.CLEAR_PACKET,
    Opcode.RESOLVE: commands.RESOLVE_PACKET,
    Opcode.TEXTURE: commands.TEXTURE_PACKET,
}
PLANES = "depth", "stencil", "colour"


def requests(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """Rows as of :func:`fixfunc.tb.frontend.streams.requests`.

    Most of the streams stand at an edge.
    """
    rows = []
    at = streams.LISTS
    while sum(map(len, rows)) < count and at < streams.SIZE - (1 << 15):
        at += 32 * int(rng.choice((0, 1, 7, 100)))
        packets = streams.stream_of(rng, params)
        length = len(packets.transfers)
        end = at + 32 * length
        start = np.zeros(1, dtype(START))
        start["address"] = at + 4 * (rng.random() < 0.03)
        start["limit"] = rng.choice(
            (streams.SIZE, streams.SIZE, end, end, end + 31, end - rng.choice((1, 32)))
        )
        if rng.random() < 0.2:
            neighbours(rng, packets, (at, end), params.raster.edge)
        elif rng.random() < 0.3:
            start["limit"] = planes_at_the_limit(rng, packets, end, params.raster.edge)
        elif rng.random() < 0.2:
            start["limit"] = resolve_beside(rng, packets, at, params)
        elif rng.random() < 0.1:
            _wrong_length(rng, packets)
        elif rng.random() < 0.6:
            at_an_edge(rng, packets, params)
        elif rng.random() < 0.3:
            streams.spoil(rng, packets)
        transfers = packets.transfers[: 0 if rng.random() < 0.03 else None]
        start["transfers"] = len(transfers)
        rows += [streams.mark(start), transfers]
        at += 32 * (len(transfers) + 1)
    return np.concatenate(rows)


def planes_at_the_limit(rng: np.random.Generator, packets: CommandList, end: int, edge: int) -> int:
    """Let a plane end at the limit of memory, or a little beyond: the limit, above ``end``.

    Its tiles just fill a transfer of the table behind them, or just do not. Planes that a clear
    does not clear may lie anywhere.
    """
    if rng.random() < 0.3:
        states = [p for p in packets.parts if streams.opcode_of(p) == Opcode.STATE]
        state = _fields(states[-1])
        wrong = rng.choice(PLANES)
        packets.target(**{wrong: 128})
        cleared = {name: int(name != wrong or rng.random() < 0.2) for name in PLANES}
        packets.clear((0, 0, state["target_width"], state["target_height"]), **cleared)
        return streams.SIZE
    if rng.random() < 0.2:
        end = 0xC000_0000
    for _ in range(200):
        size = rng.integers(1, 65, 2)
        _change(packets, 1, lambda fields, size=size: _resize(fields, size))
        if tiles_of(_fields(packets.parts[1]), edge) % 64 < 2:
            break
    _change(packets, 2, lambda fields: _cover(fields, size))
    plane = rng.choice(PLANES)
    room = plane_bytes(tiles_of(_fields(packets.parts[1]), edge), plane, edge)
    base = -(-end // ALIGNED) * ALIGNED
    _change(packets, 0, lambda fields: fields.__setitem__(f"{plane}_base", base))
    return base + room + int(rng.choice((0, 0, 31, -1, -32)))


def neighbours(
    rng: np.random.Generator, packets: CommandList, place: tuple[int, int], edge: int
) -> None:
    """Put a plane next to another one, or to the list: in front of it, or behind it.

    It touches, overlaps by a boundary of 256 bytes, or leaves one free. The first clear puts it
    there with the other planes, or a later one alone.
    """
    states = [p for p in packets.parts if streams.opcode_of(p) == Opcode.STATE]
    moves = rng.random() < 0.5
    state = _fields(states[-1] if moves else packets.parts[1])
    count = tiles_of(state, edge)
    bases = {name: n * streams.PLANE for n, name in enumerate(PLANES)}
    sizes = {name: plane_bytes(count, name, edge) for name in PLANES}
    ranges = {name: (bases[name], bases[name] + sizes[name]) for name in PLANES}
    plane, other = rng.permutation(PLANES)[:2]
    begin, end = place if rng.random() < 0.5 else ranges[other]
    before = rng.random() < 0.5
    base = (begin - sizes[plane]) // ALIGNED if before else -(-end // ALIGNED)
    bases[plane] = max(base + int(rng.choice((-1, 0, 0, 1))), 0) * ALIGNED
    if not moves:
        _change(packets, 0, lambda fields: _move(fields, bases))
        return
    cleared = {name: int(name == plane or rng.random() < 0.2) for name in PLANES}
    packets.target(**bases)
    # A clear of a part does not move the planes, wherever they would lie.
    part = int(rng.random() < 0.2)
    packets.clear((0, part, state["target_width"], state["target_height"]), **cleared)


def resolve_beside(rng: np.random.Generator, packets: CommandList, at: int, params: Any) -> int:
    """Add a RESOLVE whose target touches something, overlaps it, or leaves a boundary free.

    It lies next to the list, its source or a plane, or ends next to the limit of memory, which is
    returned.
    """
    size = rng.integers(1, 65, 2)
    samples = int(rng.integers(0, 4))
    sizes = {
        name: plane_bytes(tiles_of(draw_state(*map(int, size), 1 << log2)), "colour")
        for name, log2 in (("source", samples), ("target", 0))
    }
    states = [p for p in packets.parts if streams.opcode_of(p) == Opcode.STATE]
    count = tiles_of(_fields(states[-1]), params.raster.edge)
    # The list as it will be: a state, a FENCE, the RESOLVE, a state and a triangle come.
    leaves = rng.random() < 0.3  # then the draw state's target may not be one that was cleared
    end = at + 32 * (len(packets.transfers) + 2 * leaves + 1 + 1 + 2 + 2)
    source = int(rng.choice((0, streams.SIZE))) + ALIGNED * int(rng.integers(0, 256))
    places = {
        name: (base, base + plane_bytes(count, name, params.raster.edge))
        for name, base in streams.PLACES.items()
    }
    for n in range(1, params.reader.colour_planes):
        base = streams.PLACES["colour"] + n * streams.PLANE // COLOUR_PLANES
        places[f"colour{n}"] = base, base + plane_bytes(count, "colour", params.raster.edge)
    places |= {"list": (at, end), "source": (source, source + sizes["source"])}
    limit = 2 * streams.SIZE
    kind = rng.choice([*places, "limit"])
    if kind == "limit":
        target = -(-end // ALIGNED) * ALIGNED
        source = 0
        limit = target + sizes["target"] + int(rng.choice((0, 0, 31, -1, -32)))
        if rng.random() < 0.5:
            source, target = target, source
            limit += sizes["source"] - sizes["target"]
    else:
        begin, behind = places[kind]
        before = rng.random() < 0.5
        base = (begin - sizes["target"]) // ALIGNED if before else -(-behind // ALIGNED)
        target = max(base + int(rng.choice((-1, 0, 0, 1))), 0) * ALIGNED
    if leaves:
        packets.state(draw_state(9, 9))
    packets.fence().resolve(
        samples=samples,
        width=int(size[0]),
        height=int(size[1]),
        source=source,
        target=target,
        source_cleared=int(rng.integers(0, 1 << 32)),
        target_cleared=int(rng.integers(0, 1 << 32)),
        srgb=int(params.reader.resolves_srgb),
    )
    if rng.random() < 0.2:
        _change(packets, len(packets.parts) - 1, lambda fields: _resolve(rng, fields, params))
    packets.parts.append(states[-1].copy())
    packets.triangles(np.zeros(1, TRIANGLE))
    return limit


def _move(fields, bases):
    for plane, base in bases.items():
        fields[f"{plane}_base"] = base


def _resize(fields, size):
    fields["target_width"], fields["target_height"] = size


def _cover(fields, size):
    fields["x1"], fields["y1"] = size


def at_an_edge(rng: np.random.Generator, packets: CommandList, params: Any) -> None:
    """Bring one packet of a list to an edge of one of its rules."""
    found = [n for n, part in enumerate(packets.parts) if streams.opcode_of(part) in TABLES]
    n = int(rng.choice(found))
    opcode = streams.opcode_of(packets.parts[n])
    if opcode == Opcode.TARGET and rng.random() < 0.3:
        packets.parts[n] = packets.parts[n][:0]
    elif opcode == Opcode.TARGET:
        base = 1 << int(rng.integers(4, 10))
        _change(packets, n, lambda fields: fields.__setitem__(f"{rng.choice(PLANES)}_base", base))
    elif opcode == Opcode.STATE:
        _change(packets, n, lambda fields: _state(rng, fields, params))
    elif opcode == Opcode.RESOLVE:
        _change(packets, n, lambda fields: _resolve(rng, fields, params))
    elif opcode == Opcode.TEXTURE:
        _change(packets, n, lambda fields: change_texture(rng, fields, params.reader))
    else:
        states = [p for p in packets.parts[:n] if streams.opcode_of(p) == Opcode.STATE]
        _change(packets, n, lambda fields: _clear(rng, fields, _fields(states[-1])))


def _wrong_length(rng, packets):
    """Another length of any packet, a FENCE and a TARGET as often as the others."""
    kinds = {}
    for part in packets.parts:
        if len(part):
            kinds.setdefault(int(part[0, 0]) & 0xFF, []).append(part)
    parts = kinds[rng.choice([*kinds])]
    parts[int(rng.integers(0, len(parts)))][0, 0] ^= np.uint64(1 << int(rng.integers(8, 12)))


def _fields(part: np.ndarray) -> np.ndarray:
    table = TABLES[streams.opcode_of(part)]
    return codec.unpack(part.reshape(1, -1), table, dtype(table))[0]


def _change(packets: CommandList, n: int, change: Callable) -> None:
    """Change the fields of a packet in place."""
    part = packets.parts[n]
    table = TABLES[streams.opcode_of(part)]
    record = codec.unpack(part.reshape(1, -1), table, dtype(table))
    change(record[0])
    packed = codec.pack(record, table).ravel()
    packets.parts[n] = np.pad(packed, (0, part.size - len(packed))).reshape(part.shape)


def _state(rng, fields, params):
    """A field of a draw state at an edge, or in the bits that nobody looks at."""
    axis = rng.choice(("x", "y"))
    ends = [VIEWPORT_MIN, -300, 0, VIEWPORT_MAX]
    if rng.random() < 0.4:
        ends = [VIEWPORT_MIN - 1, VIEWPORT_MAX + 1, *ends[1:3]]
    kind = int(rng.choice(11, p=[0.2, *[0.08] * 10]))
    if kind == 0:
        fields[f"viewport_{axis}0"], fields[f"viewport_{axis}1"] = np.sort(rng.choice(ends, 2))
    elif kind == 1:
        fields[f"viewport_{axis}0"] = fields[f"viewport_{axis}1"] + rng.integers(-1, 2)
    elif kind == 2:
        last = TARGET_LIMIT + int(rng.integers(0, 2))
        fields[f"scissor_{axis}0"], fields[f"scissor_{axis}1"] = rng.integers(0, last + 1), last
    elif kind == 3:
        fields[f"scissor_{axis}1"] = max(fields[f"scissor_{axis}0"] - rng.integers(-1, 2), 0)
    elif kind == 4:
        side = rng.choice(("target_width", "target_height"))
        fields[side] = rng.choice((0, 1, params.reader.pixels, params.reader.pixels + 1))
    elif kind == 5:
        fields["depth_max"] = MOST[DepthFormat(int(fields["depth_format"]) & 1)]
        fields["depth_min"] = fields["depth_max"] + rng.integers(-1, 2)
    elif kind == 6:
        name = rng.choice(("bias_slope", "bias_clamp"))
        fields[name] = rng.choice((0x7F7FFFFF, 0x7F800000, 0x3F800000, 0xFF800000))
    elif kind == 7:
        name = rng.choice(("cull", "samples", "depth_format", "early_write", "target"))
        fields[name] = rng.integers(0, {"early_write": 2, "target": 8}.get(name, 4))
    elif kind == 8:
        fields["depth_max"] = (1 << 24) + 1
        most = MOST.get(DepthFormat(int(fields["depth_format"])), 0)
        fields["depth_min"] = most + int(rng.integers(0, 2))
    elif kind == 9:
        fields["slot"] = rng.integers(0, COLOUR_PLANES)
    else:
        _format(rng, fields)
    own = rng.spawn(1)[0]
    if own.random() < 0.1:
        # Of what does not go with it, one thing is left, or nothing.
        others = own.permutation(("depth_test", "depth_write", "stencil_test", "samples"))
        for name in others[int(own.integers(0, 2)) :]:
            fields[name] = 0
        fields["conservative"] = 1


def _format(rng, fields):
    """A format of a colour plane, or a number that is none, with what that may not have."""
    some = *COLOUR_FORMATS, *(BASE_FORMATS * len(COLOUR_FORMATS)), int(rng.integers(0, 1 << 7))
    fields["colour_format"] = rng.choice(some)
    for enable in ("blend_enable", "logic_op_enable"):
        fields[enable] = rng.random() < 0.3


def _resolve(rng, fields, params):
    """A resolve of a side or samples at an edge, off a boundary, of the greatest sides, or sRGB."""
    kind = int(rng.integers(0, 5))
    if kind == 0:
        side = rng.choice(("width", "height"))
        fields[side] = rng.choice((0, 1, params.reader.pixels, params.reader.pixels + 1))
    elif kind == 3:
        fields["width"] = (1 << 15) - 1
        fields["height"] = (1 << 15) - 3
        fields["samples"] = 3
        fields["source"] = fields["target"] = (1 << 32) - ALIGNED
    elif kind == 1:
        fields["samples"] = rng.integers(0, 4)
    elif kind == 4:
        fields["srgb"] = 1
    else:
        fields[rng.choice(("source", "target"))] += 1 << int(rng.integers(4, 10))


def _clear(rng, fields, state):
    """A clear that covers all of the target but a row, or but a plane; or a depth of its limit."""
    kind = int(rng.integers(0, 4))
    fields["target"] = rng.integers(0, 8)
    if kind == 0:
        side = int(rng.integers(0, 2))
        name = f"{'xy'[side]}1"
        size = int(state[("target_width", "target_height")[side]])
        fields[name] = size + int(rng.choice((-1, 0, 1, 1 << 14)))
    elif kind == 1:
        fields[rng.choice(("x0", "y0"))] = 1
    elif kind == 2:
        fields[rng.choice(PLANES)] ^= 1
    else:
        most = MOST.get(DepthFormat(int(state["depth_format"])), 0xFFFF)
        fields["depth"] = rng.random() < 0.7
        fields["depth_value"] = most + int(rng.integers(0, 2))


def anywhere(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """Rows of short streams with any value in any field: planes all over the address space.

    Each ends with a packet of random bits.
    """
    rows = []
    at = streams.LISTS
    for _ in range(count):
        packets = CommandList()
        gigabytes = rng.permutation((1, 2, 3)) if rng.random() < 0.8 else rng.integers(0, 4, 3)
        bases = (gigabytes << 30) + rng.integers(0, (1 << 22) - (1 << 10), 3) * ALIGNED
        packets.target(*map(int, bases))
        size = tuple(int(v) for v in rng.integers(1, params.reader.pixels + 1, 2))
        form = rng.choice(list(params.reader.formats))
        state = streams.state_of(rng, size, 1, form, params)
        state["slot"] = rng.integers(0, COLOUR_PLANES)
        state["target"] = rng.integers(0, 8)
        for name in ("viewport_x", "viewport_y"):
            state[f"{name}0"], state[f"{name}1"] = np.sort(
                rng.integers(VIEWPORT_MIN, VIEWPORT_MAX + 1, 2)
            )
        ends = 0, TARGET_LIMIT, int(rng.integers(0, TARGET_LIMIT + 1))
        for name in ("scissor_x", "scissor_y"):
            state[f"{name}0"], state[f"{name}1"] = np.sort(rng.choice(ends, 2))
        packets.state(state)
        fields = {name: int(rng.integers(0, 2)) for name in PLANES} | {
            "depth_value": int(rng.integers(0, MOST[form] + 1)),
            "stencil_value": int(rng.integers(0, 256)),
            "colour_value": int(rng.integers(0, 1 << 32)),
        }
        packets.clear((0, 0, *size), depth=1, stencil=1, colour=1)
        left, right = np.sort(rng.integers(0, size[0] + 1, 2))
        top, bottom = np.sort(rng.integers(0, size[1] + 1, 2))
        packets.clear((left, top, right, bottom), **fields)
        packets.fence(int(rng.integers(0, 1 << 32)), int(rng.integers(0, 2)))
        opcode = rng.choice([*TABLES, Opcode.FENCE, Opcode.TRIANGLES])
        noise = rng.integers(0, 1 << 64, (commands.LENGTHS.get(opcode, 1), 4), np.uint64)
        length = len(noise) if rng.random() < 0.7 else int(rng.integers(0, 1 << 24))
        noise[0, 0] &= ~np.uint64((1 << 32) - 1)
        noise[0, 0] |= np.uint64(int(opcode) | length << 8)
        packets.parts.append(noise)
        start = np.zeros(1, dtype(START))
        start["address"] = at
        start["transfers"] = len(packets.transfers)
        start["limit"] = rng.choice(((1 << 32) - 1, rng.integers(1 << 31, 1 << 32)))
        rows += [streams.mark(start), packets.transfers]
        at += 32 * (len(packets.transfers) + 1)
    return np.concatenate(rows)
