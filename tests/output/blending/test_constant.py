# SPDX-License-Identifier: BSD-2-Clause
"""The blend constant of planes of every format."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.output.colour_write import blend
from fixfunc.models.output.formats import SRGB, colour_format, load
from fixfunc.models.output.output_merger import in_steps
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import BlendFactor, Compare, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH, blend_constant
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import ONE
from fixfunc.tb.output.colour_write import constant_beat
from tests.output.blending.test_blend_precision import mixed
from tests.output.blending.test_colours_as_numbers import state_of
from tests.output.test_colour_write import BLOCK, tiles
from tests.output.test_output_merger import name
from tests.plane_formats import BLENDED, CONSTANT, colours, mixed_with, words
from tests.volume import check, check_outputs

COUNT = 4  # samples a state


def constants(rng, low):
    """A blend constant, and what of it is in the range."""
    given = blend_constant(rng)
    return given, [min(max(Fraction(float(value)), low), 1) for value in np.nan_to_num(given)]


def channels(words, form):
    """Channels of texels."""
    size = FORMATS[form].bytes
    octets = words.view(np.uint8).reshape(-1, 4)[:, :size]
    return load(np.ascontiguousarray(octets), colour_format(form))


@pytest.mark.plan("colour-write-24")
@pytest.mark.parametrize("form", sorted(BLENDED - set(SRGB)), ids=name)
def test_a_constant_is_near_the_exact_one(form):
    """Of sources without fractions: half a unit, and what the constant is cut by, twice a step.

    So a step of another size, or of another channel, is seen, which the tolerance would hide.
    """
    rng = np.random.default_rng(form)
    kind = colour_format(form)
    low = -1 if kind.kind == "SNORM" else 0
    most = [int(value) for value in kind.most]
    few = form in (Format.R10G10B10A2_UNORM, Format.B5G5R5A1_UNORM)
    coarse = few or form.name.startswith("R16")
    steps = [1 << (6 if coarse else 8)] * 3 + [1 << (14 if few else 6 if coarse else 8)]
    different = 0
    for fields in mixed_with(CONSTANT, form):
        given, constant = constants(rng, low)
        state = draw_state(8, 8, colour_format=form, **fields)
        new, old = (words(rng, form, COUNT) for _ in range(2))
        source = np.rint(colours(new, form).astype(float) * kind.most)
        target = channels(old, form)
        made = blend(new, old, state, constant=given)
        different += int((made != blend(new, old, state)).sum())
        found = channels(made, form)
        for n in range(COUNT):
            first, other = (
                [Fraction(int(v), m) for v, m in zip(rows[n], most, strict=True)]
                for rows in (source, target)
            )
            for channel in {its.register for its in kind.layout.channels}:
                right = mixed(state_of(fields), first, other, [0] * 4, constant, channel)
                right = min(max(right, low), 1) * most[channel]
                bound = Fraction(1, 2) + Fraction(2, steps[channel])
                assert abs(int(found[n, channel]) - right) <= bound, (fields, n, channel)
    assert different > 50


@pytest.mark.plan("colour-write-24")
def test_steps_of_a_constant():
    """Cut towards zero, of SNORM but for a half, whose unit is the next; of sRGB the nearest."""
    for form, value, wanted in (
        (Format.R8G8B8A8_UNORM, 0.5, [32640] * 4),
        (Format.R8G8B8A8_UNORM, 1 / 65280 - 1e-9, [0] * 4),
        (Format.R8G8B8A8_SNORM, -0.5, [-16256 - 1] * 4),
        (Format.R8G8B8A8_SNORM, -0.3, [-9753] * 4),
        (Format.R16G16_UNORM, 1 - 2**-24, [65535 * 64 - 1] * 4),
        (Format.R10G10B10A2_UNORM, 0.4, [26188] * 3 + [19660]),
        (Format.B5G6R5_UNORM, 0.3, [2380, 4838, 2380, 4838]),
        (Format.R8G8B8A8_UNORM_SRGB, 0.3, [19661] * 4),
        (Format.R8G8B8A8_UNORM, np.nan, [0] * 4),
        (Format.R8G8B8A8_SNORM, -np.inf, [-32512] * 4),
    ):
        found = in_steps(np.full(4, value, np.float32), colour_format(form))
        assert found.tolist() == wanted, (form.name, value)


@pytest.mark.plan("colour-write-24")
def test_every_factor_with_a_constant_in_hardware():
    """A constant before every tile, which those before it must not see."""
    rng = np.random.default_rng(23)
    side = 32
    whole = {"colour": 1, "x1": side, "y1": side, "colour_value": 0x90A03070}
    rows = [
        codec.pack(draw_state(side, side), payloads.DRAW_STATE, WIDTH),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole),
    ]
    table = payloads.tested(4)
    every = list(mixed_with(CONSTANT, *BASE_FORMATS))
    drawn = tiles(rng, 2 * len(every), side // 4, side // 4, 4)
    drawn["mask"] &= (1 << 16) - 1
    drawn["slot"] = rng.integers(0, 1 << 12, len(drawn))
    for n, fields in enumerate([{}] * len(every) + every):
        state = draw_state(side, side, **fields)
        rows += [
            constant_beat(rng),
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            codec.pack(drawn[n : n + 1], table, WIDTH),
        ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    check(BLOCK, "tiny", np.concatenate(rows))


def drawn(*draws, constant=True):
    """A command stream: a target of one colour; constants, each with all of the target over it."""
    packets = CommandList().target(**streams.PLACES)
    packets.state(draw_state(16, 16, depth_test=0))
    planes = {"depth": 1, "stencil": 1, "colour": 1}
    packets.clear((0, 0, 16, 16), **planes, colour_value=0x80402010)
    packets.pixel_state(**{f"constant_{c}": ONE for c in "rgba"}, alpha_test=Compare.ALWAYS)
    over = np.zeros(1, TRIANGLE)
    over["x1"] = over["y2"] = 16 * 512
    factors = dict.fromkeys(("src_blend", "src_blend_alpha"), BlendFactor.BLEND_FACTOR)
    factors |= dict.fromkeys(("dest_blend", "dest_blend_alpha"), BlendFactor.INV_BLEND_FACTOR)
    blends = draw_state(16, 16, depth_test=0, built_in=1, blend_enable=1, **factors)
    for n, given in enumerate(draws):
        if constant:
            packets.blend_constant(given)
        if not n:
            packets.state(blends)
        packets.triangles(over)
    packets.fence(1)
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    return np.concatenate([streams.mark(start), packets.transfers])


@pytest.mark.plan("colour-write-24")
@pytest.mark.qualify  # a top of its own, which ``make test`` does not build
@pytest.mark.parametrize("stem", ["top"])
def test_a_draw_in_the_top(stem):
    """White over a colour by one constant, then by another one under the same state."""
    first, second = (0.25, 0.5, 0.75, 1.0), (0.5, 0, 1, np.nan)
    outputs = check_outputs(stem, "tiny_bytes", drawn(first, second), ("full", "bursty"), 0)
    colour = [0x10, 0x20, 0x40, 0x80]
    for given in (first, second):
        shares = [Fraction(0 if np.isnan(share) else share) for share in given]
        colour = [
            int(255 * share + old * (1 - share) + Fraction(1, 2))
            for share, old in zip(shares, colour, strict=True)
        ]
    wanted = sum(byte << 8 * n for n, byte in enumerate(colour))
    found = outputs["memory"].view(np.uint32)
    assert (found == wanted).sum() == 256


@pytest.mark.plan("colour-write-24")
@pytest.mark.qualify  # a top of its own, which ``make test`` does not build
@pytest.mark.parametrize("stem", ["top"])
def test_a_state_needs_a_constant_of_its_start(stem):
    """One of the START before is forgotten."""
    rows = drawn((1, 1, 1, 1)), drawn((1, 1, 1, 1), constant=False)
    for row in rows[1:]:
        row[0, 0] = int(row[0, 0]) + 32 * len(rows[0])
    outputs = check_outputs(stem, "tiny_bytes", np.concatenate(rows), ("full", "full"), 0)
    status = codec.unpack(outputs["o"], STATUS, dtype(STATUS))
    assert status["error"].tolist() == [CommandError.NONE, CommandError.ORDER]
