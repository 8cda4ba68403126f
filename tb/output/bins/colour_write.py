# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour write: masks of channels, blending, samples; clears; what meets in the cache."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import PLAIN_FACTORS, blending_known, draw_state
from fixfunc.rtl.output.colour_write import ColourWriteParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, quads
from fixfunc.spec.state import TARGET_LIMIT, BlendFactor, BlendOp, Kind, LogicOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag, of, samples_of
from fixfunc.tb.depth.bins import anywhere
from fixfunc.tb.depth.bins.cached_depth import moved
from fixfunc.tb.depth.bins.depth_test import of_beats
from fixfunc.tb.depth.bins.hiz import states_of
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE
from fixfunc.tb.output.colour_write import LARGEST, blend_values

EVENTS = CACHE
ALPHAS = {"src_blend_alpha": BlendFactor.DEST_ALPHA}
COLOURS = {"dest_blend": BlendFactor.DEST_ALPHA}


def directed(params: ColourWriteParams) -> list[Batch]:
    """Long targets; write-backs without end, before a memory that answers late, and before one that
    hardly takes anything; fences that hardly anyone takes, and such that flush; alphas and colours
    whose quotient carries.
    """
    rng = np.random.default_rng(1)
    edge = params.edge
    fences = [_edges(rng, edge), *(_fence(rng) for _ in range(160)), anywhere.FLUSH]
    return [
        Batch(_long_targets(params)),
        Batch(_bursts(rng, edge, 24, 0x0AAAAA00), memory={"latency": (400, 800)}),
        Batch(_bursts(rng, edge, 4, 0x05555500), memory={"ready": 2}),
        Batch(np.concatenate(fences), ("full", "starved")),
        Batch(_flushes(np.random.default_rng(2), edge)),
        Batch(_sums(np.random.default_rng(3), edge, [126, 3] * 4, 254 << 24, ALPHAS)),
        Batch(_sums(np.random.default_rng(4), edge, [0xFF0] * 8, 0xE7EFEFEF, COLOURS)),
    ]


def _long_targets(params):
    """Targets with tiles, clears and fences all over them; draws of a tile each."""
    rng = np.random.default_rng(0)
    edge = params.edge
    table = payloads.tile(edge)
    rows = []
    for n in range(16):
        samples = n // 2 % params.samples.bit_length()
        size = anywhere.long_size(rng, n)
        shape = LANE_SHAPE[samples]
        count = [-(-side * (1 << shift) // edge) for side, shift in zip(size, shape, strict=True)]
        tiles = np.zeros(160, dtype(table))
        tiles["x"], tiles["y"] = (rng.integers(0, side, len(tiles)) for side in count)
        tiles["mask"] = rng.integers(1, 1 << edge**2, len(tiles), np.uint64)
        tiles["slot"] = rng.integers(0, 1 << 12, len(tiles))
        tiles["last"] = 1
        tiles["exponent"] = rng.integers(0, 128, len(tiles))
        for name in ("z0", "dx", "dy", "zmin", "zmax"):
            tiles[name] = rng.integers(0, 1 << 24, len(tiles))
        x, y = (int(rng.integers(0, side)) for side in size)
        base = {"colour_base": (n % 2 + 1) * LARGEST}
        whole = {"x1": size[0], "y1": size[1], "colour": 1} | base
        part = {"x0": x, "y0": y, "x1": x + 9, "y1": y + 9, "colour": 1} | base
        state = _state(rng, size, samples, n)
        rows += [state, _clear(rng, whole), codec.pack(tiles, table, WIDTH), anywhere.FLUSH]
        rows += [_clear(rng, part), codec.pack(tiles[:40], table, WIDTH)]
        for m in range(40):
            rows += [_state(rng, size, samples, n), codec.pack(tiles[m : m + 1], table, WIDTH)]
        rows += [_fence(rng) for _ in range(40)]
        rows.append(anywhere.FLUSH)
    return np.concatenate(rows)


def _fence(rng):
    """A fence that does not flush."""
    fence = scenes.control(rng, payloads.FENCE, Kind.FENCE)
    fence["flush"] = 0
    return codec.pack(fence, payloads.FENCE, WIDTH)


def _flushes(rng, edge):
    """Fences with anything in them that flush targets of any width: a flush has a tile's number,
    which nothing reads.
    """
    tiles = _row(edge)[:4]
    rows = []
    for n, width in enumerate((16, 700, 3, 900, TARGET_LIMIT, 2, 5000, 600)):
        clear = {"x1": width, "y1": 1, "colour": 1, "colour_base": 0}
        rows += [anywhere.packed(draw_state(width, 1, 8, target=n)), _clear(rng, clear)]
        for turn in range(16):
            fence = scenes.control(rng, payloads.FENCE, Kind.FENCE)
            fence["flush"] = 1
            if turn % 2:  # one way of each set holds a tile
                rows.append(codec.pack(tiles, payloads.tile(edge), WIDTH))
            rows.append(codec.pack(fence, payloads.FENCE, WIDTH))
    return np.concatenate([*rows, anywhere.FLUSH])


def _sums(rng, edge, slots, cleared, factor):
    """Sums whose two halves, as one divides by 255, leave as much as can be in some tiles.

    The shader's colours are by ``slots``, those of the target are ``cleared``; factors are 1 but
    for one.
    """
    tiles = _row(edge)
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = 1
    tiles["slot"] = slots
    fields = {
        f"{side}_blend{alpha}": BlendFactor.ONE
        for side in ("src", "dest")
        for alpha in ("", "_alpha")
    }
    fields |= factor | {"blend_enable": 1}
    fields |= {"blend_op": BlendOp.ADD, "blend_op_alpha": BlendOp.ADD}
    clear = {"x1": 16, "y1": 1, "colour": 1, "colour_base": 0, "colour_value": cleared}
    rows = [anywhere.packed(draw_state(16, 1, 8, **fields))]
    for _ in range(4):
        rows += [_clear(rng, clear), codec.pack(tiles, payloads.tile(edge), WIDTH)]
    return np.concatenate([*rows, anywhere.FLUSH])


def _row(edge):
    """Eight tiles in a row, of a sample each."""
    tiles = np.zeros(8, dtype(payloads.tile(edge)))
    tiles["x"] = np.arange(8)
    tiles["mask"] = tiles["last"] = 1
    return tiles


def _edges(rng, edge):
    """Clears that begin beyond their target, and tiles that lie beyond it."""
    tiles = np.zeros(2, dtype(payloads.tile(edge)))
    tiles["mask"] = tiles["last"] = 1
    tiles["x"][1] = tiles["y"][1] = (1 << 14) - 1
    rows = []
    for size in ((TARGET_LIMIT, 1), (33, 33), (1, TARGET_LIMIT), (8, 8)):
        corner = {"x1": size[0], "y1": size[1], "colour": 1, "colour_base": LARGEST}
        beyond = corner | {"x0": (1 << 15) - 1, "y0": (1 << 15) - 1}
        rows += [anywhere.packed(draw_state(*size, 8, colour_write=15)), _clear(rng, corner)]
        rows += [_clear(rng, beyond), _clear(rng, corner | {"x0": 0})]
        rows.append(codec.pack(tiles, payloads.tile(edge), WIDTH))
    return np.concatenate(rows)


def _bursts(rng, edge, windows, base):
    """Tiles that are written one behind the other, in pairs of lines of the mode table, all over a
    large target; then hits of one that is read, and tiles that are as they were cleared.
    """
    table = payloads.tile(edge)
    columns = 64  # as many as a line has modes
    lines = 4000
    full = (1 << edge**2) - 1
    size = 2 * columns, lines  # with 8 samples a pixel a tile of 4 x 4 samples has 2 x 1
    fields = {"colour_write": 15, "blend_enable": 0, "flat_colour": int(rng.integers(0, 1 << 32))}
    clear = {"x1": size[0], "colour": 1, "colour_value": 0x12345678, "colour_base": base}
    whole = clear | {"y1": size[1]}
    rows = [anywhere.packed(draw_state(*size, 8, **fields)), _clear(rng, whole)]
    for n, half in enumerate(np.repeat(rng.integers(96, lines - 1, windows // 2), 2)):
        # Bits of the line that are 0 become 1, and the other way round.
        y = int((1 << 12) - 1 - half if n % 2 else half)
        tiles = np.zeros(2 * columns, dtype(table))
        place = rng.permutation(len(tiles))
        tiles["x"] = place % columns
        tiles["y"] = y - place // columns
        tiles["mask"] = full
        tiles["full"] = tiles["last"] = 1
        beats = codec.pack(tiles, table, WIDTH)
        rows += [beats, anywhere.FLUSH]
        row = {"y0": y - 3, "y1": y - 2}  # its tiles are dirty, and have nothing to send
        rows += [
            part for k in range(4) for part in (beats[9 * k : 9 * k + 9], _clear(rng, clear | row))
        ]
        rows.append(anywhere.FLUSH)
        tiles[:] = tiles[0]
        tiles["mask"] = 1
        tiles["full"] = 0
        rows += [codec.pack(tiles, table, WIDTH)] * 2
    pixel = _clear(rng, {"x1": 1, "y1": 1, "colour": 1, "colour_base": 0})
    rows += [anywhere.packed(draw_state(1, 1, **fields)), pixel, anywhere.FLUSH]
    return np.concatenate(rows)


def _state(rng, size, samples, target):
    state = draw_state(
        *size,
        1 << samples,
        target=target % 8,
    )
    state = depths.unread(rng, state)
    state["early_write"] = rng.integers(0, 2)
    state["colour_format"] = BASE_FORMATS[0]
    for field in payloads.BLEND_STATE:
        values = blend_values(rng, field.name, 1)
        if values is not None:
            state[field.name] = values[0]
    return anywhere.packed(state)


def _clear(rng, fields):
    """A clear with random bits in what belongs to other planes."""
    others = {f"{plane}_base": int(rng.integers(0, 1 << 32)) for plane in ("depth", "stencil")}
    others |= {"depth_value": int(rng.integers(0, 1 << 32)), "target": rng.integers(0, 8)}
    others |= {"stencil_value": rng.integers(0, 256), "colour_value": rng.integers(0, 1 << 32)}
    return scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **others | fields)


def bins(seen: Seen, params: ColourWriteParams) -> dict[str, int]:
    """Counts of one batch."""
    rows = seen.rows
    kind = rows[:, 0] & 3
    table = payloads.tile(params.edge)
    work = kind == Kind.WORK
    tiles = codec.unpack(rows[work], table, dtype(table))
    states = states_of(rows)[work]
    fences = codec.unpack(rows[kind == Kind.FENCE], payloads.FENCE, dtype(payloads.FENCE))
    clears = codec.unpack(rows[kind == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    handed_table = quads(params.edge, params.outputs)
    handed = codec.unpack(seen.out["probe_quads"], handed_table, dtype(handed_table))
    samples = samples_of(handed["samples"], range(params.samples.bit_length()))
    mask = tiles["mask"].astype(np.uint64)
    covered = {
        "nothing": mask == 0,
        "some": (mask != 0) & (tiles["full"] == 0),
        "all": (mask != 0) & (tiles["full"] == 1),
    }
    blend = flag(states["blend_enable"], "replaces", "blends")
    planes = params.formats, params.second, params.planes, params.floats
    known = np.array(
        [blending_known(state, *planes) for state in states],
        bool,
    )
    used = states[known & (mask != 0)]
    blends = (used["blend_enable"] == 1) & (used["logic_op_enable"] == 0)
    channels = equal(states["colour_write"], {f"{n:04b}": n for n in range(16)})
    helpers = handed["helpers"].astype(np.uint64) != 0
    return (
        cross("channels x blend", channels, blend, where=mask != 0)
        | _blending(used, blends)
        | cross("blending", flag(known, "refused", "known"), where=states["blend_enable"] == 1)
        | cross("covered x write", covered, flag(states["early_write"], "late", "early"))
        | cross("samples x helpers", samples, flag(helpers, "none", "helper pixels"))
        | cross("samples x face", samples, flag(handed["back"], "front", "back"))
        | cross("fence", flag(fences["flush"], "goes on", "flushes"))
        | cross("colour clear", flag(clears["colour"], "not cleared", "cleared"))
        | {k: v for k, v in of_beats(rows, params.edge).items() if k.startswith("the same tile")}
        | moved(seen.out["colour_counted"], "colour")
    )


def _blending(states, blends):
    """Factors, operations and logic operations of tiles of states that are known."""
    counts = cross(
        "logic operation", of(LogicOp, states["logic_op"]), where=states["logic_op_enable"] == 1
    )
    for alpha in ("", "_alpha"):
        op = states[f"blend_op{alpha}"]
        sums = blends & ~np.isin(op, (BlendOp.MIN, BlendOp.MAX))
        counts |= cross(f"blend_op{alpha}", of(BlendOp, op), where=blends)
        for side in ("src", "dest"):
            name = f"{side}_blend{alpha}"
            counts |= cross(name, of(PLAIN_FACTORS, states[name]), where=sums)
    return counts
