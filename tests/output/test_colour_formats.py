# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colour planes: golden beside exact rationals and the output merger, and hardware."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.output.blend import blend_of
from fixfunc.models.output.colour_write import ColourPlanes, blend
from fixfunc.models.output.output_merger import merge
from fixfunc.models.payload import dtype
from fixfunc.models.state import blending_known, draw_state
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.spec import payloads
from fixfunc.spec.colours import COLOUR_FORMATS
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp, FenceError, Kind, LogicOp
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.output import colour_write as bench
from tests import tiers
from tests.output.test_colour_write import tiles
from tests.plane_formats import (
    BLENDED,
    COMBINED,
    CONSTANT,
    HALVES,
    REFUSED,
    canonical,
    channel,
    colours,
    exact,
    factors_of,
    legal,
    mixed_with,
    places,
    refused_by,
    unchecked,
    words,
)
from tests.volume import check

BLOCK = "colour_write"
CONFIG = "tiny_planes"
PARAMS = rtl.CONFIGS[CONFIG]
SIDE = 32  # pixels of a target in hardware
PLACE = 1 << 13  # more bytes than such a target has
by_format = pytest.mark.parametrize("form", COLOUR_FORMATS, ids=lambda form: form.name)


@by_format
@pytest.mark.plan("colour-write-16")
def test_a_format_is_merged_as_the_output_merger_does(form):
    """Every pair of factors, operation, logic operation and mask that both have: the same texels.

    Bits are compared but for the second -1.0 of SNORM, which the merger never stores.
    """
    rng = np.random.default_rng(int(form))
    cases = [({}, mask) for mask in range(16)]
    cases += [(fields, n % 16 if n % 3 else 15) for n, fields in enumerate(legal(form))]
    for fields, mask in cases:
        state = draw_state(8, 8, colour_format=form, colour_write=mask, **fields)
        new, old = (words(rng, form, 96) for _ in range(2))
        stored = old.view(np.uint8).reshape(-1, 4)
        wanted = np.zeros_like(stored)
        size = FORMATS[form].bytes
        wanted[:, :size] = merge(colours(new, form), stored[:, :size], form, blend_of(state))
        wanted = wanted.view(np.uint32)[:, 0]
        got = blend(new, old, state)
        assert (canonical(got, form) == canonical(wanted, form)).all(), (form.name, fields, mask)


@pytest.mark.plan("colour-write-16")
@pytest.mark.parametrize("form", sorted(BLENDED), ids=lambda form: form.name)
def test_blending_is_the_nearest_to_the_exact(form):
    rng = np.random.default_rng(100 + int(form))
    known = factors_of(form)
    for _ in range(300):
        factors = {
            f"{side}_blend{suffix}": int(rng.choice(known))
            for side in ("src", "dest")
            for suffix in ("", "_alpha")
        }
        ops = {
            f"blend_op{suffix}": int(rng.choice(list(BlendOp), p=(0.6, 0.1, 0.1, 0.1, 0.1)))
            for suffix in ("", "_alpha")
        }
        mask = 15 if rng.random() < 0.5 else int(rng.integers(0, 16))
        state = draw_state(
            8, 8, blend_enable=1, colour_format=form, colour_write=mask, **factors, **ops
        )
        new, old = (words(rng, form, 6) for _ in range(2))
        wanted = [
            exact(*pair, form, state) for pair in zip(new.tolist(), old.tolist(), strict=True)
        ]
        assert blend(new, old, state).tolist() == wanted


@by_format
@pytest.mark.plan("colour-write-16")
def test_bits_that_are_not_blended_stay(form):
    """Opaque channels are the shader's bits, the others those that are stored: NaN, -1.0 twice."""
    rng = np.random.default_rng(int(form))
    new, old = rng.integers(0, 1 << 32, (2, 500), np.uint32)
    for mask in range(16):
        state = draw_state(8, 8, colour_format=form, colour_write=mask)
        wanted = np.zeros(500, np.int64)
        for n, place in enumerate(places(form)):
            if place is not None:
                source = new if mask >> n & 1 else old
                wanted |= channel(source.astype(np.int64), place) << place[0]
        assert (blend(new, old, state) == wanted.astype(np.uint32)).all()


@pytest.mark.plan("colour-write-19")
@pytest.mark.parametrize("form", HALVES, ids=lambda form: form.name)
def test_a_target_of_64_bits_is_two_planes(form):
    """Masks and logic operations, each plane with its half of the channels: as the merger's."""
    rng = np.random.default_rng(int(form))
    half = HALVES[form]
    channels = sum(place is not None for place in places(half))
    cases = [({}, mask) for mask in range(16)]
    if half in COMBINED:
        cases += [({"logic_op_enable": 1, "logic_op": op}, 15 - op % 4) for op in LogicOp]
    for fields, mask in cases:
        new, old = (
            np.stack([words(rng, half, 96) for _ in range(2)], -1).view(np.uint8) for _ in range(2)
        )
        whole = draw_state(8, 8, colour_write=mask, **fields)
        given = [colours(new.view(np.uint32)[:, n], half)[:, :channels] for n in range(2)]
        shader = np.ones((96, 4), given[0].dtype)
        shader[:, : 2 * channels] = np.hstack(given)
        wanted = merge(shader, old, form, blend_of(whole)).view(np.uint32)
        for n in range(2):
            own = mask >> n * channels & 3
            state = draw_state(8, 8, colour_format=half, colour_write=own, **fields)
            got = blend(new.view(np.uint32)[:, n], old.view(np.uint32)[:, n], state)
            assert (canonical(got, half) == canonical(wanted[:, n], half)).all(), (fields, mask)


@pytest.mark.plan("colour-write-17")
def test_golden_refuses_what_a_format_does_not_have():
    """Each for its reason; all that a format has is known, to planes that may have the format."""
    for reason, fields in REFUSED.items():
        assert not blending_known(unchecked((8, 8), **fields), COLOUR_FORMATS), reason
    for fields in refused_by(second=True, floats=True):
        with pytest.raises(InputError, match="colour_format|_enable|src_|dest_"):
            draw_state(8, 8, **fields)
    for form in COLOUR_FORMATS:
        for fields in legal(form):
            state = draw_state(8, 8, colour_format=form, **fields)
            assert blending_known(state, COLOUR_FORMATS)
            assert blending_known(state) == (form == Format.R8G8B8A8_UNORM)


def drawn(states):
    """Beats: a target, all planes cleared, these states in order, every sample drawn, a fence."""
    size = 8, 4
    rows = []
    for n in range(PARAMS.planes):
        rows.append(codec.pack(unchecked(size, slot=n), payloads.DRAW_STATE, WIDTH))
        clear = {"slot": n, "x1": size[0], "y1": size[1], "colour": 1, "colour_value": 0x1234567}
        base = n * bench.PLACES * bench.PLACE
        rows.append(
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, colour_base=base, **clear)
        )
    full = np.zeros(2, dtype(payloads.tile(4)))
    full["x"] = 0, 1
    full["mask"] = (1 << 16) - 1
    fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)
    for order in states:
        rows += [codec.pack(state, payloads.DRAW_STATE, WIDTH) for state in order]
        rows += [codec.pack(full, payloads.tile(4), WIDTH), fence]
    return np.concatenate(rows)


@pytest.mark.plan("colour-write-17")
def test_hardware_refuses_the_same_states():
    """Each as the last state, where tiles are refused; and before another plane's, whose are drawn.

    What was refused writes nothing to its plane: memory is the golden one.
    """
    size = 8, 4
    first, third = (unchecked(size, slot=n) for n in (0, 2))
    orders = []
    for fields in REFUSED.values():
        wrong = unchecked(size, slot=1, **fields)
        orders += [[first, third, wrong], [first, wrong, third]]
    fences = check(BLOCK, CONFIG, drawn(orders))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == [FenceError.STATE, 0] * len(REFUSED)


@pytest.mark.plan("colour-write-17")
def test_planes_of_one_format_refuse_all_others():
    """Hardware for R8G8B8A8_UNORM alone: a number more or less is refused, each bit of it read."""
    size = 8, 4
    numbers = [28, *(28 ^ 1 << bit for bit in range(7)), *COLOUR_FORMATS[1:]]
    clear = {"x1": size[0], "y1": size[1], "colour": 1}
    rows = [
        codec.pack(unchecked(size), payloads.DRAW_STATE, WIDTH),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear),
    ]
    full = np.zeros(1, dtype(payloads.tile(4)))
    full["mask"] = (1 << 16) - 1
    for number in numbers:
        state = unchecked(size, colour_format=number)
        rows += [codec.pack(state, payloads.DRAW_STATE, WIDTH)]
        rows += [codec.pack(full, payloads.tile(4), WIDTH)]
        rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    fences = check(BLOCK, "tiny", np.concatenate(rows))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == [0] + [FenceError.STATE] * (len(numbers) - 1)


@pytest.mark.plan("colour-write-17")
def test_a_refused_plane_keeps_what_it_has():
    """Golden: nothing is drawn on it, though the state before could be obeyed."""
    full = np.zeros(1, dtype(payloads.tile(8)))
    full["mask"] = (1 << 64) - 1
    for fields in REFUSED.values():
        unit = ColourPlanes(np.zeros(1 << 16, np.uint8), planes=2, formats=COLOUR_FORMATS)
        unit.state = unchecked((8, 8))
        for n in range(2):
            unit.clear((0, 0, 8, 8), 5, n << 14, n)
        unit.state = unchecked((8, 8), slot=1)
        unit.state = unchecked((8, 8), slot=1, **fields)
        unit.draw(full, np.full((2, 1, 8, 8), 9, np.uint32))
        unit.flush()
        assert [plane.cache.values().max() for plane in unit.planes] == [9, 5]


STEP = 1 if tiers.QUALIFY else 8  # of the pairs of factors that are drawn


def every_state(form):
    """What a format has, once with all channels and once with a mask; every mask of opaque draws.

    A third of those that blend have both, and early tests.
    """
    rng = np.random.default_rng(int(form))
    with_constant = mixed_with(CONSTANT, form) if form in BLENDED else ()
    for n, fields in enumerate([*legal(form), *with_constant]):
        if fields.get("blend_enable") and not fields.get("logic_op_enable") and n % STEP:
            continue
        yield fields | {"colour_write": 15, "early_write": 1}
        yield fields | {"colour_write": 1 + n % 14, "early_write": n % 3 > 0}
    for mask in range(1, 16):
        yield {"colour_write": mask, "early_write": int(rng.integers(0, 2))}


@pytest.mark.plan("colour-write-18")
@pytest.mark.plan("colour-write-24")
def test_every_format_has_all_of_its_blending_in_hardware():
    """Every factor, operation, logic operation and mask; planes have formats of their own.

    ``make qualify`` has every pair of factors. They draw over colours of any bits, one tile twice
    in a row. The blend constant changes between them.
    """
    rng = np.random.default_rng(7)
    seen = Counter()
    table = payloads.tile(4)
    rows = []
    base = bench.PLACES * bench.PLACE
    for turn, form in enumerate(COLOUR_FORMATS):
        rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
        for n in range(PARAMS.planes):
            fields = {"slot": n, "target": turn % 8, "colour_format": form}
            rows.append(codec.pack(unchecked((SIDE, SIDE), **fields), payloads.DRAW_STATE, WIDTH))
            clear = {"slot": n, "x1": SIDE, "y1": SIDE, "colour": 1}
            clear["colour_base"] = n * base + turn * PLACE  # memory is compared in the end
            clear["colour_value"] = int(rng.integers(0, 1 << 32))
            rows.append(scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear))
        others = [COLOUR_FORMATS[(turn + k) % len(COLOUR_FORMATS)] for k in (5, 11)]
        more = [list(every_state(form)) for form in others]
        for n, fields in enumerate(every_state(form)):
            of_planes = [fields, *(states[n % len(states)] for states in more)]
            for slot, (its, what) in enumerate(zip([form, *others], of_planes, strict=True)):
                own = what | {"slot": slot, "target": turn % 8, "colour_format": its}
                own |= {"early_write": fields["early_write"]}
                own |= {"flat_colour": int(rng.integers(0, 1 << 32))}
                state = unchecked((SIDE, SIDE), **own)
                rows.append(codec.pack(state, payloads.DRAW_STATE, WIDTH))
                seen[its, "mask", own["colour_write"]] += 1
                if own.get("logic_op_enable"):
                    seen[its, "logic", own["logic_op"]] += 1
                elif own.get("blend_enable"):
                    seen[its, "blend", int(state["src_blend"])] += 1
            if n % 6 == 0:
                rows.append(bench.constant_beat(rng))
            some = tiles(rng, 1, SIDE // 4, SIDE // 4, 4)
            some["mask"] &= (1 << 16) - 1
            rows.append(codec.pack(np.concatenate([some, some]), table, WIDTH))
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    fences = check(BLOCK, CONFIG, np.concatenate(rows))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert not errors[1:].any()
    for form in COLOUR_FORMATS:
        assert all(seen[form, "mask", mask] for mask in range(1, 16))
        if form in BLENDED:
            assert all(seen[form, "blend", factor] for factor in factors_of(form))
        if form in COMBINED:
            assert all(seen[form, "logic", op] for op in LogicOp)


@pytest.mark.plan("colour-write-18")
def test_both_bits_of_minus_one_in_hardware():
    """Stored least numbers of SNORM: MIN and MAX store the one above, opaque masks keep them."""
    size = 8, 4
    rows = []
    full = np.zeros(2, dtype(payloads.tile(4)))
    full["x"] = 0, 1
    full["mask"] = (1 << 16) - 1
    least = {
        Format.R8G8B8A8_SNORM: 0x80808080,
        Format.R16G16_SNORM: 0x80008000,
        Format.R8G8_SNORM: 0x8080,
        Format.R16_SNORM: 0x8000,
    }
    factors = {"src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.DEST_COLOR}
    ops = [factors | {"blend_enable": 1, "blend_op": op, "blend_op_alpha": op} for op in BlendOp]
    cases = product(least.items(), [{}, *ops], (15, 5))
    for n, ((form, value), fields, mask) in enumerate(cases):
        own = fields | {"colour_format": form, "colour_write": mask, "target": n % 8}
        rows.append(codec.pack(unchecked(size, **own), payloads.DRAW_STATE, WIDTH))
        clear = {"x1": size[0], "y1": size[1], "colour": 1, "colour_value": value}
        clear["colour_base"] = n * PLACE  # memory is compared in the end
        rows.append(scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **clear))
        rows.append(codec.pack(full, payloads.tile(4), WIDTH))
        rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    check(BLOCK, CONFIG, np.concatenate(rows))


@pytest.mark.plan("colour-write-18")
def test_random_beats_reach_every_format():
    """Tiles are drawn on each with blending, logic, each partial mask; states are refused."""
    seen = Counter()
    for seed in range(32):
        rows = bench.requests(np.random.default_rng(seed), 300, PARAMS)
        is_state = rows[:, 0] & 3 == Kind.STATE
        fields = payloads.DRAW_STATE
        states = codec.unpack(rows[is_state], fields, dtype(fields))
        for state in states[states["slot"] < PARAMS.planes]:
            if not blending_known(state, PARAMS.formats):
                seen["refused"] += 1
                continue
            form = Format(int(state["colour_format"]))
            mask = int(state["colour_write"])
            seen[form, mask] += 1
            if state["logic_op_enable"]:
                seen[form, "logic"] += 1
            elif state["blend_enable"]:
                seen[form, "blend", mask == 15] += 1
    assert seen["refused"] > 20
    for form in COLOUR_FORMATS:
        assert sum(seen[form, mask] for mask in range(1, 15)) > 3, form
        assert seen[form, 15] > 3, form
        if form in BLENDED:
            assert min(seen[form, "blend", whole] for whole in (False, True)) > 1, form
        if form in COMBINED:
            assert seen[form, "logic"] > 1, form


@pytest.mark.plan("colour-write-17")
@pytest.mark.parametrize(
    "formats",
    [
        (),
        (Format.R16G16_UNORM,),
        (Format.R8G8B8A8_UNORM, Format.R32G32_UINT),
        (Format.R8G8B8A8_UNORM, Format.R8G8B8A8_UNORM),
    ],
)
def test_wrong_formats(formats):
    with pytest.raises(ValueError, match="formats must be some of .*, each once, R8G8B8A8_UNORM"):
        rtl.ColourWriteParams(formats=formats)
