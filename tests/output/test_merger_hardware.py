# SPDX-License-Identifier: BSD-2-Clause
"""The hardware of the output merger."""

import re

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.output.formats import encoded
from fixfunc.models.payload import dtype
from fixfunc.models.texture.block_decode import linear
from fixfunc.rtl.output.merger import output_merger as rtl
from fixfunc.rtl.output.merger import srgb
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp
from fixfunc.tb.output import output_merger as bench
from tests import tiers
from tests.bench import check_bench
from tests.volume import check, check_paces

# Both factors are one.
BLOCK = "output_merger"
SUM = dict.fromkeys(bench.FACTOR_FIELDS, BlendFactor.ONE) | {
    "blend_enable": 1,
    "write_mask": 15,
    "blend_op": BlendOp.ADD,
    "blend_op_alpha": BlendOp.ADD,
}


@pytest.mark.plan("output-merger-9")
@pytest.mark.parametrize(
    ("config", "count"),
    tiers.by_tier(
        [("tiny", 3000), ("default", 3000), ("wide", 3000), ("lean", 300), ("small", 1000)]
    ),
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("output-merger-10")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("output-merger-11")
def test_latencies():
    """The page's table of configurations."""
    page = (ROOT / "docs/output/output_merger.md").read_text()
    for name, params in rtl.CONFIGS.items():
        latency = rtl.OutputMerger(params).latency
        floats = params.lanes if params.floats else "-"
        row = rf"\| `{name}` \|.*\| {params.lanes} \| 1 \| {floats} \| {latency} \|"
        assert re.search(row, page), name


@pytest.mark.plan("output-merger-12")
@pytest.mark.parametrize("config", tiers.by_tier(["tiny", "default", "small"], ["small"]))
def test_every_pair_of_factors(config):
    """In every format; operations, logic operations and masks take turns."""
    params = rtl.CONFIGS[config]
    states = bench.every_state(params)
    rng = np.random.default_rng(5)
    check(BLOCK, config, bench.beats_of(rng, [*states, *states], params))


@pytest.mark.plan("output-merger-12")
def test_every_linear_value_of_alpha_and_colour():
    """Tables of sRGB, the hardware's, against the golden ones."""
    every = np.arange(1 << 16)
    assert linear(np.repeat(np.arange(256, dtype=np.uint8)[:, None], 4, 1))[:, 0].tolist() == (
        srgb.LINEAR
    )
    assert (np.searchsorted(srgb.FIRST[1:], every, side="right") == encoded(every)).all()
    assert (((every << 8) - every + srgb.ROUNDING >> 16) == (2 * every + 257) // 514).all()
    # Every value that is a shader's passes through the hardware, one and a half times a step.
    params = rtl.CONFIGS["tiny"]
    state = {"format": Format.B8G8R8A8_UNORM_SRGB, "write_mask": 15}
    rows = bench.beats_of(np.random.default_rng(6), [state] * len(every), params)
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    for n, name in enumerate(bench.COLOURS):
        beats[f"{name}0"] = (((every + 0x4000 * n) % 65536) / 65535).astype(np.float32).view("u4")
    check(BLOCK, "tiny", codec.pack(beats, params.merging))


@pytest.mark.plan("output-merger-12")
def test_every_red_and_alpha_of_5_6_5():
    """Where alpha's unit is not the channel's: all triples of source, target and alpha."""
    params = rtl.CONFIGS["tiny"]
    state = SUM | {
        "format": Format.B5G6R5_UNORM,
        "src_blend": BlendFactor.SRC_ALPHA,
        "dest_blend": BlendFactor.DEST_COLOR,
    }
    rng = np.random.default_rng(8)
    new, alpha, old = (axis.ravel() for axis in np.mgrid[:32, :64, :32])
    beats = codec.unpack(
        bench.beats_of(rng, [state] * (len(new) // 2), params),
        params.merging,
        dtype(params.merging),
    )
    for n in range(2):
        half = slice(n, None, 2)
        beats[f"red{n}"] = (new[half] / 31).astype(np.float32).view(np.uint32)
        beats[f"blue{n}"] = (old[half] / 31).astype(np.float32).view(np.uint32)
        beats[f"alpha{n}"] = (alpha[half] / 63).astype(np.float32).view(np.uint32)
        beats[f"texel{n}"] = old[half] << 11 | new[half]
    check(BLOCK, "tiny", codec.pack(beats, params.merging))


@pytest.mark.plan("output-merger-12")
def test_ties_of_the_blend_factor():
    """Halves of 2^-24 go to the even one, and so decide on which side of a step a channel is."""
    params = rtl.CONFIGS["tiny"]
    state = SUM | {
        "format": Format.B8G8R8A8_UNORM_SRGB,
        "src_blend_alpha": BlendFactor.BLEND_FACTOR,
        "dest_blend_alpha": BlendFactor.ZERO,
    }
    rng = np.random.default_rng(9)
    # What alpha must at least be for the byte n + 1, of 65535.
    first = 257 * np.arange(127) + 129
    below = (2 * first - 1 << 23) // 65535  # the greatest factor that rounds to less
    below = np.repeat(below[below % 2 == 0], 4)
    beats = codec.unpack(
        bench.beats_of(rng, [state] * len(below), params), params.merging, dtype(params.merging)
    )
    beats["factor_alpha"] = ((below + 0.5) / 2**24).astype(np.float32).view(np.uint32)
    for n in range(2):
        beats[f"alpha{n}"] = np.float32(1).view(np.uint32)
    check(BLOCK, "tiny", codec.pack(beats, params.merging))


@pytest.mark.plan("output-merger-12")
@pytest.mark.parametrize("side", ["source", "target"])
def test_sums_next_to_a_half(side):
    """The blend constant on one side, alpha on the other: exact sums one unit of both below it."""
    params = rtl.CONFIGS["tiny"]
    unit, units = 255, 1 << 24
    own = np.arange(1, 256, 2)  # odd ones divide whatever is left of 2^24
    factor = np.array([(-1 - units // 2) * pow(unit * int(n), -1, units) % units for n in own])
    other = np.array([n for n in range(unit) if np.gcd(n, unit) == 1])
    alpha = np.array([-pow(int(n), -1, unit) % unit for n in other])
    sums = (own * factor * unit + other * alpha * units, unit * units)
    assert ((sums[0] + sums[1] // 2) % sums[1] == sums[1] - 1).all()
    assert (sums[0] < 254 * sums[1]).sum() > 100
    factors = BlendFactor.BLEND_FACTOR, BlendFactor.DEST_ALPHA
    new, old = own, other
    if side == "target":
        factors = BlendFactor.SRC_ALPHA, BlendFactor.BLEND_FACTOR
        new, old = other, own
    state = SUM | {"format": Format.R8G8B8A8_UNORM}
    state |= dict(zip(("src_blend", "dest_blend"), factors, strict=True))
    rows = bench.beats_of(np.random.default_rng(10), [state] * len(own), params)
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    beats["factor_red"] = (factor / units).astype(np.float32).view(np.uint32)
    for n in range(params.lanes):
        beats[f"red{n}"] = (new / unit).astype(np.float32).view(np.uint32)
        beats[f"alpha{n}"] = (alpha / unit).astype(np.float32).view(np.uint32)
        beats[f"texel{n}"] = alpha << 24 | old
    check(BLOCK, "tiny", codec.pack(beats, params.merging))


@pytest.mark.plan("output-merger-14")
def test_products_about_the_least_normal_number():
    params = rtl.CONFIGS["tiny"]
    rng = np.random.default_rng(7)
    state = SUM | {"format": Format.R32_FLOAT, "src_blend": BlendFactor.BLEND_FACTOR}
    count = 4000
    rows = bench.beats_of(rng, [state] * count, params)
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    beats["factor_red"] = 0x3F000000 + rng.integers(-8, 9, count)
    for n in range(params.lanes):
        beats[f"red{n}"] = 0x01000000 + rng.integers(-8, 9, count) | rng.choice([0, 1 << 31], count)
        beats[f"texel{n}"] = rng.choice([0, 1 << 31, 0x00800000, 0x80800000, 0x80FFFFFF], count)
    found = codec.unpack(
        check(BLOCK, "tiny", codec.pack(beats, params.merging)),
        params.merged,
        dtype(params.merged),
    )
    assert {0, 1 << 31, 0x00800000, 0x80800000} < set(found["texel0"].tolist())


@pytest.mark.plan("output-merger-15")
def test_what_is_not_written_keeps_its_bits():
    """Every NaN of small floats, both numbers that are -1.0: each mask, blended and not."""
    params = rtl.CONFIGS["tiny"]
    halves = [0x80, 0x81, 0x8000, 0x8001, 0x7C01, 0x7D00, 0xFC01, 0xFFFF]
    texels = np.array([*(half * 0x10001 for half in halves), 0x7E1, 0x7E1 << 11, 0x3E1 << 22])
    rng = np.random.default_rng(11)
    states = [
        SUM | {"format": form, "write_mask": mask, "blend_enable": enable}
        for form in params.formats
        for mask in (0, 5, 10)
        for enable in (0, form in params.floats)
    ]
    rows = bench.beats_of(rng, [state for state in states for _ in texels], params)
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    for n in range(params.lanes):
        beats[f"texel{n}"] = np.tile(texels, len(states))
    found = check(BLOCK, "tiny", codec.pack(beats, params.merging))
    merged = codec.unpack(found, params.merged, dtype(params.merged))["texel0"]
    stored = beats["texel0"]
    for form, bits in ((Format.R8_SNORM, 8), (Format.R16G16_SNORM, 32), (Format.R16G16_FLOAT, 32)):
        unwritten = (beats["format"] == form) & (beats["write_mask"] == 0)
        assert unwritten.any()
        assert (merged[unwritten] == stored[unwritten] & (1 << bits) - 1).all()


@pytest.mark.plan("output-merger-13")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lanes": 0}, "lanes must be 1 to 64, not 0"),
        ({"lanes": 65}, "lanes must be 1 to 64, not 65"),
        ({"formats": ()}, "formats must be some, each once, of which one is normalised"),
        ({"formats": (Format.R8_UINT,)}, "formats must be some, each once"),
        ({"formats": (Format.R32G32B32_FLOAT,)}, "formats must be drawn to, and of no 96 bits"),
        ({"formats": (Format.R8_UNORM,) * 2}, "formats must be some, each once"),
        ({"formats": (Format.D16_UNORM,)}, "formats must be drawn to"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(InputError, match=message):
        rtl.OutputMergerParams(**arguments)
