# SPDX-License-Identifier: BSD-2-Clause
"""Targets of cached depth anywhere in memory: as long as can be, and with misses without end."""

from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, Compare, DepthFormat, Kind, StencilOp
from fixfunc.tb.bench import depths
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.depth.bins import anywhere
from fixfunc.tb.depth.cached_depth import LARGEST

BASES = 0x0AAAAA00, 0x05555500  # of planes far apart: each bit below 2^28 is in one of them
COLUMNS = 64  # tiles of a line of the mode table
LINES = 4000
REPLACES = {"stencil_read": 255, "stencil_write": 255, "stencil_test": 1} | {
    f"stencil_{face}_{name}": value
    for face in ("front", "back")
    for name, value in (("func", Compare.ALWAYS), ("pass", StencilOp.REPLACE))
}


def based(rows: np.ndarray, depth: int, stencil: int) -> np.ndarray:
    """The same beats, whose clears put the planes of a target to these places."""
    rows = rows.copy()
    chosen = rows[:, 0] & 3 == Kind.CLEAR
    records = codec.unpack(rows[chosen], payloads.CLEAR, dtype(payloads.CLEAR))
    records["depth_base"] = depth
    records["stencil_base"] = stencil
    rows[chosen] = codec.pack(records, payloads.CLEAR, WIDTH)
    return rows


def unbounded(rows: np.ndarray, edge: int) -> np.ndarray:
    """The same beats, whose triangles have any depth: HiZ tells nothing by their vertices."""
    rows = rows.copy()
    table = payloads.tile(edge)
    chosen = rows[:, 0] & 3 == Kind.WORK
    tiles = codec.unpack(rows[chosen], table, dtype(table))
    tiles["zmin"] = 0
    tiles["zmax"] = (1 << 24) - 1
    rows[chosen] = codec.pack(tiles, table, WIDTH)
    return rows


def long_targets(rng: np.random.Generator, params: Any) -> np.ndarray:
    """Long targets, with small clears and tiles all over them, and clears beyond them."""
    rows = []
    for n in range(16):
        samples = n // 2 % params.samples.bit_length()
        # Sides are such that no tile has samples beyond the target.
        size = (
            (TARGET_LIMIT, 28)
            if n == 14
            else [side + -side % 4 for side in anywhere.long_size(rng, n)]
        )
        form = DepthFormat(n % 3)
        tiles = _tiles(rng, params.edge, size, samples, form)
        whole = {"x1": size[0], "y1": size[1]}
        end = {"x0": size[0] - 1, "y0": size[1] - 1} | whole
        first = (1 << 15) - 1
        beyond = {"x0": first, "y0": first, "x1": first, "y1": first}
        for turn in range(4):
            state = depths.state(rng, size, 1 << samples, form)
            if turn > 1:  # its tiles are written late
                state["early_write"] = state["hiz_accept"] = 0
            x, y = (int(rng.integers(0, side)) for side in size)
            part = {"x0": x, "y0": y, "x1": x + 9, "y1": y + 9}
            # A clear of all of a long target writes thousands of lines of the mode table.
            parts = (part, beyond) if turn % 2 else (whole, *((end, part) if turn else (part, end)))
            rows.append(anywhere.packed(depths.unread(rng, state)))
            rows += [_clear(rng, form, fields) for fields in parts]
            rows.append(codec.pack(tiles[15 * turn :], payloads.tile(params.edge), WIDTH))
        rows.append(anywhere.FLUSH)
    return based(np.concatenate(rows), LARGEST, 2 * LARGEST)


def corners(rng: np.random.Generator, edge: int) -> np.ndarray:
    """Clears of the last pixel, of one before it, and of none, in any order behind whole ones."""
    tiles = np.zeros(6, dtype(payloads.tile(edge)))
    tiles["mask"] = tiles["last"] = 1
    tiles["zmax"] = (1 << 24) - 1
    tiles["x"][5] = tiles["y"][5] = (1 << 14) - 1  # far beyond every target
    beats = codec.pack(tiles, payloads.tile(edge), WIDTH)
    rows = []
    for size in ((TARGET_LIMIT, 4), (8, TARGET_LIMIT), (72, 36), (40, 8), (1 << 12, 4)):
        whole = {"x1": size[0], "y1": size[1]}
        end = {"x0": size[0] - 1, "y0": size[1] - 1} | whole
        before = {name: side - 1 for name, side in end.items()}
        beyond = dict.fromkeys(end, (1 << 15) - 1)
        rows.append(anywhere.packed(draw_state(*size, 8)))
        for pair in ((end, before), (before, end), (beyond, before), (before, beyond)):
            rows += [_clear(rng, DepthFormat.D24, fields) for fields in (whole, *pair)]
            rows.append(beats)
        rows.append(anywhere.FLUSH)
    return based(np.concatenate(rows), LARGEST, 2 * LARGEST)


def _clear(rng, form, fields):
    """A clear of both planes with any legal depth."""
    most = {DepthFormat.D16: 0xFFFF, DepthFormat.D24: 0xFFFFFF, DepthFormat.D32F: 0x3F800000}
    values = {
        "depth_value": int(rng.integers(0, most[form] + 1)),
        "stencil_value": rng.integers(0, 256),
        "target": 0,
    }
    return depths.clear_beat(rng, depth=1, stencil=1, **values | fields)


def _tiles(rng, edge, size, samples, form):
    """Tiles anywhere on a target."""
    count = [
        -(-side * (1 << shift) // edge)
        for side, shift in zip(size, LANE_SHAPE[samples], strict=True)
    ]
    tiles = np.zeros(60, dtype(payloads.tile(edge)))
    tiles["x"], tiles["y"] = (rng.integers(0, side, len(tiles)) for side in count)
    tiles["mask"] = rng.integers(1, 1 << edge**2, len(tiles), np.uint64)
    tiles["last"] = 1
    tiles["z0"] = rng.integers(0, 1 << 32, len(tiles), np.uint32)
    for name in ("dx", "dy"):
        tiles[name] = rng.integers(-1 << 20, 1 << 20, len(tiles)) << rng.integers(0, 12, len(tiles))
    tiles["zmax"] = (1 << 24) - 1
    tiles["exponent"] = rng.integers(0, 128, len(tiles)) * (form == DepthFormat.D32F)
    tiles["back"] = rng.integers(0, 2, len(tiles))
    return tiles


def planes(rng: np.random.Generator, edge: int) -> np.ndarray:
    """Tiles of four planes of any slope go to memory and come back, to take others in any order."""
    share = edge**2 // 4
    tiles = np.zeros(12, dtype(payloads.tile(edge)))
    tiles["last"] = 1
    tiles["zmax"] = (1 << 24) - 1
    rows = []
    for n in range(64):
        order = rng.permutation(edge**2).reshape(4, share)
        parts = [sum(1 << int(lane) for lane in lanes) for lanes in order]
        tiles["mask"] = [*parts, *(parts[k] for k in rng.integers(0, 4, 8))]
        # Between a quarter and three quarters of all depths no sample is cut.
        tiles["z0"] = rng.integers(1 << 30, 3 << 30, 12, np.uint32)
        for name in ("dx", "dy"):
            tiles[name] = rng.integers(-1 << 26, 1 << 26, 12) >> rng.integers(0, 20, 12)
        for name in ("z0", "dx", "dy"):  # some planes come twice
            tiles[name][6::3] = tiles[name][5:11:3]
        samples = 1 << n % 4
        state = draw_state(
            edge, edge, samples, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS
        )
        rows += [anywhere.packed(state), _clear(rng, DepthFormat.D24, {"x1": edge, "y1": edge})]
        beats = codec.pack(tiles, payloads.tile(edge), WIDTH)
        rows += [beats[:4], anywhere.FLUSH, beats[4 : 5 + n % 8], anywhere.FLUSH]
    return np.concatenate(rows)


def crowds(rng: np.random.Generator, edge: int) -> np.ndarray:
    """More tiles than outputs have room for: of a draw that is written late, and of another."""
    size = 4 * edge
    state = draw_state(size, size, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
    early = anywhere.packed(state)
    state["early_write"] = state["hiz_accept"] = 0
    tiles = np.zeros(16, dtype(payloads.tile(edge)))
    tiles["x"], tiles["y"] = np.arange(16) % 4, np.arange(16) // 4
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    beats = np.tile(codec.pack(tiles, payloads.tile(edge), WIDTH), (30, 1))
    clear = _clear(rng, DepthFormat.D24, {"x1": size, "y1": size})
    return np.concatenate([anywhere.packed(state), clear, beats, early, beats, anywhere.FLUSH])


def late_hits(rng: np.random.Generator, edge: int) -> np.ndarray:
    """A draw that is written late: tiles that others must leave for, then the last of them again.

    Before a memory that hardly takes anything what is done with these waits behind those that
    leave, and tiles come back from their shader while no more of it may.
    """
    side = 16
    size = side * edge
    rows = []
    for misses in (40, 48, 56, 64):
        state = draw_state(size, size, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
        state["early_write"] = state["hiz_accept"] = 0
        tiles = np.zeros(misses + 600, dtype(payloads.tile(edge)))
        place = np.arange(misses)
        place = np.append(place, np.resize(place[-8:], 600))
        tiles["x"], tiles["y"] = place % side, place // side
        tiles["mask"] = (1 << edge**2) - 1
        tiles["full"] = tiles["last"] = 1
        tiles["z0"] = rng.integers(0, 1 << 32, len(tiles), np.uint32)
        tiles["zmax"] = (1 << 24) - 1
        clear = _clear(rng, DepthFormat.D24, {"x1": size, "y1": size})
        beats = codec.pack(tiles, payloads.tile(edge), WIDTH)
        rows += [anywhere.packed(state), clear, beats, anywhere.FLUSH]
    return np.concatenate(rows)


def one_bank(rng: np.random.Generator, edge: int) -> np.ndarray:
    """Tiles of one bank of HiZ, without a gap: reports wait for one."""
    size = 8 * edge
    state = draw_state(size, size, depth_test=1, depth_write=1, depth_compare=Compare.ALWAYS)
    tiles = np.zeros(16, dtype(payloads.tile(edge)))
    tiles["x"], tiles["y"] = np.arange(16) % 4 * 2, np.arange(16) // 4 * 2
    tiles["mask"] = tiles["last"] = 1
    beats = np.tile(codec.pack(tiles, payloads.tile(edge), WIDTH), (30, 1))
    clear = _clear(rng, DepthFormat.D24, {"x1": size, "y1": size})
    return np.concatenate([anywhere.packed(state), clear, beats, anywhere.FLUSH])


def held_reports(rng: np.random.Generator, edge: int) -> np.ndarray:
    """Tests whose reports wait for one, whose tile comes again and again until the end.

    HiZ drops it each time, so that no further test of it is in flight.
    """
    state = draw_state(4 * edge, 4 * edge, depth_test=1, depth_write=1, depth_compare=Compare.LESS)
    state["hiz_accept"] = 0
    whole = {"x1": 4 * edge, "y1": 4 * edge}
    clear = _clear(rng, DepthFormat.D24, whole | {"depth_value": 1 << 23})
    tests = np.append(0, np.arange(1, 2 * 119, 2))
    tiles = np.zeros(tests[-1] + 300, dtype(payloads.tile(edge)))
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = 1
    tiles["zmin"] = 3 << 22  # behind what the clear has left
    n = np.arange(len(tests))
    place = np.where(n, 1 + n % 15, 0)  # all other tiles of the target in turn
    tiles["x"][tests], tiles["y"][tests] = place % 4, place // 4
    tiles["zmin"][tests] = (1 << 22) - 100 * n
    tiles["zmax"] = tiles["zmin"]
    tiles["z0"] = tiles["zmin"].astype(np.uint32) << 8
    beats = codec.pack(tiles, payloads.tile(edge), WIDTH)
    return np.concatenate([anywhere.packed(state), clear, beats, anywhere.FLUSH])


def held_requests(rng: np.random.Generator) -> np.ndarray:
    """Tiles of a clear behind one of all of a large target, for which the caches write many lines.

    They are more than the queues have room for.
    """
    size = 2 * COLUMNS, LINES  # with 8 samples a pixel a tile of 4 x 4 samples has 2 x 1
    rows = [
        anywhere.packed(draw_state(*size, 8)),
        _clear(rng, DepthFormat.D24, {"x1": size[0], "y1": size[1]}),
        _clear(rng, DepthFormat.D24, {"y0": 8, "x1": size[0], "y1": 16}),
    ]
    return np.concatenate([*rows, anywhere.FLUSH])


def bursts(
    rng: np.random.Generator, edge: int, windows: int, form: DepthFormat, swapped: bool
) -> np.ndarray:
    """Tiles that are written one behind the other, in pairs of lines of the mode table.

    The lines lie anywhere on a large target. Then come tiles of which no sample passes, and hits
    behind a tile that has to be fetched.
    """
    size = 2 * COLUMNS, LINES  # with 8 samples a pixel a tile of 4 x 4 samples has 2 x 1
    fields = {"depth_test": 1, "depth_write": 1, "depth_format": form} | REPLACES
    write = draw_state(*size, 8, depth_compare=Compare.ALWAYS, stencil_ref=0xA5, **fields)
    fail = draw_state(*size, 8, depth_compare=Compare.NEVER, stencil_ref=0x5A, **fields)
    fail["hiz_drop"] = 0
    rows = [anywhere.packed(write), _clear(rng, form, {"x1": size[0], "y1": size[1]})]
    for n, half in enumerate(np.repeat(rng.integers(96, LINES - 1, windows // 2), 2)):
        # Bits of the line that are 0 become 1, and the other way round.
        y = int((1 << 12) - 1 - half if n % 2 else half)
        tiles = _window(rng, edge, y)
        beats = codec.pack(tiles, payloads.tile(edge), WIDTH)
        hits = np.concatenate([beats[:13], np.tile(beats[:12], (25, 1))])
        rows += [anywhere.packed(write), beats[:40], anywhere.packed(fail), beats[40:80]]
        rows += [anywhere.packed(write), beats[80:]]
        if n < 4:
            rows += [np.tile(beats[-8:], (30, 1)), anywhere.FLUSH, hits]
        rows.append(anywhere.FLUSH)
    small = draw_state(1, 1)
    rows += [anywhere.packed(small), _clear(rng, DepthFormat.D24, {"x1": 1, "y1": 1})]
    out = np.concatenate([*rows, anywhere.FLUSH])
    return based(out, *BASES[:: -1 if swapped else 1])


def _window(rng, edge, y):
    """All tiles of two rows, in any order."""
    tiles = np.zeros(2 * COLUMNS, dtype(payloads.tile(edge)))
    place = rng.permutation(len(tiles))
    tiles["x"] = place % COLUMNS
    tiles["y"] = y - place // COLUMNS
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    tiles["z0"] = rng.integers(1 << 30, 3 << 30, len(tiles), np.uint32)
    tiles["dx"] = rng.integers(-1 << 10, 1 << 10, len(tiles))
    tiles["zmax"] = (1 << 24) - 1
    return tiles
