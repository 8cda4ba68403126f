# SPDX-License-Identifier: BSD-2-Clause
"""Several colour planes of a target."""

import re
from itertools import pairwise

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.output.colour_write import ColourPlanes, blend
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.rtl.output.colour_slots import ColourSlots
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, FenceError, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.output import colour_write as bench
from tests import tiers
from tests.bench import check_bench
from tests.plane_formats import BLENDED, WITHOUT_ALPHA
from tests.volume import LIMIT, check, check_paces, volume

BLOCK = "colour_write"
CONFIG = "tiny_planes"
PARAMS = rtl.CONFIGS[CONFIG]
SIZE = 40, 32
ROOM = 1 << 14  # bytes for a plane of that size


def of_plane(number, size=SIZE, **fields):
    """A draw state of a plane."""
    state = draw_state(*size, **fields)
    state["slot"] = number
    return state


SIXTEEN = 16, 16  # pixels of a target of as many tiles as a cache of the configuration holds


def tiles(rng, count, columns=5, rows=4):
    """Tiles anywhere, some of them full."""
    out = np.zeros(count, dtype(payloads.tile(8)))
    out["x"] = rng.integers(0, columns, count)
    out["y"] = rng.integers(0, rows, count)
    some = rng.integers(0, 1 << 64, count, np.uint64, endpoint=False)
    out["mask"] = np.where(rng.random(count) < 0.3, ~np.uint64(0), some)
    return out


@pytest.mark.plan("colour-write-14")
def test_each_plane_is_a_picture_of_its_own():
    """Beside arrays that are written tile by tile: states, formats, masks, clears of each."""
    rng = np.random.default_rng(8)
    memory = rng.integers(0, 256, 3 * ROOM, np.uint8)
    unit = ColourPlanes(memory, planes=3, formats=COLOUR_FORMATS)
    images = np.zeros((3, 4, 5, 8, 8), np.uint32)
    unit.state = draw_state(*SIZE)
    for n in range(3):
        unit.clear((0, 0, *SIZE), n * 0x01020304, n * ROOM, n)
        images[n] = n * 0x01020304
    wrote = [0, 0, 0]
    for _ in range(40):
        states = {}
        for n in (0, *(n for n in (1, 2) if rng.random() < 0.6)):
            form = Format(rng.choice(COLOUR_FORMATS))
            blends = int(rng.integers(0, 2) and form in BLENDED - WITHOUT_ALPHA)
            channels = 15 if rng.random() < 0.6 else int(rng.integers(0, 16))
            states[n] = of_plane(n, blend_enable=blends, colour_write=channels, colour_format=form)
            unit.state = states[n]
        if rng.random() < 0.2:
            number = int(rng.integers(0, 3))
            unit.clear((3, 5, 21, 30), 0xA5 << 8 * number, 0, number)
            whole = images[number].swapaxes(1, 2).reshape(32, 40).copy()
            whole[5:30, 3:21] = 0xA5 << 8 * number
            images[number] = whole.reshape(4, 8, 5, 8).swapaxes(1, 2)
        given = tiles(rng, 3)
        colours = rng.integers(0, 1 << 32, (3, 3, 8, 8), np.uint32)
        unit.draw(given, colours)
        for n, state in states.items():
            for tile, colour in zip(given, colours[n], strict=True):
                place = images[n, tile["y"], tile["x"]]
                mixed = blend(colour, place, state)
                wrote[n] += (mixed != place).any()
                place[...] = np.where(unpack(tile["mask"][None])[0], mixed, place)
    unit.flush()
    assert min(wrote) > 20
    for plane, image in zip(unit.planes, images, strict=True):
        assert (plane.cache.values() == image).all()


@pytest.mark.plan("colour-write-14")
def test_what_a_plane_is_not_written_by():
    """No state of its own, one that cannot be, another target, no clear: it keeps what it has."""
    full = np.zeros(1, dtype(payloads.tile(8)))
    full["mask"] = (1 << 64) - 1
    white = np.full((2, 1, 8, 8), 0xFFFFFFFF, np.uint32)

    def drawn(*states, cleared=True):
        unit = ColourPlanes(np.zeros(3 * ROOM, np.uint8), planes=2)
        unit.state = draw_state(8, 8)
        unit.clear((0, 0, 8, 8), 0, 0, 0)
        unit.clear((0, 0, 8, 8 if cleared else 7), 0, ROOM, 1)
        for state in states:
            unit.state = state
        unit.draw(full, white)
        unit.flush()
        first, second = (plane.cache for plane in unit.planes)
        return bool(first.values().all()), bool(second and second.values().all())

    first = of_plane(0, (8, 8))
    second = of_plane(1, (8, 8))
    unknown = second.copy()
    unknown["blend_enable"] = 1
    unknown["src_blend"] = BlendFactor.SRC1_COLOR
    assert drawn(first, second) == (True, True)
    assert drawn(first) == (True, False)
    assert drawn(second, first) == (True, False)
    assert drawn(first, unknown) == (True, False)
    assert drawn(first, second, cleared=False) == (True, False)


@pytest.mark.plan("colour-write-14")
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_a_plane_whose_blending_is_not_known(order):
    """Its state is the last, and tiles are refused; or it is not, and the plane stays as it is.

    Then all draw again, and are not refused any more.
    """
    *known, drawn, fence = beats(16)
    states = []
    for number in order:
        state = of_plane(number, SIXTEEN)
        if number == 1:
            state["blend_enable"] = 1
            state["src_blend"] = state["dest_blend"] = BlendFactor.SRC1_COLOR
        states.append(codec.pack(state, payloads.DRAW_STATE, WIDTH))
    rows = [*known, *states, drawn, fence, *known, drawn, fence]
    fences = check(BLOCK, CONFIG, np.concatenate(rows))
    errors = codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == [FenceError.STATE if order[-1] == 1 else 0, 0]


@pytest.mark.plan("colour-write-14")
@pytest.mark.parametrize("count", [0, 9])
def test_planes_that_there_are_not(count):
    with pytest.raises(InputError, match=rf"planes must be 1 to 8, not {count}"):
        ColourPlanes(np.zeros(ROOM, np.uint8), planes=count)


@pytest.mark.plan("colour-write-14")
def test_another_target_begins_without_other_planes():
    unit = ColourPlanes(np.zeros(3 * ROOM, np.uint8), planes=2)
    for size in ((8, 8), (16, 8)):
        for n in (0, 1):
            unit.state = of_plane(n, size)
        unit.clear((0, 0, *size), 7, 0, 0)
        if size == (8, 8):
            unit.clear((0, 0, *size), 7, ROOM, 1)
    before = unit.planes[1].cache
    unit.clear((0, 0, 8, 8), 9, 0, 1)
    assert unit.planes[1].cache is before
    assert (before.values() == 7).all()


FORWARDED = 19  # clocks, of all formats: the page says so


def test_the_page_has_the_hazard_windows():
    for formats, forwarded, window in ((BASE_FORMATS, 4, 7), (COLOUR_FORMATS, FORWARDED, 22)):
        slots = ColourSlots(4, 16, 4, formats)
        assert (min(slots.forwarded), slots.latency + 1) == (forwarded, window)
    page = (ROOT / "docs/output/colour_write.md").read_text()
    assert re.search(r"4\s+or\s+5\s+clocks\s+apart,\s+or\s+7\s+and\s+more", page)
    assert re.search(r"19,\s+20,\s+or\s+22\s+and\s+more", page)


def written(beats):
    """Bytes that beats leave in memory, and the clocks that they take."""
    rows = np.concatenate(beats)
    memory = Memory(bench.memory(rows, PARAMS), (0, 0))
    run = volume(BLOCK, CONFIG).run({"i": rows}, 4096, memory=memory, limit=LIMIT)
    check(BLOCK, CONFIG, rows)
    return memory.data, run.clocks


def beats(count, **fields):
    """All planes are written by so many tiles, of which there are sixteen: all that caches hold."""
    size = SIXTEEN
    out = []
    for n in range(PARAMS.planes):
        out.append(codec.pack(of_plane(n, size, **fields), payloads.DRAW_STATE, WIDTH))
        clear = {"slot": n, "x1": size[0], "y1": size[1], "colour": 1}
        base = n * bench.PLACES * bench.PLACE
        out.append(
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, colour_base=base, **clear)
        )
    full = np.zeros(count, dtype(payloads.tile(4)))
    full["x"] = np.arange(count) % 4
    full["y"] = np.arange(count) // 4 % 4
    full["mask"] = (1 << 16) - 1
    out.append(codec.pack(full, payloads.tile(4), WIDTH))
    return [*out, scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)]


@pytest.mark.plan("colour-write-15")
@pytest.mark.parametrize(
    ("fields", "reads"),
    [
        ({}, False),
        ({"blend_enable": 1, "colour_format": Format.B5G6R5_UNORM}, True),
        ({"colour_write": 5, "colour_format": Format.R16G16_SINT}, True),
    ],
)
def test_all_planes_of_a_tile_a_clock(fields, reads):
    """A tile a clock; where what is stored decides one each turn of the lanes, in all planes."""
    data, short = written(beats(80, **fields))
    _, long = written(beats(880, **fields))
    turns = 16 // PARAMS.lanes if reads else 1
    again = 16 * turns  # clocks until the sixteen tiles come again: they are forwarded before
    assert abs((long - short) - 50 * again) < again
    planes = [data[n * bench.PLACES * bench.PLACE :][:512] for n in range(PARAMS.planes)]
    assert all((before != plane).any() for before, plane in pairwise(planes))


@pytest.mark.plan("colour-write-14")
def test_stimuli_reach_every_plane():
    """States and clears of each plane and of one that there is not; each is moved to memory."""
    seen = set()
    moved = np.zeros(PARAMS.planes, int)
    for seed in range(12):
        rows = bench.requests(np.random.default_rng(seed), 300, PARAMS)
        for kind, fields in ((Kind.STATE, payloads.DRAW_STATE), (Kind.CLEAR, payloads.CLEAR)):
            records = codec.unpack(rows[rows[:, 0] & 3 == kind], fields, dtype(fields))
            seen |= {(kind, min(int(slot), PARAMS.planes)) for slot in records["slot"]}
        reference = bench.Reference(PARAMS, bench.memory(rows, PARAMS), bench.shade)
        reference.expected(rows)
        moved += [sum(plane.traffic.values()) for plane in reference.unit.planes]
    assert seen == {(kind, n) for kind in (Kind.STATE, Kind.CLEAR) for n in range(4)}
    assert min(moved) > 500


@pytest.mark.qualify
@pytest.mark.plan("colour-write-14")
def test_bench(simulator):
    check_bench(BLOCK, CONFIG, simulator)


@pytest.mark.plan("colour-write-14")
@pytest.mark.plan("colour-write-18")
@pytest.mark.parametrize("config", tiers.by_tier([CONFIG, "planes"]))
def test_volume(config):
    check_paces(BLOCK, config, 60 if tiers.QUALIFY else 20)
