# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.output.blend import blend_of
from fixfunc.models.output.colour_write import ColourTarget, blend
from fixfunc.models.output.output_merger import merge
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.quads import quads_of
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, unpack
from fixfunc.models.state import PLAIN_FACTORS, draw_state
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.spec import payloads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp, Kind, LogicOp
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.output import colour_write as harness
from tests.bench import check_bench
from tests.volume import LIMIT, check, check_paces, volume

BLOCK = "colour_write"
MIX = draw_state(8, 8, blend_enable=1)


def rgba(channels):
    """uint32 of channels, shape (..., 4)."""
    return (
        (np.asarray(channels, np.uint32) << np.arange(0, 32, 8, dtype=np.uint32))
        .sum(-1)
        .astype(np.uint32)
    )


def tiles(rng, n, columns, rows, edge=8):
    """Tiles of random places and masks, some of them full."""
    out = np.zeros(n, dtype(payloads.tested(edge)))
    out["x"] = rng.integers(0, columns, n)
    out["y"] = rng.integers(0, rows, n)
    out["slot"] = rng.integers(0, 4096, n)
    out["mask"] = np.where(
        rng.random(n) < 0.3, (1 << 64) - 1, rng.integers(0, 1 << 64, n, np.uint64, endpoint=False)
    )
    return out


@pytest.mark.plan("colour-write-1")
def test_blend_is_the_nearest_to_the_exact():
    """Every alpha, and all pairs of some values; halves do not occur, 255 being odd."""
    values = [0, 1, 2, 77, 127, 128, 200, 253, 254, 255]
    for alpha in range(256):
        new, old = (grid.ravel() for grid in np.meshgrid(values, values))
        got = (
            blend(
                rgba(np.stack([new, new, new, np.full_like(new, alpha)], -1)),
                rgba(np.stack([old] * 4, -1)),
                MIX,
            )
            & 255
        )
        wanted = [
            round(Fraction(int(n) * alpha + int(o) * (255 - alpha), 255))
            for n, o in zip(new, old, strict=True)
        ]
        assert got.tolist() == wanted


@pytest.mark.plan("colour-write-2")
def test_blend_as_llvmpipe(llvmpipe_blend):
    """Within one step: Mesa mixes by 8-bit weights of its own."""
    rng = np.random.default_rng(1)
    new = rng.integers(0, 256, (64, 64, 4), np.uint8)
    old = rng.integers(0, 256, (64, 64, 4), np.uint8)
    ours = blend(rgba(new), rgba(old), MIX)[..., None] >> np.arange(0, 32, 8) & 255
    theirs = llvmpipe_blend()(new, old)
    assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert (ours == theirs).mean() > 0.7


@pytest.mark.plan("colour-write-3")
def test_channels_that_are_not_written_stay():
    for mask in range(16):
        got = blend(
            np.uint32([0x11223344]), np.uint32([0xAABBCCDD]), draw_state(8, 8, colour_write=mask)
        )[0]
        wanted = [(0x11223344 if mask >> c & 1 else 0xAABBCCDD) >> 8 * c & 255 for c in range(4)]
        assert [got >> 8 * c & 255 for c in range(4)] == wanted


def combinations():
    """States with every pair of factors, operation and logic operation."""
    for n, (source, target) in enumerate(product(PLAIN_FACTORS, repeat=2)):
        op = list(BlendOp)[n % 3]
        colours = {"src_blend": source, "dest_blend": target, "blend_op": op}
        alpha = {f"{name}_alpha": value for name, value in colours.items()}
        yield {"blend_enable": 1} | colours | alpha
    for op in BlendOp:
        yield {"blend_enable": 1, "blend_op": op, "blend_op_alpha": BlendOp.ADD}
        yield {"blend_enable": 1, "blend_op_alpha": op}
    for op in LogicOp:
        yield {"logic_op_enable": 1, "logic_op": op, "blend_enable": op % 2}


@pytest.mark.plan("colour-write-13")
@pytest.mark.plan("colour-write-21")
def test_every_factor_and_operation():
    """Of a tile each, over colours that were drawn before; with masks, and of noise elsewhere."""
    rng = np.random.default_rng(13)
    side = 32

    def state(fields):
        return codec.pack(draw_state(side, side, **fields), payloads.DRAW_STATE, WIDTH)

    whole = {"colour": 1, "x1": side, "y1": side, "colour_value": 0x90A03070}
    rows = [state({}), scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole)]
    table = payloads.tile(4)
    every = list(combinations())
    drawn = tiles(rng, 2 * len(every), side // 4, side // 4, 4)
    drawn["mask"] &= (1 << 16) - 1
    drawn["slot"] = rng.integers(0, 1 << 12, len(drawn))
    for n, fields in enumerate([{}] * len(every) + every):
        mask = {"colour_write": 15 if n % 4 else int(rng.integers(0, 16))}
        noise = {"flat_colour": int(rng.integers(0, 1 << 32))}
        rows += [state(fields | mask | noise), codec.pack(drawn[n : n + 1], table, WIDTH)]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    check(BLOCK, "tiny", np.concatenate(rows))


@pytest.mark.plan("colour-write-13")
def test_a_state_blends_as_the_output_merger():
    """Of every combination: the same bytes as floats in that target."""
    rng = np.random.default_rng(3)
    new, old = rng.integers(0, 256, (2, 64, 4))
    floats = new.astype(np.float32) / np.float32(255)
    for fields in combinations():
        state = draw_state(8, 8, colour_write=int(rng.integers(0, 16)), **fields)
        how = blend_of(state)
        wanted = merge(floats, old.astype(np.uint8), Format.R8G8B8A8_UNORM, how)
        assert (blend(rgba(new), rgba(old), state) == rgba(wanted)).all()


@pytest.mark.plan("colour-write-4")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_quads(samples):
    """Against a loop over pixels."""
    rng = np.random.default_rng(samples)
    state = draw_state(64, 64, samples, flat_colour=0x12345678)
    lx, ly = LANE_SHAPE[state["samples"]]
    given = tiles(rng, 40, 8, 8)
    given["covered"] = given["mask"]
    given["mask"][20:] = 1 << rng.integers(0, 64, 20).astype(np.uint64)
    out = quads_of(given, state, [28, 0, 24])
    lanes = unpack(given["mask"])
    assert (out["covered"] == given["covered"]).all()
    live = unpack(out["live"])
    helpers = unpack(out["helpers"])
    for n in range(len(given)):
        for y in range(8):
            for x in range(8):
                in_tile = y < 8 >> ly and x < 8 >> lx
                inside = (
                    in_tile and lanes[n, y << ly : (y + 1) << ly, x << lx : (x + 1) << lx].any()
                )
                assert live[n, y, x] == inside
                quad = live[n, y & ~1 : (y & ~1) + 2, x & ~1 : (x & ~1) + 2]
                assert helpers[n, y, x] == (quad.any() and not inside)
    assert (out["flat_colour"] == 0x12345678).all()
    formats = [out[f"colour{plane}_format"] for plane in ("", 1, 2)]
    assert [np.unique(its).tolist() for its in formats] == [[28], [0], [24]]


@pytest.mark.plan("colour-write-5")
@pytest.mark.parametrize(
    "shape",
    [
        CacheShape(),
        CacheShape(sets=2, ways=1, table_lines=1),
        CacheShape(sets=4, ways=2, fast_clear=False),
    ],
)
def test_memory_is_the_picture(shape):
    """Whatever the cache: an array of colours that is written tile by tile."""
    rng = np.random.default_rng(5)
    memory = np.random.default_rng(6).integers(0, 256, 1 << 16, np.uint8)
    target = ColourTarget(memory, shape)
    image = np.zeros((4, 5, 8, 8), np.uint32)
    target.state = draw_state(40, 32)
    target.clear((0, 0, 40, 32), 0x80402010, 512)
    image[:] = 0x80402010
    for n in range(60):
        target.state = state = draw_state(
            40, 32, blend_enable=n % 2, colour_write=15 if n % 3 else int(rng.integers(0, 16))
        )
        if n % 20 == 19:
            target.clear((3, 5, 21, 30), n)
            whole = image.swapaxes(1, 2).reshape(32, 40).copy()
            whole[5:30, 3:21] = n
            image = whole.reshape(4, 8, 5, 8).swapaxes(1, 2).copy()
        given = tiles(rng, 3, 5, 4)
        colours = rng.integers(0, 1 << 32, (3, 8, 8), np.uint32)
        target.draw(given, colours)
        for tile, colour in zip(given, colours, strict=True):
            place = image[tile["y"], tile["x"]]
            place[...] = np.where(unpack(tile["mask"][None])[0], blend(colour, place, state), place)
    target.flush()
    assert (target.cache.values() == image).all()
    assert sum(target.traffic.values()) > 20


@pytest.mark.plan("colour-write-9")
def test_a_tile_outside():
    target = ColourTarget(np.zeros(1 << 12, np.uint8))
    target.state = draw_state(8, 8)
    target.clear((0, 0, 8, 8), 0)
    wrong = np.zeros(1, dtype(payloads.tile(8)))
    wrong["x"] = 1
    wrong["mask"] = 1
    with pytest.raises(InputError, match=r"tile x must lie in 0\.\.0, not 1"):
        target.draw(wrong, np.zeros((1, 8, 8), np.uint32))


@pytest.mark.plan("colour-write-9")
def test_memory_too_small():
    target = ColourTarget(np.zeros(1000, np.uint8))
    target.state = draw_state(64, 64)
    with pytest.raises(InputError, match="memory must hold 16416 bytes from there on, not 1000"):
        target.clear((0, 0, 64, 64), 0)


@pytest.mark.plan("colour-write-9")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"shading": 2}, "shading must be above 2, not 2"),
        ({"sets": 3}, "sets must be a power of two above 1, not 3"),
        ({"planes": 0}, r"planes must lie in 1\.\.8, not 0"),
        ({"planes": 9}, r"planes must lie in 1\.\.8, not 9"),
        ({"edge": 5}, "edge must be"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(ValueError, match=message):
        rtl.ColourWriteParams(**fields)


def drawn(tiles, size, **fields):
    """Beats that clear a target of a size and draw tiles on it; and the clocks that they take, to a
    memory that is always ready.
    """
    width, height = size
    whole = {"colour": 1, "x1": width, "y1": height, "colour_value": 0x90A03070}
    rows = np.concatenate(
        [
            codec.pack(draw_state(*size, **fields), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole),
            codec.pack(tiles, payloads.tile(4), WIDTH),
            scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1),
        ]
    )
    memory = Memory(harness.memory(rows, rtl.CONFIGS["tiny"]), (0, 0), ready=256)
    return rows, volume(BLOCK, "tiny").run({"i": rows}, 4096, memory=memory, limit=LIMIT).clocks


@pytest.mark.plan("colour-write-20")
@pytest.mark.parametrize("blends", [0, 1])
def test_a_tile_that_takes_the_place_of_another_waits_for_nothing(blends):
    """Blended or opaque: a tile that was brought from memory is found without a hazard window.

    Blended ones leave as they were cleared, and take a turn of the lanes for each quarter of their
    samples; opaque ones send two transfers each, a clock for one.
    """
    places = np.arange(64)  # four times as many as the cache has
    clocks = []
    for passes in (2, 12):
        tiles = np.zeros(passes * len(places), dtype(payloads.tile(4)))
        tiles["x"] = np.tile(places % 8, passes)
        tiles["y"] = np.tile(places // 8, passes)
        tiles["mask"] = (1 << 16) - 1
        rows, taken = drawn(tiles, (32, 32), blend_enable=blends, early_write=1)
        clocks.append(taken)
    assert clocks[1] - clocks[0] == 10 * len(places) * (4 if blends else 2)
    check(BLOCK, "tiny", rows)


@pytest.mark.plan("colour-write-20")
@pytest.mark.parametrize(
    ("masks", "taken"),
    [(1, 4000), (2, 2000), (3, 1333), (4, 1000), (5, 1400), (6, 1167), (7, 1000)],
)
def test_blended_tiles_of_one_place_wait_only_for_their_own_samples(masks, taken):
    """Of so many tiles in a row none has a sample in common; the next one has those of the first.

    It comes four or five clocks behind that one, whose result is forwarded, or at least seven: of
    five masks each tile finds that the one before with its mask is six clocks away.
    """
    clocks = []
    for count in (64, 1064):
        tiles = np.zeros(count, dtype(payloads.tile(4)))
        tiles["mask"] = 1 << np.arange(count) % masks
        rows, found = drawn(tiles, (4, 4), blend_enable=1)
        clocks.append(found)
    assert abs(clocks[1] - clocks[0] - taken) < 2
    check(BLOCK, "tiny", rows)


@pytest.mark.plan("colour-write-21")
@pytest.mark.parametrize(
    ("mask", "turns"),
    [(1, 1), (1 << 15, 1), (0xF, 1), (0x11, 2), (0x8001, 2), (0x7770, 3), (0x1111, 4)],
)
def test_lanes_take_only_groups_with_a_sample(mask, turns):
    """Blended tiles of several places, whose results nobody waits for: a clock for each turn."""
    clocks = []
    for count in (80, 880):
        tiles = np.zeros(count, dtype(payloads.tile(4)))
        tiles["x"] = np.arange(count) % 8
        tiles["mask"] = mask
        rows, taken = drawn(tiles, (32, 4), blend_enable=1)
        clocks.append(taken)
    assert abs(clocks[1] - clocks[0] - 800 * turns) < 8
    check(BLOCK, "tiny", rows)


@pytest.mark.plan("colour-write-21")
def test_a_fence_between_blended_tiles_takes_no_turn():
    """Its number, even where it is not announced, and its counts lie where a tile has its mask."""
    tiles = np.zeros(8, dtype(payloads.tile(4)))
    tiles["x"] = np.arange(8)
    tiles["mask"] = (1 << 16) - 1
    sums = {"src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.ONE}
    rows, _ = drawn(tiles, (32, 4), blend_enable=1, **sums)
    full = {"sequence": (1 << 32) - 2, "begin": 1, "any": 1, "passed": (1 << 64) - 1}
    fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1, **full)
    check(BLOCK, "tiny", np.concatenate([rows[:-1], fence, rows[2:]]))


@pytest.mark.plan("colour-write-10")
def test_an_announced_fence_is_held_back():
    """The harness holds every second fence that flushes, for 1023 clocks."""
    params = rtl.CONFIGS["tiny"]
    state = codec.pack(draw_state(8, 8), payloads.DRAW_STATE, WIDTH)
    block = volume(BLOCK, "tiny")
    clocks = []
    for fields in ({"sequence": 0, "flush": 1}, {"sequence": 1}, {"sequence": 1, "flush": 1}):
        fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, **fields)
        rows = np.concatenate([state, fence])
        memory = Memory(harness.memory(rows, params), (0, 8))
        run = block.run({"i": rows}, 16, memory=memory, limit=LIMIT)
        assert len(run.outputs["o"]) == 1
        clocks.append(run.clocks)
    assert max(clocks[:2]) < harness.Harness.HOLD_CLOCKS < clocks[2]


@pytest.mark.plan("colour-write-8")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("colour-write-6")
@pytest.mark.plan("colour-write-11")
@pytest.mark.parametrize("config", ["tiny"])
def test_volume(config):
    check_paces(BLOCK, config, 300)
