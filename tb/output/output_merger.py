# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.merger.output_merger.OutputMerger`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import colour_format, encode
from fixfunc.models.output.output_merger import INTEGERS, check, merge
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.merger.output_merger import OutputMerger, OutputMergerParams
from fixfunc.spec.colours import MERGE_STATE
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp, LogicOp
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

COLOURS = "red", "green", "blue", "alpha"
BEATS = 60  # of a bench
RUN = 8  # beats of a state, at most on average
FACTORS = np.array(list(BlendFactor))
# Ends, what is beyond them, what is next to them, halves of steps, what is no number.
SPECIAL = np.array(
    [
        *(0, 1, 0.5, 1 / 3, 2, 1e30, np.inf, np.nan, 1e-45, 1e-30, 2.0**-17, 2.0**-9, 1 / 480),
        *(np.nextafter(np.float32(1), np.float32(n)) for n in (0, 2)),
        *(0.5 / (2**n - 1) for n in (1, 2, 4, 5, 6, 7, 8, 10, 15, 16)),
        *(1 - 0.5 / (2**n - 1) for n in (1, 2, 4, 5, 6, 7, 8, 10, 15, 16)),
    ],
    np.float32,
)
WHOLE = np.array(
    [0, 1, *(2**n + k for n in (2, 7, 8, 10, 15, 16, 31) for k in (-1, 0, 1)), 2**32 - 1]
)


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A shader's colours: most within the range, some special, some of any bits; float32."""
    out = rng.random(shape).astype(np.float32)
    kind = rng.random(shape)
    steps = rng.choice([1, 3, 15, 31, 63, 127, 255, 1023, 32767, 65535], shape)
    grid = (rng.integers(0, 1 << 17, shape) % (2 * steps + 1) / (2 * steps)).astype(np.float32)
    out = np.where(kind < 0.5, grid, out)
    out = np.where(kind < 0.25, rng.choice(SPECIAL, shape), out)
    out = np.where(rng.random(shape) < 0.25, -out, out)
    bits = rng.integers(0, 1 << 32, shape, np.uint32)
    return np.where(rng.random(shape) < 0.03, bits, out.astype(np.float32).view(np.uint32)).view(
        np.float32
    )


def whole(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A shader's integers: uint32, of both signs."""
    out = rng.integers(0, 1 << 32, shape, np.uint32) >> rng.integers(0, 32, shape).astype(np.uint32)
    out = np.where(rng.random(shape) < 0.4, rng.choice(WHOLE, shape).astype(np.uint32), out)
    return np.where(rng.random(shape) < 0.4, ~out, out).astype(np.uint32)


def states(rng: np.random.Generator, count: int, params: OutputMergerParams) -> np.ndarray:
    """Records of MERGE_STATE; a few that there are not, or that a format does not have."""
    out = np.zeros(count, dtype(MERGE_STATE))
    out["format"] = rng.choice(np.array(params.formats), count)
    kinds = np.array([Format(number).name.split("_")[1] for number in out["format"]])
    out["blend_enable"] = (rng.random(count) < 0.8) & ~np.isin(kinds, INTEGERS)
    for name in ("src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"):
        out[name] = rng.choice(FACTORS, count)
    for name in ("blend_op", "blend_op_alpha"):
        out[name] = rng.choice([*BlendOp, *[BlendOp.ADD] * 4], count)
    mix = rng.random(count) < 0.1
    out["src_blend"][mix] = BlendFactor.SRC_ALPHA
    out["dest_blend"][mix] = BlendFactor.INV_SRC_ALPHA
    out["blend_op"][mix] = BlendOp.ADD
    out["write_mask"] = np.where(rng.random(count) < 0.6, 15, rng.integers(0, 16, count))
    may = np.isin(kinds, ("UNORM", "UINT")) & params.logic
    out["logic_op_enable"] = (rng.random(count) < 0.2) & may
    out["logic_op"] = rng.integers(0, len(LogicOp), count)
    out["dither"] = params.dithers & (rng.random(count) < 0.3)
    for name in COLOURS:
        out[f"factor_{name}"] = floats(rng, (count,)).view(np.uint32)
    wrong = rng.random(count) < 0.05
    for name, most in (
        *(("format", 128), ("blend_enable", 2), ("src_blend", 32), ("dest_blend_alpha", 32)),
        *(("blend_op", 8), ("blend_op_alpha", 8), ("logic_op_enable", 2)),
    ):
        some = wrong & (rng.random(count) < 0.3)
        out[name][some] = rng.integers(0, most, int(some.sum()))
    return out


def requests(rng: np.random.Generator, count: int, params: OutputMergerParams) -> np.ndarray:
    """Samples of few states, which follow one another at random."""
    pool = states(rng, max(count // RUN, 1), params)
    out = np.zeros(count, dtype(params.merging))
    chosen = pool[rng.integers(0, len(pool), count)]
    if count < 1000:  # every beat another: a bench has few
        chosen = states(rng, count, params)
    for name in pool.dtype.names:
        out[name] = chosen[name]
    lanes = params.lanes
    colours = floats(rng, (count, 2, lanes, 4)).view(np.uint32)
    is_whole = np.isin(chosen["format"], [f for f in params.formats if _kind(f) in INTEGERS])
    colours[is_whole] = whole(rng, (int(is_whole.sum()), 2, lanes, 4))
    # Two colours agree, or are opaque, or cover nothing.
    alpha = colours[..., 3]
    for value, share in ((1, 0.15), (0, 0.1)):
        some = (rng.random(alpha.shape) < share) & ~is_whole[:, None, None]
        alpha[some] = np.float32(value).view(np.uint32)
    texels = rng.integers(0, 1 << 64, (count, lanes), np.uint64)
    ends = rng.integers(0, 256, (count, lanes, 8))
    ends = np.where(ends & 1, 255 * (ends >> 1 & 1), rng.choice([127, 128, 129], ends.shape))
    ends = ends.astype(np.uint8).view("<u8")[..., 0]
    texels = np.where(rng.random(texels.shape) < 0.35, ends, texels)
    # Equal to what comes: MIN, MAX, and differences of nothing.
    for form in params.formats:
        if _kind(form) not in INTEGERS:
            some = (chosen["format"] == form)[:, None] & (rng.random(texels.shape) < 0.1)
            new = colours[:, 0][some].view(np.float32)
            data = np.zeros((len(new), 8), np.uint8)
            data[:, : FORMATS[form].bytes] = encode(new, form)
            texels[some] = data.view("<u8")[:, 0]
    for n in range(lanes):
        for c, name in enumerate(COLOURS):
            out[f"{name}{n}"] = colours[:, 0, n, c]
            if params.second:
                out[f"second_{name}{n}"] = colours[:, 1, n, c]
        if params.dithers:
            out[f"threshold{n}"] = 2 * rng.integers(0, 16, count) + 1
        out[f"texel{n}"] = texels[:, n] & np.uint64((1 << params.set.texel) - 1)
    return codec.pack(out, params.merging)


def _kind(form):
    return colour_format(form).kind


def expected(rows: np.ndarray, params: OutputMergerParams) -> np.ndarray:
    """Merged samples: those of a state together."""
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    fields = [field.name for field in MERGE_STATE]
    keys = np.ascontiguousarray(codec.pack(beats, MERGE_STATE))
    out = np.zeros(len(beats), dtype(params.merged))
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    bounds = np.searchsorted(group.ravel()[order], np.arange(len(first) + 1))
    for n, at in enumerate(first):
        chosen = order[bounds[n] : bounds[n + 1]]
        state = {name: int(beats[name][at]) for name in fields}
        try:
            found = _merge(beats[chosen], state, params)
        except InputError:
            out["error"][chosen] = 1
            continue
        for lane in range(params.lanes):
            out[f"texel{lane}"][chosen] = found[:, lane]
    return codec.pack(out, params.merged)


def blend_of(state: dict[str, int]) -> Blend:
    """A state as the golden model takes it."""
    return Blend(
        enable=bool(state["blend_enable"]),
        source=state["src_blend"],
        target=state["dest_blend"],
        op=state["blend_op"],
        source_alpha=state["src_blend_alpha"],
        target_alpha=state["dest_blend_alpha"],
        op_alpha=state["blend_op_alpha"],
        write=state["write_mask"],
        logic=bool(state["logic_op_enable"]),
        logic_op=state["logic_op"],
        dither=bool(state["dither"]),
    )


def _merge(beats, state, params):
    """Texels of beats of a state; one that is refused raises InputError."""
    if state["format"] not in params.formats:
        raise InputError("format", "be one that the block has", state["format"])
    form = Format(state["format"])
    blend = blend_of(state)
    check(blend, form)
    if blend.logic and not params.logic:
        raise InputError("logic operation", "be off", state["logic_op"])
    bits = np.stack([beats[f"{name}{n}"] for n in range(params.lanes) for name in COLOURS], 1)
    kind = np.uint32 if _kind(form) in INTEGERS else np.float32
    new = np.ascontiguousarray(bits).view(kind).reshape(-1, 4)
    second = constant = threshold = None
    if params.second:
        names = [f"second_{name}{n}" for n in range(params.lanes) for name in COLOURS]
        second = np.stack([beats[name] for name in names], 1).view(kind).reshape(-1, 4)
    if params.constant:
        constant = np.array([state[f"factor_{name}"] for name in COLOURS], np.uint32)
        constant = constant.view(np.float32)
    if params.dithers and blend.dither:
        threshold = np.stack([beats[f"threshold{n}"] for n in range(params.lanes)], 1)
        threshold = threshold.astype(np.int64).ravel()
    texels = np.stack([beats[f"texel{n}"] for n in range(params.lanes)], 1).astype("<u8")
    size = FORMATS[form].bytes
    old = texels.reshape(-1, 1).view(np.uint8)[:, :size]
    data = np.zeros((len(new), 8), np.uint8)
    data[:, :size] = merge(new, old, form, blend, constant, second, threshold)
    return data.view("<u8").reshape(-1, params.lanes)


def describe(row: np.ndarray, params: OutputMergerParams) -> str:
    beat = codec.unpack(row[None], params.merged, dtype(params.merged))[0]
    texels = " ".join(f"{int(beat[f'texel{n}']):x}" for n in range(params.lanes))
    return f"error={beat['error']} {texels}"


class OutputMergerBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "output_merger"
    IDLE_CLOCKS = 100  # above its latency


# plan: output-merger-10
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def samples_are_merged_in_order(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = OutputMergerBench(dut)
    await bench.run(requests(bench.rng, BEATS, bench.params), source, sink)


# plan: output-merger-11
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_beat_a_clock(dut: HierarchyObject) -> None:
    bench = OutputMergerBench(dut)
    await bench.run(requests(bench.rng, BEATS, bench.params))
    bench.check_rate(OutputMerger(bench.params).latency)
