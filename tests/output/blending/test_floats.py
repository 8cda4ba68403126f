# SPDX-License-Identifier: BSD-2-Clause
"""Planes of floats that are blended [fs 17.5], in hardware beside the golden model."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.output.blend import blend_of
from fixfunc.models.output.colour_write import blend
from fixfunc.models.output.formats import colour_format, load
from fixfunc.models.output.output_merger import Numbers, merge, parted
from fixfunc.models.state import FACTORS, PLAIN_FACTORS, check_blend_state
from fixfunc.rtl import top
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.output import colour_write as bench
from tests import tiers
from tests.output.blending.test_second import PLACE, SIDE
from tests.output.test_colour_write import tiles
from tests.plane_formats import CONSTANT, SECOND, unchecked
from tests.volume import check, check_paces

BLOCK = "colour_write"
CONFIG = "tiny_floats"
FLOATS = [form for form in COLOUR_FORMATS if form.name.endswith("FLOAT")]
OF_BOTH = [  # factors that each half of a target has
    *(BlendFactor.ZERO, BlendFactor.ONE, BlendFactor.SRC_ALPHA, BlendFactor.INV_SRC_ALPHA),
    *(BlendFactor.SRC_COLOR, BlendFactor.DEST_COLOR, BlendFactor.INV_DEST_COLOR),
    *(BlendFactor.SRC1_ALPHA, BlendFactor.INV_SRC1_ALPHA, BlendFactor.SRC1_COLOR),
]
PAIRS = list(product(BlendFactor, repeat=2))
STEP = 1 if tiers.QUALIFY else 7  # of the pairs of factors that are drawn


def states(form, step=1):
    """Fields of states of pairs of factors, alpha's in another order, and operations."""
    for n, pair in enumerate(PAIRS[:: step or 1]):
        alpha = PAIRS[(5 * n + 3) % len(PAIRS)]
        own = dict(zip(FACTORS, (*pair, *alpha), strict=True))
        ops = {"blend_op": 1 + n % 5, "blend_op_alpha": 1 + n % 3}
        yield {"colour_format": form, "blend_enable": 1, "colour_write": 15} | ops | own


def exact_factor(factor, new, old, second, constant, channel):
    """A factor by rationals [fs 17.1]; the target has no alpha, which counts as 1."""
    name = BlendFactor(factor).name
    if name.startswith("INV_"):
        return 1 - exact_factor(BlendFactor[name[4:]], new, old, second, constant, channel)
    if name in ("ZERO", "ONE"):
        return Fraction(name == "ONE")
    if name == "SRC_ALPHA_SAT":
        return min(new[3], 1 - old[3])
    if name == "BLEND_FACTOR":
        return constant[channel]
    side = {"SRC": new, "DEST": old, "SRC1": second}[name.split("_")[0]]
    return side[3 if name.endswith("ALPHA") else channel]


@pytest.mark.plan("colour-write-26")
@pytest.mark.parametrize("form", FLOATS, ids=lambda form: form.name)
def test_a_blend_is_the_exact_one_cut_to_the_format(form):
    """By rationals of what was packed: a unit of the format below at most, and float32's rounding.

    A shader's alpha is never cut, though no such format stores it.
    """
    rng = np.random.default_rng(form)
    kind = colour_format(form)
    bits = {c.register: {32: 23, 16: 10, 11: 6, 10: 5}[c.bits] for c in kind.layout.channels}
    seen = 0
    for fields in states(form, 5):
        if fields["blend_op"] in (BlendOp.MIN, BlendOp.MAX):
            continue
        values = rng.uniform(0.05, 3, (2, 1, 4)).astype(np.float32)
        values[..., 3] = rng.uniform(0, 1, (2, 1))
        stored, _ = parted(rng.uniform(0.05, 3, (1, 4)).astype(np.float32), form)
        constant = rng.uniform(0, 1, 4).astype(np.float32)
        new, other = (Numbers(*parted(its, form)) for its in values)
        state = unchecked((8, 8), **fields)
        made = blend(new.packed, stored, state, new.fractions, constant, other)

        def channels(texel, alpha=1.0):
            octets = texel.view(np.uint8).reshape(1, 4)[:, : kind.layout.size]
            return [*map(Fraction, load(octets, kind)[0, :3].tolist()), Fraction(float(alpha))]

        first, second = (
            channels(its.packed, its_values[0, 3])
            for its, its_values in zip((new, other), values, strict=True)
        )
        old, found = channels(stored), channels(made)
        known = first, old, second, [Fraction(float(value)) for value in constant]
        for n, mantissa in bits.items():
            source = first[n] * exact_factor(fields["src_blend"], *known, n)
            target = old[n] * exact_factor(fields["dest_blend"], *known, n)
            signs = {BlendOp.SUBTRACT: (1, -1), BlendOp.REV_SUBTRACT: (-1, 1)}
            one, two = signs.get(fields["blend_op"], (1, 1))
            exact = one * source + two * target
            if exact < 0 and kind.layout.channels[n].bits < 16:
                exact = Fraction(0)  # without a sign
            slack = (abs(source) + abs(target)) / (1 << 21)
            unit = max(abs(exact) / (1 << mantissa), Fraction(1, 1 << 14 + mantissa))
            assert -slack <= abs(exact) - abs(found[n]) <= unit + slack, (fields, n)
            seen += 1
    assert seen > 30


@pytest.mark.plan("colour-write-26")
@pytest.mark.parametrize("write", [15, 5])
def test_a_target_of_halves_is_two_planes(write):
    """R16G16B16A16, blended by factors that its halves have: as the output merger blends it."""
    rng = np.random.default_rng(16)
    form, half = Format.R16G16B16A16_FLOAT, Format.R16G16_FLOAT
    values = rng.uniform(0, 4, (3, 50, 4)).astype(np.float16)
    values[..., 3] = rng.uniform(0, 1, (3, 50))
    new, _, other = values.astype(np.float32)
    octets = np.ascontiguousarray(values).view(np.uint8)
    halves = octets.reshape(3, 50, 2, 4).view("<u4")[..., 0]  # red and green, blue and alpha
    mask = {0: write & 3, 1: write >> 2}
    for pair in product(OF_BOTH, repeat=2):
        own = dict(zip(FACTORS, (*pair, *pair), strict=True)) | {"blend_enable": 1}
        state = unchecked((8, 8), colour_write=write, **own)
        whole = merge(new, octets[1], form, blend_of(state), None, other)
        for n in range(2):
            state = unchecked((8, 8), colour_format=half, colour_write=mask[n], **own)
            first, second = (
                Numbers(halves[k, :, n], its[:, 3].copy().view(np.uint32))
                for k, its in ((0, new), (2, other))
            )
            made = blend(first.packed, halves[1, :, n], state, first.fractions, None, second)
            assert np.array_equal(made, whole.view("<u4")[:, n]), (pair, n)


@pytest.mark.plan("colour-write-26")
def test_a_plane_needs_floats_that_are_blended():
    for form in FLOATS:
        state = unchecked((8, 8), colour_format=form, blend_enable=1)
        check_blend_state(state, COLOUR_FORMATS, floats=True)
        with pytest.raises(InputError, match=f"blend_enable must be 0 for {form.name}, not 1"):
            check_blend_state(state, COLOUR_FORMATS)
        state = unchecked((8, 8), colour_format=form, logic_op_enable=1)
        with pytest.raises(InputError, match=f"logic_op_enable must be 0 for {form.name}, not 1"):
            check_blend_state(state, COLOUR_FORMATS, floats=True)
    with pytest.raises(InputError, match="floats must be False without formats of floats, not Tr"):
        rtl.ColourWriteParams(formats=BASE_FORMATS, floats=True)
    tiny = top.CONFIGS["tiny"]
    with pytest.raises(InputError, match=r"reader.floats must be colour.floats True, not False"):
        replace(tiny, colour=replace(tiny.colour, floats=True))


def drawn(rng):
    """Every format by many pairs of factors, with masks, one tile twice in a row; noise."""
    rows = []
    for turn, form in enumerate([*FLOATS, Format.R8G8B8A8_UNORM]):
        own = {"target": turn % 8, "colour_format": form}
        clear = {"x1": SIDE, "y1": SIDE, "colour": 1, "colour_base": turn * PLACE}
        clear["colour_value"] = int(rng.integers(0, 1 << 32)) & 0x7BFF7BFF
        rows += [
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1),
            codec.pack(unchecked((SIDE, SIDE), **own), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
        ]
        for n, blended in enumerate(list(states(form))[turn % STEP :: STEP]):
            fields = blended | own | {"early_write": n % 4 > 0}
            fields["flat_colour"] = int(rng.integers(0, 1 << 32))
            fields["colour_write"] = 15 if n % 3 else int(rng.integers(1, 16))
            some = tiles(rng, 1, SIDE // 4, SIDE // 4, 4)
            some["mask"] &= (1 << 16) - 1
            some["slot"] = rng.integers(0, 1 << 12)
            rows += [
                bench.constant_beat(rng),
                codec.pack(unchecked((SIDE, SIDE), **fields), payloads.DRAW_STATE, WIDTH),
                codec.pack(np.concatenate([some, some]), payloads.tested(4), WIDTH),
            ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    return np.concatenate(rows)


@pytest.mark.qualify  # a build of its own
@pytest.mark.plan("colour-write-26")
def test_every_format_and_factor_in_hardware():
    used = {int(s[name]) for s in states(FLOATS[0]) for name in FACTORS}
    assert used == {*PLAIN_FACTORS, *CONSTANT, *SECOND}
    for seed in range(4):
        check(BLOCK, CONFIG, drawn(np.random.default_rng(seed)))


@pytest.mark.qualify
@pytest.mark.plan("colour-write-26")
def test_volume():
    check_paces(BLOCK, CONFIG, 120)
