# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.merger.output_merger.OutputMerger`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import colour_format, encode
from fixfunc.models.output.output_merger import INTEGERS, check, merge_channels, taken
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
RUN = 4  # beats of a state, on average
FACTORS = np.array(list(BlendFactor))
BYTES = 16  # of the widest texel
FACTOR_FIELDS = "src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"
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


def any_floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Colours for formats of floats: float32 of every size.

    Few bits, so that sums cancel; mantissas of all bits; products about the least normal number and
    about the greatest one; the least and the greatest of small floats; any bits.
    """
    few = (rng.integers(-64, 65, shape) / 16).astype(np.float32).view(np.uint32)
    bits = rng.integers(0, 1 << 32, shape, np.uint32)
    kind = rng.integers(0, 8, shape)
    middle = rng.choice([127, 127, 127, 63, 190, 112, 142, 103], shape)
    exponent = (middle + rng.integers(-3, 4, shape)).astype(np.uint32)
    sized = bits & 0x807FFFFF | exponent << np.uint32(23)
    round_bits = rng.choice([0, 0x7FFFFF, 0x7FE000, 0x001FFF, 0x001000, 0x003000], shape)
    ends = sized & 0xFF800000 | round_bits.astype(np.uint32)
    special = rng.choice(
        np.array(
            [0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x3F800000],
            np.uint32,
        ),
        shape,
    ) | (bits & 0x80000000)
    out = np.select(
        [kind < 2, kind < 5, kind == 5, kind == 6], [few, sized, ends, special], bits
    ).astype(np.uint32)
    return out.view(np.float32)


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
    for name in FACTOR_FIELDS:
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
        factors = floats(rng, (count,)), any_floats(rng, (count,))
        out[f"factor_{name}"] = np.where(kinds == "FLOAT", *factors[::-1]).view(np.uint32)
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
    is_float = np.isin(chosen["format"], params.floats)
    wide = any_floats(rng, (int(is_float.sum()), 2, lanes, 4))
    colours[is_float] = wide.view(np.uint32)
    # Two colours agree, or are opaque, or cover nothing.
    alpha = colours[..., 3]
    for value, share in ((1, 0.15), (0, 0.1)):
        some = (rng.random(alpha.shape) < share) & ~is_whole[:, None, None]
        alpha[some] = np.float32(value).view(np.uint32)
    texels = rng.integers(0, 256, (count, lanes, BYTES), np.uint8)
    ends = rng.integers(0, 256, texels.shape)
    ends = np.where(ends & 1, 255 * (ends >> 1 & 1), rng.choice([127, 128, 129], ends.shape))
    texels = np.where(rng.random((count, lanes, 1)) < 0.35, ends.astype(np.uint8), texels)
    # Equal to what comes: MIN, MAX, and differences of nothing. Floats of every size.
    for form in params.formats:
        if _kind(form) not in INTEGERS:
            share = 0.6 if form in params.floats else 0.1
            some = (chosen["format"] == form)[:, None] & (rng.random((count, lanes)) < share)
            new = colours[:, 0][some].view(np.float32)
            if form in params.floats:
                other = rng.random(new.shape) < 0.8
                new = np.where(other, any_floats(rng, new.shape), new)
            data = np.zeros((len(new), BYTES), np.uint8)
            data[:, : FORMATS[form].bytes] = encode(new, form)
            texels[some] = data
    for n in range(lanes):
        for c, name in enumerate(COLOURS):
            out[f"{name}{n}"] = colours[:, 0, n, c]
            if params.second:
                out[f"second_{name}{n}"] = colours[:, 1, n, c]
        if params.dithers:
            out[f"threshold{n}"] = 2 * rng.integers(0, 16, count) + 1
    texels[..., params.set.texel // 8 :] = 0
    put_texels(out, texels)
    return codec.pack(out, params.merging)


def put_texels(beats: np.ndarray, texels: np.ndarray) -> None:
    """Fill in texels: uint8, shape (beats, lanes, bytes)."""
    words = np.ascontiguousarray(texels).view("<u8")
    for n in range(words.shape[1]):
        beats[f"texel{n}"] = words[:, n, 0]
        if f"high{n}" in beats.dtype.names:
            beats[f"high{n}"] = words[:, n, 1]


def texels_of(beats: np.ndarray, lanes: int) -> np.ndarray:
    """The inverse of :func:`put_texels`; bytes that there are not are zero."""
    words = np.zeros((len(beats), lanes, BYTES // 8), "<u8")
    for n in range(lanes):
        words[:, n, 0] = beats[f"texel{n}"]
        if f"high{n}" in beats.dtype.names:
            words[:, n, 1] = beats[f"high{n}"]
    return words.view(np.uint8)


def beats_of(
    rng: np.random.Generator, states: list[dict[str, int]], params: OutputMergerParams
) -> np.ndarray:
    """Packed beats, one of each state, by names of MERGE_STATE's fields; random blend constants."""
    beats = codec.unpack(requests(rng, len(states), params), params.merging, dtype(params.merging))
    for field in MERGE_STATE:
        if not field.name.startswith("factor"):
            beats[field.name] = [state.get(field.name, 0) for state in states]
    return codec.pack(beats, params.merging)


def every_state(params: OutputMergerParams) -> list[dict[str, int]]:
    """Of every format every pair of factors, logic operation, mask, and two that are refused."""
    states = []
    for form in params.formats:
        kind = _kind(form)
        base = {"format": form, "blend_enable": 1, "write_mask": 15, "blend_op": 1}
        base |= {"blend_op_alpha": 1} | dict.fromkeys(FACTOR_FIELDS, BlendFactor.ONE)
        if kind not in INTEGERS:
            for n, source in enumerate(BlendFactor):
                for k, target in enumerate(BlendFactor):
                    factors = (source, target, source, target)
                    ops = {"blend_op": 1 + (n + k) % 3, "blend_op_alpha": 1 + n % 3}
                    states.append(base | ops | dict(zip(FACTOR_FIELDS, factors, strict=True)))
            for n in range(len(BlendOp) ** 2):
                ops = {"blend_op": 1 + n % 5, "blend_op_alpha": 1 + n // 5}
                states.append(base | ops | {"write_mask": n % 16})
            states.append(base | {"src_blend": 0})
        for n in range(16):
            states.append({"format": form, "write_mask": n})
            if kind in ("UNORM", "UINT") and params.logic:
                logic = {"logic_op_enable": 1, "logic_op": n}
                states.append({"format": form, "write_mask": 15} | logic)
        refused = {"logic_op_enable": 1} if kind == "FLOAT" else {"blend_op": 0}
        states.append(base | refused)
    return states


def _kind(form):
    return colour_format(form).kind


def expected(rows: np.ndarray, params: OutputMergerParams) -> np.ndarray:
    """Merged samples: those of a state together."""
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    fields = [field.name for field in MERGE_STATE]
    keys = np.ascontiguousarray(codec.pack(beats, MERGE_STATE))
    out = np.zeros(len(beats), dtype(params.merged))
    texels = np.zeros((len(beats), params.lanes, BYTES), np.uint8)
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
        texels[chosen] = found
    put_texels(out, texels)
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
    size = FORMATS[form].bytes
    old = texels_of(beats, params.lanes).reshape(-1, BYTES)[:, :size]
    data = np.zeros((len(new), BYTES), np.uint8)
    # The hardware blends a shader's colours in the target's own bits.
    own = colour_format(form)
    new = taken(new, own, threshold)
    second = None if second is None else taken(second, own)
    data[:, :size] = merge_channels(new, old, own, blend, constant, second)
    return data.reshape(-1, params.lanes, BYTES)


def describe(row: np.ndarray, params: OutputMergerParams) -> str:
    beat = codec.unpack(row[None], params.merged, dtype(params.merged))
    texels = texels_of(beat, params.lanes)[0, :, : params.set.texel // 8]
    return f"error={beat['error'][0]} " + " ".join(texel[::-1].tobytes().hex() for texel in texels)


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
async def one_beat_a_clock_and_floats_a_sample(dut: HierarchyObject) -> None:
    bench = OutputMergerBench(dut)
    rows = requests(bench.rng, BEATS, bench.params)
    await bench.run(rows)
    formats = codec.unpack(rows, bench.params.merging, dtype(bench.params.merging))["format"]
    costs = np.where(np.isin(formats, bench.params.floats), bench.params.lanes, 1)
    clocks = np.array([clock for _, clock in bench.beats_in])
    assert (np.diff(clocks) == costs[1:]).all()
    latency = OutputMerger(bench.params).latency
    assert [clock for _, clock in bench.beats_out] == (clocks + latency).tolist()
