# SPDX-License-Identifier: BSD-2-Clause
"""Command streams, right and wrong, as rows of 32 bytes."""

from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.vertices import write_release
from fixfunc.models.formats import MOST
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import (
    CONSTANT_FACTORS,
    FACTORS,
    OF_SHADER_ALPHA,
    PLAIN_FACTORS,
    SECOND_FACTORS,
    WITHOUT_ALPHA,
    draw_state,
    needs_second,
)
from fixfunc.spec import commands
from fixfunc.spec.commands import ALIGNED, START, CommandError, Opcode
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR_PLANES
from fixfunc.spec.state import BlendFactor, BlendOp, DepthFormat, StencilOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.frontend.vertex_draws import TEXTURES, TEXTURES_SIZE, VertexDraws, put_tables
from fixfunc.tb.output import plane_formats

PIXELS = {4: 24, 8: 100}  # greatest width or height of a target, by the tile's edge
PLANE = TEXTURES // 3  # bytes of each plane
LISTS = 3 * PLANE + TEXTURES_SIZE  # address of the packets, behind the planes and the textures
PLACES = {"depth": 0, "stencil": PLANE, "colour": 2 * PLANE}
SIZE = LISTS + (1 << 19)
# A surface that can be resolved, and where to: behind the stencils.
SURFACE = {
    "samples": 1,
    "width": 27,
    "height": 19,
    "source": PLANE + PLANE // 2,
    "target": PLANE + PLANE // 2 + (1 << 15),
    "source_cleared": 0x80402010,
}
# Set in the last word of a row that is a START; below it, which of its transfers cannot be read,
# from 1 on. The word before it: how many of its transfers are not among the rows behind it.
MARK = np.uint64(1 << 63)
COUNT_BITS = np.uint64(24)  # of transfers


def requests(rng: np.random.Generator, count: int, params: Any) -> np.ndarray:
    """Command streams, as rows of 32 bytes, each behind its START.

    They have draws of every kind on targets of every kind; some are spoilt, but for those with a
    RESOLVE, which might then read anything. What is resolved has been in memory from the start.
    """
    rows = []
    at = LISTS
    while sum(map(len, rows)) < count and at < SIZE - (1 << 15):
        packets = stream_of(rng, params)
        spoilt = rng.random() < 0.3
        if spoilt and Opcode.RESOLVE not in map(opcode_of, packets.parts):
            spoil(rng, packets)
        transfers = packets.transfers
        start = np.zeros(1, dtype(START))
        start["address"] = at
        start["transfers"] = len(transfers)
        start["limit"] = SIZE
        rows += [mark(start), transfers]
        at += 32 * len(transfers)
    return np.concatenate(rows)


def opcode_of(part: np.ndarray) -> int:
    """Opcode of a packet; of triangles, and of no transfers at all, -1."""
    if not len(part):
        return -1
    opcode, length = int(part[0, 0]) & 0xFF, int(part[0, 0]) >> 8 & 0xFFFFFF
    return opcode if length == len(part) else -1


def one_list(
    rng: np.random.Generator, count: int, params: Any, address: int = LISTS, beyond: float = 0
) -> np.ndarray:
    """A command stream with one target, and so many triangles on it.

    A share of the triangles lies far beyond the range: their depths have upper bits.
    """
    size = (PIXELS[params.raster.edge],) * 2
    packets = CommandList().target(0, PLANE, 2 * PLANE).state(draw_state(*size))
    if params.reader.ring:
        VertexDraws(rng, params.reader).state(packets)
    packets.clear(
        (0, 0, *size), depth=1, stencil=1, colour=1, depth_value=MOST[DepthFormat.D24]
    ).triangles(depths.triangles(rng, count, size, beyond=beyond))
    start = np.zeros(1, dtype(START))
    start["address"] = address
    start["transfers"] = len(packets.transfers)
    start["limit"] = SIZE
    return np.concatenate([mark(start), packets.transfers])


def mark(start: np.ndarray, unreadable: int = 0, beyond: int = 0) -> np.ndarray:
    """A START as a row.

    Transfer ``unreadable``, from 1 on, cannot be read. Of its transfers the last ``beyond`` are no
    rows: reading stops before them.
    """
    row = np.zeros((1, 4), np.uint64)
    row[:, :2] = codec.pack(start, START)
    row[:, 2] = beyond
    row[:, 3] |= MARK | np.uint64(unreadable)
    return row


def unreadable(rows: np.ndarray) -> int | None:
    """The byte that memory cannot read, if rows name one."""
    for (start, _), (at, _) in zip(starts(rows), _streams(rows), strict=True):
        if fault := int(rows[at, 3] - MARK):
            return int(start["address"]) + 32 * (fault - 1)
    return None


def every_end(rng: np.random.Generator, params: Any) -> np.ndarray:
    """A stream for every :class:`~fixfunc.spec.commands.CommandError`, as rows.

    Triangles lie behind each error. One stream cannot be read to its end. The last one ends where
    memory does: who reads on is seen.
    """
    size = PIXELS[params.raster.edge], 1 + int(rng.integers(0, 8))
    whole = {"depth": 1, "stencil": 1, "colour": 1}

    def cleared(**bases):
        packets = CommandList().target(**(PLACES | bases)).state(draw_state(*size))
        if params.reader.ring:
            VertexDraws(rng, params.reader).state(packets)
        return packets.clear((0, 0, *size), **whole)

    wrong = draw_state(*size)
    wrong["target_width"] = 0
    some = depths.triangles(rng, 9, size, beyond=0)
    unknown = 0, *({*range(len(Opcode) + 2)} - {*params.reader.opcodes}), 255
    by_error = {
        CommandError.OPCODE: cleared().add(int(rng.choice(unknown)), commands.PACKET),
        CommandError.LENGTH: cleared().add(Opcode.FENCE, commands.FENCE_PACKET, 2),
        CommandError.STATE: cleared().state(wrong),
        CommandError.ADDRESS: cleared(colour=2 * PLANE + ALIGNED // 2),
        CommandError.ORDER: CommandList().target(**PLACES).state(draw_state(*size)).fence(1),
        CommandError.OVERLAP: cleared(stencil=2 * PLANE),
        CommandError.READ: _with_resolve(cleared().fence(1), params),
        CommandError.NONE: cleared(),
    }
    if params.reader.ring:
        by_error[CommandError.VERTEX] = cleared().append(write_release(1))
    by_error = {error: packets.triangles(some).transfers for error, packets in by_error.items()}
    rows = []
    at = SIZE - 32 * sum(map(len, by_error.values()))
    for error, transfers in by_error.items():
        start = np.array([(at, len(transfers), SIZE)], dtype(START))
        # Headers, a triangle, and more often than the others the second transfer of a STATE.
        faults = *range(1, 7), 3, 3, int(rng.integers(7, len(transfers) + 1))
        fault = int(rng.choice(faults)) if error == CommandError.READ else 0
        rows += [mark(start, fault), transfers]
        at += 32 * len(transfers)
    return np.concatenate(rows)


def _with_resolve(packets, params):
    if params.resolve:
        packets.resolve(**SURFACE)
    return packets


def stream_of(rng: np.random.Generator, params: Any) -> CommandList:
    """A list with one or two targets, and a few draws on each."""
    packets = CommandList()
    vertices = params.reader.ring and VertexDraws(rng, params.reader)
    edge = params.raster.edge
    formats = list(params.reader.formats)
    takes_constant = Opcode.BLEND_CONSTANT in params.reader.opcodes
    has_constant = False
    for _ in range(int(rng.integers(1, 3))):
        pixels = PIXELS[edge] if params.reader.colour_planes == 1 else PIXELS[4]
        size = tuple(int(v) for v in rng.integers(1, pixels + 1, 2))
        samples = 1 << int(rng.integers(0, params.raster.samples.bit_length()))
        form = rng.choice(formats)
        packets.target(0, PLANE, 2 * PLANE)
        begun = {0}
        for n in range(int(rng.integers(1, 4))):
            if n and takes_constant and rng.random() < 0.5:
                packets.blend_constant(depths.blend_constant(rng))
                has_constant = True
            state = state_of(rng, size, samples, form, params)
            for name in FACTORS:
                if state[name] in CONSTANT_FACTORS and not has_constant and rng.random() < 0.95:
                    state[name] = BlendFactor.ONE
            packets.state(state)
            if not n or rng.random() < 0.3:
                _clear(rng, packets, size, form, whole=not n)
                if rng.random() < 0.2:
                    _clear(rng, packets, size, form, whole=False)
            if params.reader.colour_planes > 1 and rng.random() < (0.95 if n else 0.5):
                packets.fence()  # a colour plane that begins has nothing before it
            _more_planes(rng, packets, size, samples, form, params, begun)
            if vertices:
                vertices.draws(packets, size, form)
            packets.triangles(depths.triangles(rng, int(rng.integers(0, 9)), size, form))
            if takes_constant and rng.random() < 0.2:
                packets.blend_constant(depths.blend_constant(rng))
                has_constant = True
                packets.triangles(depths.triangles(rng, 2, size, form))
            if rng.random() < 0.3:
                packets.fence(int(rng.integers(0, 1 << 32)), int(rng.integers(0, 2)))
                if rng.random() < 0.3:
                    packets.triangles(depths.triangles(rng, 1, size, form))
            if params.resolve and rng.random() < 0.3:
                resolve(rng, packets, params)
        if params.reader.colour_planes > 1 and rng.random() < 0.9:
            packets.fence()  # colour planes are in memory before another target begins
    return packets


def _more_planes(rng, packets, size, samples, form, params, begun):
    """States of further colour planes, some behind a clear of all of the plane.

    Some planes move. A few are written without a clear, lie on another plane, or are of a plane
    that there is not.
    """
    for number in range(1, params.reader.colour_planes):
        if rng.random() < 0.3:
            continue
        plane = number if rng.random() < 0.98 else int(rng.integers(0, COLOUR_PLANES))
        whole = rng.random() < (0.1 if plane in begun else 0.97)
        part = number + 4 * (plane in begun) if rng.random() < 0.97 else 0
        if whole:
            place = 2 * PLANE + part % COLOUR_PLANES * PLANE // COLOUR_PLANES
            packets.target(0, PLANE, place, plane)
        if whole or rng.random() < 0.3:
            low, high = sorted(rng.integers(0, max(size), 2))
            rectangle = (0, 0, *size) if whole else (low, low, high, high)
            value = int(rng.integers(0, 1 << 32))
            packets.clear(rectangle, colour=1, colour_value=value, colour_plane=plane)
            begun |= {plane} if whole else set()
        state = state_of(rng, size, samples, form, params)
        state["slot"] = plane
        if needs_second(state):  # which the first plane alone has
            state["blend_enable"] = rng.random() < 0.02
        if plane not in begun:
            state["colour_write"] = 0 if rng.random() < 0.5 else 15
        packets.state(state)


def resolve(rng: np.random.Generator, packets: CommandList, params: Any) -> None:
    """Resolve the surface that lies in memory, mostly behind a FENCE; as sRGB if that is known.

    A blend constant between them writes nothing.
    """
    if rng.random() < 0.9:
        packets.fence()
    if Opcode.BLEND_CONSTANT in params.reader.opcodes and rng.random() < 0.3:
        packets.blend_constant(depths.blend_constant(rng))
    fields = dict(SURFACE)
    fields["target"] += ALIGNED * int(rng.integers(0, 16))
    fields["target_cleared"] = int(rng.choice((SURFACE["source_cleared"], 0xFFFFFFFF)))
    fields["srgb"] = int(rng.integers(0, 1 + params.reader.resolves_srgb))
    packets.resolve(**fields)


def _clear(rng, packets, size, form, whole):
    """Clear a rectangle, or the whole target with all of its planes."""
    fields = depths.clear(rng, size, form, whole=whole)
    fields["depth_value"] = min(int(fields["depth_value"]), MOST[form])
    rectangle = [fields.pop(name) for name in ("x0", "y0", "x1", "y1")]
    packets.clear(
        rectangle,
        colour=whole or rng.random() < 0.5,
        colour_value=int(rng.integers(0, 1 << 32)),
        **fields,
    )


def state_of(
    rng: np.random.Generator, size: tuple[int, int], samples: int, form: DepthFormat, params: Any
) -> np.void:
    """A draw state that breaks no rule."""
    state = depths.state(rng, size, samples, form, params.reader.stencil)
    raster_state = scenes.state(rng)
    for name in state.dtype.names:
        if name in ("cull", "front_ccw") or (rng.random() < 0.1 and name.startswith("scissor")):
            state[name] = raster_state[name]
    for name in ("scissor_x", "scissor_y"):
        state[f"{name}0"] = min(state[f"{name}0"], state[f"{name}1"])
    if not state["early_write"] and not (state["early_reject"] and keeps_failing(state)):
        state["hiz_drop"] = 0  # or it would depend on when HiZ hears of writes what is shaded
    state["blend_enable"] = rng.integers(0, 2)
    state["logic_op_enable"] = rng.random() < 0.1
    state["logic_op"] = rng.integers(0, 16)
    if rng.random() < 0.5:  # else colours are mixed by their alpha
        enabled = state["blend_enable"]
        takes_constant = Opcode.BLEND_CONSTANT in params.reader.opcodes
        factors = [*PLAIN_FACTORS, *CONSTANT_FACTORS * takes_constant]
        factors += SECOND_FACTORS * params.reader.second
        for name in FACTORS:
            state[name] = rng.choice(factors) if enabled else rng.integers(0, 32)
        for name in ("blend_op", "blend_op_alpha"):
            state[name] = rng.choice(list(BlendOp)) if enabled else rng.integers(0, 8)
    state["flat_colour"] = rng.integers(0, 1 << 32)
    if params.reader.ring:
        state["built_in"] = rng.random() < 0.8
    state["colour_write"] = 15 if rng.random() < 0.7 else rng.integers(0, 16)
    form = rng.choice(list(params.reader.colour_formats))
    state["colour_format"] = form
    for enable in plane_formats.KINDS:
        state[enable] &= plane_formats.has(Format(form), enable, params.reader.floats)
    if form in WITHOUT_ALPHA:
        for name in ("src_blend", "dest_blend"):
            state[name] = BlendFactor.ONE if state[name] in OF_SHADER_ALPHA else state[name]
    return scenes.outer(rng, state, 0.3 * params.reader.conservative)


def keeps_failing(state: np.void) -> bool:
    """Whether samples that fail leave all stencil values as they are."""
    operations = (
        state[f"stencil_{face}_{name}"]
        for face in ("front", "back")
        for name in ("fail", "depth_fail")
    )
    return not state["stencil_test"] or all(op == StencilOp.KEEP for op in operations)


def spoil(rng: np.random.Generator, packets: CommandList) -> None:
    """Break a packet: flip a bit of its first words, or cut off the last packet."""
    parts = [part for part in packets.parts if len(part)]
    part = parts[int(rng.integers(0, len(parts)))]
    if rng.random() < 0.2:
        packets.parts[-1] = packets.parts[-1][:0]
    else:
        # Of a texture the other transfers hold addresses: it would be read where draws write.
        rows = 1 if opcode_of(part) == Opcode.TEXTURE else len(part)
        part[int(rng.integers(0, rows)), 0] ^= np.uint64(1) << np.uint64(
            rng.integers(0, 64) if rng.random() < 0.5 else rng.integers(0, 12)
        )


def starts(rows: np.ndarray) -> list:
    """STARTs in rows: a list of records of START, and the rows of each."""
    found = _streams(rows)
    records = codec.unpack(rows[[at for at, _ in found], :2], START, dtype(START))
    return [(record, rows[at + 1 : end]) for record, (at, end) in zip(records, found, strict=True)]


def _streams(rows: np.ndarray) -> list[tuple[int, int]]:
    """The row of every START, and the one behind its transfers."""
    marked = (rows[:, 2] >> COUNT_BITS == 0) & (rows[:, 3] >> COUNT_BITS == MARK >> COUNT_BITS)
    transfers = codec.unpack(rows[marked, :2], START, dtype(START))["transfers"]
    missing = rows[marked, 2].astype(np.int64)
    places = zip(np.flatnonzero(marked).tolist(), transfers.tolist(), missing.tolist(), strict=True)
    end = 0
    found = []
    for at, count, absent in places:
        if at >= end:
            end = at + 1 + count - absent
            found.append((at, end))
    return found


def memory(rows: np.ndarray, params: Any) -> np.ndarray:
    """Initial contents of memory: packets, a surface, and noise elsewhere."""
    rng = np.random.default_rng(len(rows))
    data = rng.integers(0, 256, SIZE, np.uint8)
    if params.resolve:
        _surface(rng, data)
    put_tables(rng, data)
    for start, transfers in starts(rows):
        packets = np.ascontiguousarray(transfers).view(np.uint8).ravel()
        data[start["address"] :][: len(packets)] = packets
    return data


def _surface(rng, data):
    """Tiles that are cleared, constant, of few colours, and noise."""
    edge = 8
    lx, ly = LANE_SHAPE[SURFACE["samples"]]
    columns, rows = -(-(SURFACE["width"] << lx) // edge), -(-(SURFACE["height"] << ly) // edge)
    cleared = np.array([SURFACE["source_cleared"]], "<u4").view(np.uint8)
    tiles = np.empty((rows * columns, edge, edge, 4), np.uint8)
    for n, tile in enumerate(tiles):
        colours = rng.integers(0, 256, (1 + n % 4, 4), np.uint8)
        tile[:] = colours[rng.integers(0, len(colours), (edge, edge))]
        if n % 5 == 0:
            tile[:] = cleared
        elif n % 5 == 1:
            tile[:] = rng.integers(0, 256, tile.shape)
    form = 4, SURFACE["samples"], cleared
    surface = CodedTiles(data[SURFACE["source"] :], rows, columns, *form)
    surface.write(tiles.reshape(rows, columns, edge, edge, 4))
