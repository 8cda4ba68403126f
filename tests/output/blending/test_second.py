# SPDX-License-Identifier: BSD-2-Clause
"""Two colours of a shader for one plane [fs 17.6], in hardware beside the golden model."""

from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.output.colour_write import ColourPlanes
from fixfunc.models.payload import dtype
from fixfunc.models.state import check_blend_state, check_draw_state
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, FenceError, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.output import colour_write as bench
from tests import tiers
from tests.output.test_colour_write import tiles
from tests.plane_formats import (
    BLENDED,
    CONSTANT,
    SECOND,
    WITHOUT_ALPHA,
    mixed_with,
    unchecked,
)
from tests.volume import check, check_paces

BLOCK = "colour_write"
CONFIG = "tiny_second"
SIDE = 32  # pixels of a target
PLACE = 1 << 13  # more bytes than such a target has
STEP = 1 if tiers.QUALIFY else 5  # of the pairs of factors that are drawn
OWN_ALPHA = BlendFactor.SRC1_ALPHA, BlendFactor.INV_SRC1_ALPHA
EITHER = {"src_blend": BlendFactor.SRC1_COLOR, "dest_blend": BlendFactor.BLEND_FACTOR}


@pytest.mark.plan("colour-write-25")
def test_every_format_and_factor_in_hardware():
    """Beside a blend constant that changes, with masks, one tile twice in a row."""
    rng = np.random.default_rng(25)
    rows = []
    for turn, form in enumerate(sorted(BLENDED)):
        own = {"target": turn % 8, "colour_format": form}
        clear = {"x1": SIDE, "y1": SIDE, "colour": 1, "colour_base": turn * PLACE}
        clear["colour_value"] = int(rng.integers(0, 1 << 32))
        rows += [
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1),
            codec.pack(unchecked((SIDE, SIDE), **own), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
        ]
        states = list(mixed_with(SECOND, form, BlendFactor))[turn % STEP :: STEP]
        for n, fields in enumerate([*states, EITHER | {"blend_enable": 1}]):
            own |= {"colour_write": 15 if n % 3 else int(rng.integers(1, 16))}
            own |= {"early_write": n % 4 > 0, "flat_colour": int(rng.integers(0, 1 << 32))}
            some = tiles(rng, 1, SIDE // 4, SIDE // 4, 4)
            some["mask"] &= (1 << 16) - 1
            some["slot"] = rng.integers(0, 1 << 12)
            rows += [
                bench.constant_beat(rng),
                bench.constant_beat(rng, constant=False),
                codec.pack(unchecked((SIDE, SIDE), **own | fields), payloads.DRAW_STATE, WIDTH),
                codec.pack(np.concatenate([some, some]), payloads.tested(4), WIDTH),
            ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    fences = check(BLOCK, CONFIG, np.concatenate(rows))
    assert not codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"].any()


@pytest.mark.plan("colour-write-24")
def test_formats_of_a_plane_change_between_tiles():
    """Under one constant, without a pause: each tile has it in the steps of its own format."""
    rng = np.random.default_rng(26)
    factors = dict.fromkeys(("src_blend", "src_blend_alpha"), BlendFactor.BLEND_FACTOR)
    factors |= dict.fromkeys(("dest_blend", "dest_blend_alpha"), BlendFactor.INV_BLEND_FACTOR)
    own = {"early_write": 1, "colour_write": 15}
    first = codec.pack(unchecked((SIDE, SIDE), **own), payloads.DRAW_STATE, WIDTH)
    clear = {"x1": SIDE, "y1": SIDE, "colour": 1, "colour_value": 0x40A0C020}
    rows = [first, scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear)]
    every = tiles(rng, 64, SIDE // 4, SIDE // 4, 4)
    every["x"], every["y"] = np.arange(64) % 8, np.arange(64) // 8
    every["mask"] = 15  # one group of samples: a clock a tile
    rows.append(codec.pack(every[:16], payloads.tested(4), WIDTH))  # they are on chip then
    rows.append(bench.constant_beat(rng))
    own |= factors | {"blend_enable": 1}
    for _ in range(8):
        forms = rng.permutation(sorted(BLENDED))[:16]
        for tile, form in zip(np.split(every[:16], 16), forms, strict=True):
            state = unchecked((SIDE, SIDE), colour_format=form, **own)
            rows += [
                codec.pack(state, payloads.DRAW_STATE, WIDTH),
                codec.pack(tile, payloads.tested(4), WIDTH),
            ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    check(BLOCK, CONFIG, np.concatenate(rows))


@pytest.mark.plan("colour-write-25")
def test_the_second_colours_decide_in_memory():
    """Golden: the same draws with other second colours are another picture."""
    full = np.zeros(1, dtype(payloads.tile(8)))
    full["mask"] = (1 << 64) - 1
    pictures = []
    for second in (0x00000000, 0x80808080, 0xFFFFFFFF):
        unit = ColourPlanes(np.zeros(1 << 16, np.uint8), second=True)
        factors = {"src_blend": BlendFactor.SRC1_COLOR, "dest_blend": BlendFactor.ZERO}
        alpha = {f"{name}_alpha": factor for name, factor in factors.items()}
        unit.state = unchecked((8, 8), blend_enable=1, **factors, **alpha)
        unit.clear((0, 0, 8, 8), 0)
        given = np.full((2, 1, 8, 8), 0xFFFFFFFF, np.uint32)
        given[1] = second
        unit.draw(full, given)
        unit.flush()
        pictures.append(int(unit.planes[0].cache.values().max()))
    assert pictures == [0x00000000, 0x80808080, 0xFFFFFFFF]


@pytest.mark.plan("colour-write-25")
@pytest.mark.parametrize("name", ["src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"])
@pytest.mark.parametrize("factor", SECOND)
def test_a_state_needs_planes_that_have_it(name, factor):
    """Of all others it is a typed error."""
    state = unchecked((8, 8), blend_enable=1, **{name: factor})
    check_blend_state(state, BASE_FORMATS, second=True)
    for check_it in (check_blend_state, check_draw_state):
        with pytest.raises(InputError, match=f"{name} must be one of ZERO, .*INV_BLEND_FACTOR, "):
            check_it(state, BASE_FORMATS)


@pytest.mark.plan("colour-write-25")
def test_hardware_refuses_what_is_refused_with_second_colours_too():
    """A shader's alpha of formats that have no room for it; numbers that are no factor."""
    size = 8, 4
    full = np.zeros(1, dtype(payloads.tested(4)))
    full["mask"] = (1 << 16) - 1
    rows = [
        codec.pack(unchecked(size), payloads.DRAW_STATE, WIDTH),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, x1=8, y1=4, colour=1),
    ]
    one = {"blend_enable": 1, "src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.ZERO}
    cases = [({"src_blend": number}, True) for number in (0, 12, 13, 20, 31)]
    cases += [({"dest_blend_alpha": factor}, False) for factor in (*SECOND, *CONSTANT)]
    for form in sorted(WITHOUT_ALPHA):
        for factor in SECOND:
            of_alpha = factor in OWN_ALPHA
            cases.append(({"colour_format": form, "dest_blend": factor}, of_alpha))
            cases.append(({"colour_format": form, "src_blend": factor}, of_alpha))
            cases.append(({"colour_format": form, "src_blend_alpha": factor}, False))
    for fields, _ in cases:
        state = unchecked(size, **one | fields)
        rows += [
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            codec.pack(full, payloads.tested(4), WIDTH),
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1),
        ]
    fences = check(BLOCK, CONFIG, np.concatenate(rows))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == [FenceError.STATE if refused else 0 for _, refused in cases]


@pytest.mark.plan("colour-write-25")
def test_the_first_plane_with_two_colours_is_drawn_alone():
    """Golden [fs 17.6]: a single target is bound then; another one keeps what it has."""
    full = np.zeros(1, dtype(payloads.tile(8)))
    full["mask"] = (1 << 64) - 1
    unit = ColourPlanes(np.zeros(1 << 17, np.uint8), planes=2, formats=COLOUR_FORMATS, second=True)
    other = {"slot": 1, "colour_format": Format.R16G16_SNORM}
    states = unchecked((8, 8)), unchecked((8, 8), **other)
    for state in states:
        unit.state = state
        unit.clear((0, 0, 8, 8), 0x40404040, int(state["slot"]) << 16, int(state["slot"]))
    factors = {"src_blend": BlendFactor.SRC1_COLOR, "dest_blend": BlendFactor.ZERO}
    both = unchecked((8, 8), blend_enable=1, **factors, src_blend_alpha=BlendFactor.SRC1_ALPHA)
    given = np.full((2, 1, 8, 8), 0xFFFFFFFF, np.uint32)
    given[1] = 0x80808080
    own = int(Format.R8G8B8A8_UNORM)
    for first, formats, wanted in (
        (states[0], [own, int(other["colour_format"])], [0xFFFFFFFF, 0x80808080]),
        (both, [own, own], [0x80808080, 0x40404040]),
    ):
        for plane in unit.planes:
            plane.cache.clear((0, 0, 8, 8), 0x40404040)
        unit.state, unit.state = first, states[1]
        assert unit.written == formats
        unit.draw(full, given)
        unit.flush()
        found = [plane.cache.values() for plane in unit.planes]
        assert [(int(its.min()), int(its.max())) for its in found] == [(its,) * 2 for its in wanted]


@pytest.mark.plan("colour-write-25")
@pytest.mark.parametrize("factor", SECOND)
def test_other_planes_have_no_second_colour(factor):
    fields = {"blend_enable": 1, "dest_blend": factor}
    check_blend_state(unchecked((8, 8), **fields), BASE_FORMATS, True, planes=2)
    with pytest.raises(InputError, match=r"dest_blend must be one of ZERO, .*INV_BLEND_FACTOR, "):
        check_blend_state(unchecked((8, 8), slot=1, **fields), BASE_FORMATS, True, planes=2)


@pytest.mark.qualify  # a build of its own
@pytest.mark.plan("colour-write-25")
def test_hardware_refuses_second_colours_of_other_planes():
    size = 8, 4
    full = np.zeros(1, dtype(payloads.tested(4)))
    full["mask"] = (1 << 16) - 1
    rows, wanted = [], []
    for slot in range(2):
        clear = {"x1": 8, "y1": 4, "colour": 1, "colour_base": slot * PLACE, "slot": slot}
        rows += [
            codec.pack(unchecked(size, slot=slot), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
        ]
    for factor, slot in product(SECOND, range(2)):
        state = unchecked(size, slot=slot, blend_enable=1, dest_blend=factor)
        rows += [
            codec.pack(unchecked(size), payloads.DRAW_STATE, WIDTH),
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            codec.pack(full, payloads.tested(4), WIDTH),
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1),
        ]
        wanted.append(FenceError.STATE if slot else 0)
    fences = check(BLOCK, "tiny_second_planes", np.concatenate(rows))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == wanted


@pytest.mark.plan("colour-write-25")
def test_random_beats_reach_second_colours():
    """Of every factor, on every format; none is sent to planes without."""
    for config, expected in ((CONFIG, set(SECOND)), ("tiny_planes", set())):
        params = rtl.CONFIGS[config]
        seen, formats = set(), set()
        for seed in range(12):
            rows = bench.requests(np.random.default_rng(seed), 300, params)
            states = rows[rows[:, 0] & 3 == Kind.STATE]
            states = codec.unpack(states, payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))
            for state in states[states["blend_enable"] == 1]:
                try:
                    check_blend_state(state, COLOUR_FORMATS, params.second)
                except InputError:
                    continue
                found = {int(state[name]) for name in ("src_blend", "dest_blend")} & expected
                seen |= found
                formats |= {int(state["colour_format"])} if found else set()
        assert seen == expected
        assert len(formats) > 12 or not expected


@pytest.mark.plan("colour-write-25")
@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        pytest.param("tiny_second_bytes", marks=pytest.mark.qualify),
        pytest.param("tiny_second_planes", marks=pytest.mark.qualify),
    ],
)
def test_volume(config):
    check_paces(BLOCK, config, 120 if tiers.QUALIFY else 40)
