# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the tile cache: requests, modes in memory, and what meets in its pipelines."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.depth.compression.tile_modes import MODES
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCacheParams
from fixfunc.spec.payloads import DEPTH
from fixfunc.spec.state import CacheOp, TileMode
from fixfunc.tb.coverage.bins import Batch, Seen, add, cross, flag, of, samples_of
from fixfunc.tb.coverage.events import Event
from fixfunc.tb.memory import tile_cache

COUNT = 2000
COLUMNS = 64  # tiles: as many as a line has modes
LINES = (1 << 12) - 1
TAGS = r".*\.tags"
SCHEDULER = r".*\.scheduler"
# The set of a request is read in the clock that updates it: the read port forwards the update.
BYPASS = "$past(done && i__valid && next_index == index)"
EVENTS = (
    Event("tag array: hit", TAGS, "pending && hit"),
    Event("tag array: miss of a clean victim", TAGS, "pending && !hit && !evict"),
    Event("tag array: miss of a dirty victim", TAGS, "pending && evict"),
    Event("tag array: stall", TAGS, "pending && !o__ready"),
    Event("tag array: bypass hit", TAGS, f"{BYPASS} && pending && hit"),
    Event("tag array: bypass miss", TAGS, f"{BYPASS} && pending && !hit"),
    Event("tag array: bypass evicts", TAGS, f"{BYPASS} && pending && evict"),
    Event("miss scheduler: line misses", SCHEDULER, "miss"),
    Event("miss scheduler: evicts", rf"{SCHEDULER}\.write_backs", "insert"),
    Event("miss scheduler: lines in conflict", SCHEDULER, "enters && split"),
    Event("outstanding write-backs: eviction in flight", rf"{SCHEDULER}\.write_backs", "pending_0"),
    Event("outstanding write-backs: evicted again", rf"{SCHEDULER}\.write_backs", "pending_1"),
    Event("outstanding write-backs: full", rf"{SCHEDULER}\.evictions", "!available"),
    Event("victim: comes back from its row", SCHEDULER, "enters && fills && recalled"),
    Event(
        "victim: its row is gone",
        SCHEDULER,
        "valid && fills && write_backs__pending_0 && !recalled",
    ),
    Event("victim: its row is not complete", r".*\.refill", "recall__valid && !recalled__valid"),
    Event(
        "outstanding write-backs: insert and remove",
        rf"{SCHEDULER}\.write_backs",
        "insert && remove",
    ),
    Event(
        "refill unit: answers while it asks", r".*\.refill\.reader", "o__valid && memory__arvalid"
    ),
)


class Observed(tile_cache.Reference):
    """The golden caches, which count the modes of what is written back."""

    def __init__(self, params: TileCacheParams) -> None:
        super().__init__(params)
        self.counts = _transitions([], [], params)

    def _clear(self, record):
        super()._clear(record)
        cache = self._cache
        encode = cache._encode_pending

        def observed():
            written = [tile for tile, content in cache._pending if content]
            once = [tile for tile in written if written.count(tile) == 1]
            before = [int(cache._modes[tile]) for tile in once]
            encode()
            after = [int(cache._modes[tile]) for tile in once]
            add(self.counts, _transitions(before, after, self._params))

        cache._encode_pending = observed


def _transitions(before, after, params):
    modes = MODES if params.bits == DEPTH else (TileMode.CLEARED, TileMode.RAW)
    return cross("mode to mode", of(modes, np.array(before)), of(modes, np.array(after)))


def bins(seen: Seen, params: TileCacheParams) -> dict[str, int]:
    """Counts of one batch."""
    golden = Observed(params)
    golden.expected(seen.rows)
    table = tile_cache.work(params.edge)
    records = codec.unpack(seen.rows, table, dtype(table))
    uses = records[records["op"] == CacheOp.USE]
    written = uses["written"].astype(int)
    masks = {
        "nothing": written == 0,
        "some": (written != 0) & (written != (1 << params.edge**2) - 1),
        "all": written == (1 << params.edge**2) - 1,
    }
    op = records["op"]
    clears = records[op == CacheOp.CLEAR]
    same = np.append(False, uses["number"][1:] == uses["number"][:-1]) if len(uses) else written > 0
    near = [CacheOp.USE, CacheOp.CLEAR, CacheOp.FLUSH]
    return (
        golden.counts
        | cross(
            "use",
            flag(uses["needed"], "not needed", "needed"),
            flag(uses["writes"], "reads", "writes"),
            masks,
            flag(uses["exact"], "other depths", "plane"),
        )
        | cross("the tile of the request before", flag(same, "another", "same"))
        | cross("request x the one before", of(near, op[1:]), of(near, op[:-1]))
        | cross("target", samples_of(clears["samples"], range(params.samples.bit_length())))
    )


def directed(params: TileCacheParams) -> list[Batch]:
    """Tiles of every mode; then write-backs without end, before a memory that answers late, and
    before one that hardly takes anything; more victims than may be pending.
    """
    rng = np.random.default_rng(1)
    edge = params.edge
    return [
        Batch(_every_mode(params)),
        Batch(_packed(_bursts(rng, edge), edge), memory={"latency": (400, 800)}),
        Batch(_packed(_bursts(rng, edge, 4, range(15, 48)), edge), memory={"ready": 4}),
        Batch(
            _packed(_victims(np.random.default_rng(3), edge), edge), memory={"latency": (400, 800)}
        ),
    ]


def _every_mode(params):
    """A tile of four planes goes to memory and comes back, to become a tile of every mode."""
    edge = params.edge
    full = (1 << edge**2) - 1
    share = edge**2 // 4  # samples of a plane
    begin = {"op": CacheOp.CLEAR, "number": 1, "cleared": 9, "x": 1, "y": 1}
    flush = {"op": CacheOp.FLUSH}

    def write(written, plane, exact=1):
        place = {"z0": (1000 + 700 * plane) << 8, "dx": plane << 8, "dy": (3 * plane) << 8}
        return {"op": CacheOp.USE, "needed": 1, "writes": 1, "exact": exact, "written": written} | (
            place if plane else {"z0": 9 << 8}
        )

    parts = [((1 << share) - 1) << (share * n) for n in range(4)]
    four = [begin, *(write(part, n + 1) for n, part in enumerate(parts)), flush]
    then = [
        [write(full, 0)],
        [write(full, 5)],
        [write(full, 5), write(parts[0], 6)],
        [write(full, 5), write(parts[0], 6), write(parts[1], 7)],
        [write(parts[0], 5)],
        [write(full, 5, exact=0)],
        [write(full, 5), *(write(1 << n, 1000 + 1300 * n, exact=0) for n in range(edge**2))],
        [write(parts[0], 5, exact=0)],
    ]
    rows = [row for last in then for row in (*four, *last, flush)]
    for used in range(1, 1 << 4):  # of planes written one after the other these have samples
        last = used.bit_length() - 1
        rows.append(begin)
        for n in range(last):
            rows.append(write(parts[n] if used >> n & 1 else parts[3], n + 1))
        kept = sum(parts[n] for n in range(last) if used >> n & 1)
        rows += [write(parts[3], last + 1), write(full & ~kept, last + 1), flush]
    rng = np.random.default_rng(0)
    rows += _any_planes(rng, parts) + _far(rng, edge) + _odd_rows(parts)
    return _packed(rows, edge)


def _packed(rows, edge):
    """Requests, of fields by name, as beats."""
    records = np.zeros(len(rows), dtype(tile_cache.work(edge)))
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            record[name] = value
    return codec.pack(records, tile_cache.work(edge))


def _any_planes(rng, parts):
    """Tiles of four planes of any slope go to memory and come back, to go there again."""
    rows = []
    for n in range(80):
        target = {"samples": n % 4}
        pool = tile_cache.planes(rng, 5)
        clear = {"op": CacheOp.CLEAR, "number": 1, "x": 1, "y": 1}
        rows.append(clear | target | {"cleared": int(rng.integers(0, 1 << 24))})
        for k, plane in enumerate(pool):
            fields = {name: plane[name] for name in plane.dtype.names}
            use = {"op": CacheOp.USE, "needed": 1, "writes": 1, "exact": 1, "written": parts[k % 4]}
            rows.append(use | target | fields)
            if k == 3:
                rows.append({"op": CacheOp.FLUSH})
        rows.append({"op": CacheOp.FLUSH})
    return rows


def _far(rng, edge):
    """Targets as wide, or as high, as can be, anywhere in 2^28 bytes; tiles all over them."""
    rows = []
    for columns, lines, samples in ((1 << 13, 31, 3), (1 << 4, (1 << 14) - 1, 3)) * 2:
        pool = tile_cache.planes(rng, 6)
        cleared = int(rng.integers(0, 1 << 24))
        pool[0] = cleared << 8, 0, 0
        target = {"samples": samples, "base": int(rng.integers(0, 1 << 20)) << 8}
        clear = {"op": CacheOp.CLEAR, "cleared": cleared, "number": columns * lines}
        rows.append(clear | target | {"x": columns, "y": lines})
        for n in range(400):
            x, y = (int(rng.integers(0, side)) for side in (columns, lines))
            use = tile_cache.use(rng, x, y, columns, pool, edge) | target
            if n < 250:  # tiles that are not read follow each other: many writes are in flight
                use |= {"needed": 0, "writes": 1, "exact": 0, "written": (1 << edge**2) - 1}
            rows.append(use)
            if n > 250 and rng.random() < 0.1:
                rows.append({"op": CacheOp.FLUSH})
        rows.append({"op": CacheOp.FLUSH})
    return rows


def _odd_rows(parts):
    """Planes that gain an odd step from one row of pixels to the next, with 8 samples a pixel."""
    target = {"samples": 3}
    rows = []
    for n in range(4):
        rows.append({"op": CacheOp.CLEAR, "number": 1, "x": 1, "y": 1, "cleared": n} | target)
        for k, part in enumerate(parts):
            plane = {"z0": k << 20, "dx": 1 + k, "dy": 1 + (n + k) % 2}
            use = {"op": CacheOp.USE, "needed": 1, "writes": 1, "exact": 1, "written": part}
            rows.append(use | target | plane)
        # What has come back is written again by a plane more.
        rows += [{"op": CacheOp.FLUSH}, rows[-1] | {"dx": 9}, {"op": CacheOp.FLUSH}]
    return rows


def _pairs_of_lines(rng, windows):
    """A line of the mode table, and the one beside it, anywhere on a large target.

    Bits of the first that are 0 become 1, and the other way round.
    """
    for n, half in enumerate(np.repeat(rng.integers(0, LINES, windows // 2), 2)):
        y = int(LINES - 1 - half if n % 2 else half)
        yield y, y + 1 if y + 1 < LINES else y - 1


def _victims(rng, edge, windows=24):
    """Tiles of two lines that are written as a whole, each of which evicts one.

    Between the lines a tile is read, which those behind it wait for.
    """
    pool = tile_cache.planes(rng, 6)
    target = {"samples": 2, "base": int(rng.integers(0, 1 << 19)) << 8}
    clear = {"op": CacheOp.CLEAR, "number": COLUMNS * LINES, "x": COLUMNS, "y": LINES}
    rows = [clear | target]
    written = {"needed": 0, "writes": 1, "written": (1 << edge**2) - 1, "exact": 1}
    for lines in _pairs_of_lines(rng, windows):
        for y in lines:
            if y != lines[0]:
                use = tile_cache.use(rng, int(rng.integers(COLUMNS)), lines[0], COLUMNS, pool, edge)
                rows.append(use | target | {"needed": 1, "writes": 0, "written": 0})
            for x in rng.permutation(COLUMNS):
                rows.append(tile_cache.use(rng, int(x), y, COLUMNS, pool, edge) | target | written)
        rows.append({"op": CacheOp.FLUSH})
    return [*rows, {"op": CacheOp.CLEAR, "number": 1, "x": 1, "y": 1}]


def _bursts(rng, edge, windows=24, without_samples=()):
    """Misses one behind the other in pairs of lines of the mode table, all over a large target.

    One line has tiles that are written, those ``without_samples`` in name alone; the other has
    tiles that are read: behind a tile that is evicted come many that are filled.
    """
    pool = tile_cache.planes(rng, 6)
    cleared = int(rng.integers(0, 1 << 24))
    pool[0] = cleared << 8, 0, 0
    target = {"samples": 2, "base": int(rng.integers(0, 1 << 19)) << 8}
    clear = {"op": CacheOp.CLEAR, "cleared": cleared, "number": COLUMNS * LINES}
    rows = [clear | target | {"x": COLUMNS, "y": LINES}]
    for n, (y, beside) in enumerate(_pairs_of_lines(rng, windows)):
        written = [(int(x), y) for x in rng.permutation(COLUMNS)]
        read = [(int(x), beside) for x in rng.permutation(COLUMNS)] * 3
        places = written[:40]
        for k, place in enumerate(written[40:]):
            places += [place, *read[6 * k : 6 * k + 6]]
        unwritten = [written[k] for k in without_samples]
        for x, row in places:
            use = tile_cache.use(rng, x, row, COLUMNS, pool, edge) | target
            if row == y:
                mask = 0 if (x, row) in unwritten else (1 << edge**2) - 1
                use |= {"needed": mask == 0, "writes": 1, "written": mask}
                use["exact"] = n // 2 % 2
            else:
                use |= {"needed": 1, "writes": 0, "written": 0}
            rows.append(use)
        rows.append({"op": CacheOp.FLUSH})
    return [*rows, clear | {"number": 1, "x": 1, "y": 1}]
