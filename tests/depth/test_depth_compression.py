# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfunc.models.depth import depth_compression as golden
from fixfunc.models.depth.compression.anchor import BLOCK_BITS
from fixfunc.models.depth.compression.block import PlaneForm
from fixfunc.models.depth.compression.codes import CODES
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.depth_compression import Encoded, compress, decompress
from fixfunc.rtl.depth.compression import depth_compression as rtl
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, SAMPLE_COUNTS, TileMode
from tests.bench import check_bench
from tests.oracles.naive import POSITIONS
from tests.tiers import by_tier
from tests.volume import check_paces

BLOCK = "depth_compression"
ONES = (1 << 24) - 1


def plane(z0, dx=0, dy=0):
    return np.array([(z0 % (1 << 32), dx, dy)], PLANE)


def naive_depth(plane, i, j, samples):
    """Exactly: a plane at a sample, rounded half up, modulo 2^24."""
    lx, ly = {1: (0, 0), 2: (0, 1), 4: (1, 1), 8: (1, 2)}[samples]
    x, y = POSITIONS[samples][(i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)]
    value = Fraction(int(plane["z0"]), 256) + Fraction(int(plane["dx"]), 256) * (
        (i >> lx) + Fraction(x, 16)
    )
    value += Fraction(int(plane["dy"]), 256) * ((j >> ly) + Fraction(y, 16))
    return (value + Fraction(1, 2)).__floor__() % (1 << 24)


def naive_tile(planes, mask, samples, edge=8):
    return np.array(
        [[naive_depth(planes[mask[j, i]], i, j, samples) for i in range(edge)] for j in range(edge)]
    )


def random_planes(rng, n):
    reach = 1 << rng.integers(1, 31, n)
    out = np.zeros(n, PLANE)
    out["z0"] = rng.integers(0, 1 << 32, n)
    out["dx"] = rng.integers(-reach, reach)
    out["dy"] = rng.integers(-reach, reach)
    return out


# Model truths.


@pytest.mark.plan("depth-compression-1")
@pytest.mark.parametrize("edge", [4, 8])
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_planes_give_back_what_they_made(count, samples, edge):
    coding = "anchor" if edge == 4 else "differences"
    rng = np.random.default_rng(count)
    planes = random_planes(rng, count)
    mask = rng.permuted(np.arange(edge**2) % count).reshape(edge, edge)
    tile = naive_tile(planes, mask, samples, edge)
    coded = compress(tile, planes, mask, samples, coding=coding)
    assert coded.mode == count
    assert len(coded.data) == {4: [32, 32, 64, 64], 8: [32, 32, 64, 64]}[edge][count - 1]
    back = decompress(coded, samples, edge=edge, coding=coding)
    assert (back[0] == tile).all() and (back[1] == planes).all() and (back[2] == mask).all()


@pytest.mark.plan("depth-compression-2")
def test_bits_lie_as_the_contract_says():
    planes = np.concatenate([plane(5 << 8, -3, 7), plane(9 << 8, 0, -1)])
    mask = np.arange(64).reshape(8, 8) % 2
    coded = compress(naive_tile(planes, mask, 1), planes, mask)
    fields = [int(planes[k][name]) % (1 << 32) for k in range(2) for name in ("z0", "dx", "dy")]
    wanted = sum(value << 32 * n for n, value in enumerate(fields)) | sum(
        int(v) << 192 + n for n, v in enumerate(mask.ravel())
    )
    assert coded == Encoded(TileMode.PLANES_2, wanted.to_bytes(32, "little"))


@pytest.mark.plan("depth-compression-2")
def test_sizes_are_those_of_the_table():
    first = range(TileMode.RAW + 1)
    assert [golden.size(code) for code in first] == [0, 32, 32, 64, 64, 64, 192]
    assert [golden.bits(code) for code in first] == [0, 96, 256, 416, 512, 476, 1536]
    assert [golden.size(DIFFERENCES + n) for n in range(2, 6)] == [64, 96, 128, 160]
    for code in (7, 8, 9, 14, 15):
        with pytest.raises(InputError, match=f"mode of a tile of depths must be .*, not {code}"):
            golden.size(code)
    assert golden.bits(TileMode.ANCHOR, 4) == 119


@pytest.mark.plan("depth-compression-3")
def test_equal_planes_are_one_and_planes_of_no_sample_go():
    planes = np.concatenate(
        [
            plane(1 << 20),
            plane(7 << 20, 5),
            plane(3 << 20),
            plane(7 << 20, 5),
            plane(9 << 20),
            plane(8 << 20),
        ]
    )
    mask = np.where(
        np.arange(64).reshape(8, 8) % 3 == 0,
        3,
        np.where(np.arange(64).reshape(8, 8) % 3 == 1, 1, 4),
    )
    coded = compress(naive_tile(planes, mask, 1), planes, mask)
    _, left, index = decompress(coded)
    assert coded.mode == TileMode.PLANES_2
    assert (left == planes[[1, 4]]).all() and (index == (mask == 4)).all()


@pytest.mark.plan("depth-compression-3")
def test_a_fifth_plane_falls_back():
    rng = np.random.default_rng(0)
    planes = random_planes(rng, 5)
    mask = np.arange(64).reshape(8, 8) % 5
    assert compress(naive_tile(planes, mask, 1), planes, mask).mode == TileMode.RAW
    near = np.concatenate([plane(100 << 8, 0, k) for k in range(5)])  # close enough for differences
    tile = naive_tile(near, mask, 1)
    assert compress(tile, near, mask, coding="anchor").mode == TileMode.ANCHOR
    assert compress(tile, near, mask).mode == TileMode.DIFFERENCES_2


def test_no_tiles():
    modes, data = golden.encode(
        np.zeros((0, 8, 8), np.int64),
        np.zeros((0, 4), PLANE),
        np.zeros(0, np.int64),
        np.zeros((0, 8, 8), np.int64),
    )
    assert (modes.shape, data.shape) == ((0,), (0, 192))
    assert [len(part) for part in golden.decode(modes, data)] == [0] * 5


@pytest.mark.plan("depth-compression-4")
def test_planes_that_do_not_fit_are_not_believed():
    planes = plane(100 << 8, 3 << 8, 0)
    mask = np.zeros((8, 8), int)
    tile = naive_tile(planes, mask, 1)
    tile[5, 5] += 1
    for coding, code in (("anchor", TileMode.ANCHOR), ("differences", TileMode.DIFFERENCES_2)):
        coded = compress(tile, planes, mask, coding=coding)
        assert coded.mode == code
        back = decompress(coded, coding=coding)
        assert (back[0] == tile).all() and len(back[1]) == 0


@pytest.mark.plan("depth-compression-5")
def test_planes_go_before_differences_of_as_many_transfers():
    planes = np.concatenate([plane(k << 8) for k in range(4)])
    mask = np.arange(64).reshape(8, 8) % 4
    tile = naive_tile(planes, mask, 1)
    for coding, code in (("anchor", TileMode.ANCHOR), ("differences", TileMode.DIFFERENCES_2)):
        assert compress(tile, planes, mask, coding=coding).mode == TileMode.PLANES_4
        assert compress(tile, coding=coding).mode == code
        assert golden.size(code) == golden.size(TileMode.PLANES_4)


@pytest.mark.plan("depth-compression-5")
def test_a_cleared_tile_is_nothing_and_comes_back_as_a_plane():
    tile = np.full((8, 8), ONES)
    coded = compress(tile, cleared=ONES)
    assert coded == Encoded(TileMode.CLEARED, b"")
    back = decompress(coded, cleared=ONES)
    assert (back[0] == tile).all() and (back[1] == plane(ONES << 8)).all() and not back[2].any()
    assert compress(tile, cleared=0).mode == TileMode.DIFFERENCES_2
    assert compress(tile, cleared=ONES, coding="raw").mode == TileMode.CLEARED
    assert compress(tile, cleared=0, coding="raw").mode == TileMode.RAW


@pytest.mark.plan("depth-compression-6")
@pytest.mark.parametrize(
    ("where", "step", "fits"),
    [
        ((0, 1), (1 << 14) - 1, True),
        ((0, 1), 1 << 14, False),
        ((1, 0), -(1 << 14), True),
        ((1, 0), -(1 << 14) - 1, False),
        ((3, 3), 15, True),
        ((3, 3), 16, False),
        ((2, 1), -16, True),
        ((2, 1), -17, False),
        ((0, 0), 0, True),
    ],
)
def test_differences_reach_so_far(where, step, fits):
    """A slope of 15 bits, a correction of 5; the neighbours of the anchor carry the slope on."""
    block = np.full((8, 8), 1 << 23)
    j, i = np.mgrid[:8, :8]
    if where == (0, 1):
        block[:4, :4] += (i * step)[:4, :4]
    elif where == (1, 0):
        block[:4, :4] += (j * step)[:4, :4]
    else:
        block[where] += step
    coded = compress(block, coding="anchor")
    assert coded.mode == (TileMode.ANCHOR if fits else TileMode.RAW)
    assert (decompress(coded, coding="anchor")[0] == block).all()


@pytest.mark.plan("depth-compression-8")
def test_blocks_have_the_sizes_of_the_documents():
    assert [PlaneForm().bits(k) for k in (1, 2, 3, 4)] == [106, 178, 250, 322]
    assert BLOCK_BITS == 119


@pytest.mark.plan("depth-compression-8")
@pytest.mark.parametrize("samples", range(4))
@pytest.mark.parametrize("form", [PlaneForm(), PlaneForm(28, 20), PlaneForm(32, 32)])
def test_blocks_come_back_or_do_not_fit(form, samples):
    """What is taken comes back; with 32 bits a field everything is taken, with 24 some."""
    rng = np.random.default_rng(samples)
    n = 4000
    planes = random_planes(rng, 4 * n).reshape(n, 4)
    counts = rng.integers(1, 5, n)
    masks = rng.integers(0, counts[:, None, None], (n, 4, 4))
    blocks = golden.evaluate(planes, masks, samples)
    fits, bits = form.encode(blocks, planes, counts, masks, samples)
    assert (form.decode(bits[fits], samples) == blocks[fits]).all()
    assert not (bits * (np.arange(form.bits(4)) >= form.bits(counts)[:, None])).any()
    assert fits.all() if form == PlaneForm(32, 32) else 0 < fits.mean() < 1


@pytest.mark.plan("depth-compression-8")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"z0": 23}, "z0 must lie in 24..32, not 23"),
        ({"slope": 33}, "slope must lie in 9..32, not 33"),
    ],
)
def test_wrong_forms(fields, message):
    with pytest.raises(InputError, match=message):
        PlaneForm(**fields)


tiles = st.one_of(
    st.lists(st.integers(0, ONES), min_size=64, max_size=64),
    st.tuples(st.integers(0, ONES), st.lists(st.integers(-20, 20), min_size=64, max_size=64)).map(
        lambda t: [(t[0] + v) % (1 << 24) for v in t[1]]
    ),
    st.integers(0, ONES).map(lambda v: 64 * [v]),
)


@pytest.mark.plan("depth-compression-7")
@settings(max_examples=400, deadline=None)
@given(
    tile=tiles,
    count=st.integers(0, 6),
    samples=st.sampled_from(SAMPLE_COUNTS),
    honest=st.booleans(),
    cleared=st.integers(0, ONES),
    seed=st.integers(0, 1 << 30),
    coding=st.sampled_from(["differences", "anchor", "raw"]),
)
def test_whatever_comes_is_given_back(tile, count, samples, honest, cleared, seed, coding):
    """Any depths, with planes that made them, with others, with none.

    Coded again as well as before.
    """
    rng = np.random.default_rng(seed)
    planes = random_planes(rng, count)
    mask = rng.integers(0, max(1, count), (8, 8))
    tile = naive_tile(planes, mask, samples) if honest and count else np.reshape(tile, (8, 8))
    coded = compress(tile, planes, mask, samples, cleared, coding)
    assert len(coded.data) == golden.size(coded.mode)
    back, left, index = decompress(coded, samples, cleared, coding=coding)
    assert (back == tile).all()
    assert compress(back, left, index, samples, cleared, coding) == coded


# Wrong data.


@pytest.mark.plan("depth-compression-9")
@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        (Encoded(7, b""), "mode must be one of 0, 1, 2, 3, 4, 5, 6, not 7"),
        (Encoded(TileMode.DIFFERENCES_2, bytes(64)), "mode must be one of 0, 1, 2, 3, 4, 5, 6"),
        (Encoded(TileMode.RAW, bytes(64)), "data must be 192 bytes of mode RAW, not 64 bytes"),
        (
            Encoded(TileMode.PLANES_1, bytes(12) + b"\1" + bytes(19)),
            "data must name one of the tile's planes, and hold nothing beyond them, not 00",
        ),
        (
            Encoded(TileMode.PLANES_3, bytes(36) + b"\3" + bytes(27)),
            "data must name one of the tile's planes",
        ),
        (Encoded(TileMode.ANCHOR, bytes(63) + b"\x80"), "data must name one of the tile's planes"),
    ],
)
def test_wrong_data(encoded, message):
    with pytest.raises(InputError, match=message):
        decompress(encoded, coding="anchor")


@pytest.mark.plan("depth-compression-9")
@settings(max_examples=300, deadline=None)
@given(mode=st.sampled_from(CODES["anchor"]), data=st.data())
def test_any_bytes_are_a_tile_or_an_error(mode, data):
    given = data.draw(st.binary(min_size=golden.size(mode), max_size=golden.size(mode)))
    try:
        tile, planes, mask = decompress(Encoded(mode, given), coding="anchor")
    except InputError:
        assert mode in (TileMode.PLANES_1, TileMode.PLANES_3, TileMode.ANCHOR)
    else:
        assert tile.max() <= ONES and (not len(planes) or mask.max() < len(planes))


@pytest.mark.plan("depth-compression-13")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tile": np.zeros((8, 4))}, "tile must be 8 by 8, not 8 by 4"),
        ({"tile": np.full((8, 8), 1 << 24)}, "tile must lie in 0..16777215, not 16777216"),
        ({"planes": plane(0), "mask": np.ones((8, 8), int)}, "mask must lie in 0..0, not 1"),
        ({"samples": 3}, "samples must be one of 1, 2, 4, 8, not 3"),
        ({"coding": "planes"}, "coding must be one of differences, anchor, raw, not planes"),
        ({"tile": np.zeros((4, 4))}, "edge must be 8 where tiles are coded by differences, not 4"),
    ],
)
def test_wrong_tiles(arguments, message):
    with pytest.raises(InputError, match=message):
        compress(**({"tile": np.zeros((8, 8), int)} | arguments))


# Parameter errors, benches.


@pytest.mark.plan("depth-compression-13")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge": 16}, "edge must be 4 or 8, not 16"),
        ({"samples": 3}, "samples must be 1, 2, 4 or 8, not 3"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.DepthCompressionParams(**arguments)


@pytest.mark.plan("depth-compression-10")
@pytest.mark.parametrize(
    ("config", "count"), by_tier([("tiny", 1000), ("tiny_differences", 300), ("default", 200)])
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("depth-compression-12")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("depth-compression-11")
def test_rates_with_differences():
    """Clock by clock, where some tiles take four of them."""
    check_bench(BLOCK, "tiny_differences", "verilator", "tiles_take")
