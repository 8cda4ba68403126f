# SPDX-License-Identifier: BSD-2-Clause
"""Triangles that find mistakes: every kind sees something the others do not."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import FAR, FAR_FLOAT, ONE, TRIANGLE, Z_MAX
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, DepthFormat, Kind

# s15.8
LOW = -(1 << 23)
HIGH = (1 << 23) - 1

# Fields of a draw state that neither setup nor the rasterizer reads.
UNREAD = {
    f.name
    for f in payloads.DRAW_STATE
    if f.name.startswith(("stencil", "hiz", "early", "depth_", "bias_s", "bias_cl", "colour"))
    and f.name not in ("depth_format", "depth_min", "depth_max")
} | {"slot", *payloads.OUTPUT_STATE}


def _around(rng, n, width, height, size):
    centre = np.stack(
        [rng.integers(0, width * 256 + 1, n), rng.integers(0, height * 256 + 1, n)], -1
    )
    return centre[:, None] + rng.integers(-size, size + 1, (n, 3, 2))


def _lattice(rng, n, width, height):  # half pixels: ties of every edge with sample positions
    return rng.integers(-4, 2 * np.array([width, height]) + 5, (n, 3, 2)) * 128


def _axis_aligned(rng, n, width, height):
    corners = _lattice(rng, n, width, height)
    corners[:, 1, 1] = corners[:, 0, 1]
    corners[:, 2, 0] = corners[:, 0, 0]
    first = rng.integers(0, 3, (n, 1))  # any two edges of the three
    return corners[np.arange(n)[:, None], (first + np.arange(3)) % 3]


def _sliver(rng, n, width, height):
    out = _around(rng, n, width, height, 4000)
    out[:, 2] = out[:, 1] + rng.integers(-40, 41, (n, 2))
    return out


def _needle(rng, n, width, height):  # so thin that depths may change by any number a pixel
    out = _around(rng, n, width, height, 6000)
    through = rng.random(n) < 0.5  # edges through pixel centres, which they may cover
    out[through] = out[through] // 256 * 256 + 128
    along = np.round((out[:, 1] - out[:, 0]) * rng.random((n, 1))).astype(np.int64)
    out[:, 2] = out[:, 0] + along + rng.integers(-2, 3, (n, 2))
    return out


def _tile_border(rng, n, width, height):
    return _around(rng, n, width, height, 8000) // 1024 * 1024 + rng.integers(-1, 2, (n, 3, 2))


def _zero_area(rng, n, width, height):
    out = _around(rng, n, width, height, 3000)
    out[:, 2] = 2 * out[:, 1] - out[:, 0]
    return out


def _range_ends(rng, n, width, height):
    out = rng.choice([LOW, LOW + 1, -1, 0, 128, HIGH - 1, HIGH], (n, 3, 2))
    inner = rng.random(n) < 0.5
    out[inner, 0] = _around(rng, n, width, height, 100)[inner, 0]
    return out


KINDS = {
    "large": (2, lambda rng, n, w, h: _around(rng, n, w, h, 40000)),
    "middle": (6, lambda rng, n, w, h: _around(rng, n, w, h, 5000)),
    "small": (6, lambda rng, n, w, h: _around(rng, n, w, h, 700)),
    "tiny": (4, lambda rng, n, w, h: _around(rng, n, w, h, 100)),
    "lattice": (4, _lattice),
    "axis_aligned": (3, _axis_aligned),
    "sliver": (4, _sliver),
    "needle": (2, _needle),
    "tile_border": (3, _tile_border),
    "zero_area": (1, _zero_area),
    "range_ends": (1, _range_ends),
}


def corners(rng: np.random.Generator, n: int, width: int, height: int) -> np.ndarray:
    """Corners of n triangles, kinds mixed: int64, shape (n, 3, 2), 1/256 pixel."""
    weights = np.array([weight for weight, _ in KINDS.values()], float)
    kinds = rng.choice(len(KINDS), n, p=weights / weights.sum())
    out = np.zeros((n, 3, 2), np.int64)
    for kind, (_, make) in enumerate(KINDS.values()):
        selected = kinds == kind
        out[selected] = make(rng, int(selected.sum()), width, height)
    return np.clip(out, LOW, HIGH)


# Ends of what a vertex may have: of its field, and of what setup takes it for.
SIGNED = [-(1 << 39), (1 << 39) - 1, -FAR - 1, -FAR, FAR, FAR + 1, -1, -Z_MAX, -Z_MAX - 1]


def depths(rng: np.random.Generator, n: int, form: DepthFormat = DepthFormat.D24) -> np.ndarray:
    """Depths of the vertices of n triangles, as ``TRIANGLE`` has them: int64, shape (n, 3).

    Any; close to one another; far beyond 0 to 1 on either side; or at the ends of the range and
    beyond, denormals of D32F too.
    """
    is_float = form == DepthFormat.D32F
    most = ONE if is_float else Z_MAX
    out = rng.integers(0, most + 1, (n, 3))
    close = rng.random(n) < 0.5
    reach = 1 << rng.integers(1, 26, (int(close.sum()), 1)) if is_float else 1 << 20
    out[close] = out[close, :1] + rng.integers(-reach, reach, (int(close.sum()), 3))
    ends = [0, 1, (1 << 23) - 1, 1 << 23, ONE - 1] if is_float else [0, 255, 256]
    ends += [most, most + 1, 0x7F800000, 0x80000000, (1 << 32) - 1]
    out = np.clip(out, 0, most)
    out[rng.random(n) < 0.05] = rng.choice(ends, 3)
    other = rng.spawn(1)[0]
    beyond = np.flatnonzero(other.random(n) < 0.15)
    out[beyond] = far(other, len(beyond), form)
    ends = [FAR_FLOAT, FAR_FLOAT + 1, 1 << 31 | FAR_FLOAT, 1 << 31 | ONE] if is_float else SIGNED
    at_ends = np.flatnonzero(other.random(n) < 0.03)
    out[at_ends] = other.choice(ends, (len(at_ends), 3))
    return out


def far(rng: np.random.Generator, n: int, form: DepthFormat = DepthFormat.D24) -> np.ndarray:
    """Depths of n triangles without depth clip, up to 127 times the range on either side of it."""
    if form == DepthFormat.D32F:
        magnitudes = rng.integers(120 << 23, FAR_FLOAT + 1, (n, 3))
        return magnitudes | rng.integers(0, 2, (n, 3)) << 31
    reach = FAR >> rng.integers(0, 9, (n, 1))
    return rng.integers(-reach, reach + 1, (n, 3))


def triangles(
    rng: np.random.Generator,
    n: int,
    width: int,
    height: int,
    form: DepthFormat = DepthFormat.D24,
) -> np.ndarray:
    """n triangles of mixed kinds, as records of ``TRIANGLE``, for a target of a depth format."""
    place = corners(rng, n, width, height)
    out = np.zeros(n, TRIANGLE)
    out["slot"] = rng.integers(0, 1 << 12, n)
    out["state"] = rng.integers(0, 1 << 4, n)
    z = depths(rng, n, form)
    for k in range(3):
        out[f"x{k}"] = place[:, k, 0]
        out[f"y{k}"] = place[:, k, 1]
        out[f"z{k}"] = z[:, k]
    return out


def state(
    rng: np.random.Generator,
    most_samples: int = 8,
    most_pixels: int = 320,
    conservative: float = 0,
) -> np.void:
    """A random draw state: target, viewport, scissor, samples and cull mode all vary.

    A share of those with one sample has ``conservative`` coverage.
    """
    width, height = (int(v) for v in rng.integers(1, most_pixels + 1, 2))
    rectangle = {}
    for name, low in (("viewport", -40), ("scissor", 0)):
        if rng.random() < 0.5:
            x0, y0 = (int(v) for v in rng.integers(low, 40, 2))
            x1 = min(max(x0, width + int(rng.integers(-40, 40))), TARGET_LIMIT)
            y1 = min(max(y0, height + int(rng.integers(-40, 40))), TARGET_LIMIT)
            rectangle[name] = x0, y0, x1, y1
    draw = draw_state(
        width,
        height,
        int(rng.choice([s for s in (1, 2, 4, 8) if s <= most_samples])),
        **rectangle,
        cull=int(rng.integers(0, 3)),
        front_ccw=int(rng.integers(0, 2)),
        state=int(rng.integers(0, 16)),
        depth_format=int(rng.integers(0, 3)),
        stencil_ref=int(rng.integers(0, 256)),
        bias_constant=int(rng.integers(0, 1 << 32)),
    )
    return outer(rng, unread(rng, draw, payloads.DRAW_STATE, UNREAD), conservative)


def outer(rng: np.random.Generator, draw: np.void, share: float) -> np.void:
    """The same draw state; of one sample, for a share of them with conservative coverage.

    Those have no tests. They are drawn apart: what ``rng`` gives next stays as it was.
    """
    if not draw["samples"] and rng.spawn(1)[0].random() < share:
        draw["conservative"] = 1
        for name in ("depth_test", "depth_write", "stencil_test"):
            draw[name] = 0
    return draw


def at_borders(rng: np.random.Generator, triangles: np.ndarray) -> np.ndarray:
    """The same triangles; half of their places are moved to borders of pixels, and beside them.

    Of some an edge goes from end to end of the range: no steps are larger.
    """
    own = rng.spawn(1)[0]
    largest = np.flatnonzero(own.random(len(triangles)) < 0.01)
    for axis in "xy":
        ends = own.permuted(np.tile([LOW, HIGH], (len(largest), 1)), axis=1)
        for k in range(2):
            triangles[f"{axis}{k}"][largest] = ends[:, k]
    for k in range(3):
        for axis in "xy":
            place = triangles[f"{axis}{k}"]
            border = np.clip(place // 256 * 256 + own.integers(-2, 3, len(place)), LOW, HIGH)
            place[:] = np.where(own.random(len(place)) < 0.5, border, place)
    return triangles


def unread(
    rng: np.random.Generator, record: np.ndarray, fields: Sequence[payloads.Field], names: set[str]
) -> np.ndarray:
    """The same beats with random bits in fields that the stage at hand passes on unread.

    They are drawn apart: what ``rng`` gives next stays as it was.
    """
    own = rng.spawn(1)[0]
    for f in fields:
        if f.name in names:
            record[f.name] = own.integers(0, 1 << f.bits, record[f.name].shape, np.uint64)
    return record


def control(rng: np.random.Generator, fields: Sequence[payloads.Field], kind: Kind) -> np.ndarray:
    """A CLEAR or FENCE beat with random bits in every field."""
    record = np.zeros(1, dtype(fields))
    for f in fields:
        record[f.name] = rng.integers(0, 1 << f.bits, dtype=np.uint64)
    record["kind"] = kind
    return record


def control_beat(
    fields: Sequence[payloads.Field], kind: Kind, bits: int, **values: int | np.integer
) -> np.ndarray:
    """A packed control beat with these values."""
    record = np.zeros(1, dtype(fields))
    for name, value in ({"kind": kind} | values).items():
        record[name] = value
    return codec.pack(record, fields, bits)


def beats(
    rng: np.random.Generator,
    count: int,
    bits: int,
    work: Callable[[np.ndarray, np.void], np.ndarray],
    most_samples: int = 8,
    most_pixels: int = 320,
    conservative: float = 0,
) -> np.ndarray:
    """About ``count`` packed beats: states, draws of several triangles, CLEARs and FENCEs.

    ``work(triangles, state)`` packs the triangles of a draw. A share of the states with one sample
    has ``conservative`` coverage.
    """
    out = []
    total = 0
    while total < count:
        draw = state(rng, most_samples, most_pixels, conservative)
        n = int(rng.integers(1, max(2, min(count - total, 400))))
        size = int(draw["target_width"]), int(draw["target_height"])
        some = triangles(rng, n, *size, DepthFormat(draw["depth_format"]))
        parts = [
            codec.pack(np.atleast_1d(draw), payloads.DRAW_STATE, bits),
            work(at_borders(rng, some) if draw["conservative"] else some, draw),
        ]
        for fields, kind in ((payloads.CLEAR, Kind.CLEAR), (payloads.FENCE, Kind.FENCE)):
            if rng.random() < 0.5:
                at = int(rng.integers(0, len(parts[1]) + 1))
                controls = [control(rng, fields, kind) for _ in range(int(rng.integers(1, 3)))]
                parts[1] = np.insert(
                    parts[1],
                    [at] * len(controls),
                    codec.pack(np.concatenate(controls), fields, bits),
                    axis=0,
                )
        out += parts
        total += sum(map(len, parts))
    return np.concatenate(out)


CONTROL = {
    Kind.STATE: payloads.DRAW_STATE,
    Kind.CLEAR: payloads.CLEAR,
    Kind.FENCE: payloads.FENCE,
}


def control_record(beat: np.ndarray) -> tuple[Kind, np.ndarray]:
    """Kind and record of a packed control beat, shape (1,)."""
    kind = Kind(int(beat[0, 0]) & 3)
    return kind, codec.unpack(beat, CONTROL[kind], dtype(CONTROL[kind]))


def draws(
    rows: np.ndarray, fields: Sequence[payloads.Field], record: np.dtype
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split packed beats at their control beats.

    Yields pairs of work records and the control beat behind them, which the last may lack.
    """
    work = (rows[:, 0] & 3) == Kind.WORK
    begin = 0
    for at in [*np.flatnonzero(~work), len(rows)]:
        yield codec.unpack(rows[begin:at], fields, record), rows[at : at + 1]
        begin = at + 1


def through(
    rows: np.ndarray,
    fields: Sequence[payloads.Field],
    record: np.dtype,
    bits: int,
    work: Callable[[np.ndarray, np.void | None], np.ndarray],
) -> np.ndarray:
    """Packed beats out of a block that passes control beats on.

    ``work(records, state)`` packs what becomes of a draw.

    Before the first STATE, ``state`` is None.
    """
    draw = None
    out = [np.zeros((0, codec.words(bits)), np.uint64)]
    for records, beat in draws(rows, fields, record):
        if len(records):
            out.append(work(records, draw))
        if len(beat):
            if beat[0, 0] & 3 == Kind.STATE:
                draw = codec.unpack(beat, payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))[0]
            passed = np.zeros((1, codec.words(bits)), np.uint64)
            passed[:, : min(beat.shape[1], passed.shape[1])] = beat[:, : passed.shape[1]]
            out.append(passed)
    return np.concatenate(out)


def describe(row: np.ndarray, work: Sequence[payloads.Field]) -> str:
    """A packed beat in words: its kind and its fields."""
    kind = Kind(int(row[0]) & 3)
    fields = CONTROL.get(kind, work)
    record = codec.unpack(row[None], fields, dtype(fields))[0]
    return f"{kind.name} " + " ".join(f"{f.name}={int(record[f.name]):#x}" for f in fields[1:])


def whole_target(size: int, work: Callable[[np.ndarray, np.void], np.ndarray]) -> np.ndarray:
    """One triangle that covers a square target of ``size`` pixels, packed by ``work``."""
    triangle = np.zeros(1, TRIANGLE)
    triangle["x1"] = triangle["y2"] = 4 * 256 * size
    return work(triangle, draw_state(size, size))
