# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.pixel import quad_dispatch as golden
from fixfunc.rtl.pixel.quad_dispatch import CONFIGS, QuadDispatchParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.points import quad_tile
from fixfunc.tb.pixel import quad_dispatch as bench
from tests import volume
from tests.bench import check_bench

STEM = "quad_dispatch"
# Columns and rows of lanes of a pixel, by log2 of its samples: those of docs/numerics.md.
PIXEL = [(1, 1), (1, 2), (2, 2), (2, 4)]


def tiles(count, config="default", seed=0):
    """Records of random tiles."""
    params = CONFIGS[config]
    rows = bench.requests(np.random.default_rng(seed), count, params)
    table = quad_tile(params.edge)
    return codec.unpack(rows, table, dtype(table))


def naive(tile, edge):
    """Quads of a tile, lane by lane: (x, y, sample, mask, covered)."""
    wide, high = PIXEL[tile["samples"]]
    count = wide * high
    columns, rows = edge // wide, edge // high

    def lanes(name, x, y):
        """Samples of a pixel, as bits."""
        bits = 0
        for s in range(count):
            lane = (y * high + s // wide) * edge + x * wide + s % wide
            bits |= (int(tile[name]) >> lane & 1) << s
        return bits

    for y in range(0, rows, 2):
        for x in range(0, columns, 2):
            places = [(x + dx, y + dy) for dy in (0, 1) for dx in (0, 1)]
            mask = [lanes("mask", *place) for place in places]
            covered = [lanes("covered", *place) for place in places]
            for sample in range(count) if tile["by_sample"] else [None]:
                own = [m if sample is None else m & 1 << sample for m in mask]
                if any(own):
                    place = int(tile["x"]) * columns + x, int(tile["y"]) * rows + y
                    packed = [
                        sum(m << 8 * n for n, m in enumerate(side)) for side in (own, covered)
                    ]
                    yield *place, sample or 0, *packed


@pytest.mark.plan("quad-dispatch-1")
@pytest.mark.parametrize("config", CONFIGS)
def test_quads_are_those_of_a_walk_over_lanes(config):
    edge = CONFIGS[config].edge
    some = tiles(600, config)
    found = golden.dispatch(some, edge)
    n = 0
    for tile in some:
        quads = [*naive(tile, edge)]
        for k, wanted in enumerate(quads):
            got = found[n]
            values = [int(got[name]) for name in ("x", "y", "sample", "mask", "covered")]
            assert tuple(values) == wanted
            assert got["last"] == (k == len(quads) - 1)
            assert [got[name] for name in ("slot", "back")] == [tile["slot"], tile["back"]]
            n += 1
    assert n == len(found) > 600


@pytest.mark.plan("quad-dispatch-1")
def test_helpers_are_pixels_without_a_sample():
    found = golden.dispatch(tiles(600))
    pixels = [[int(quad["mask"]) >> 8 * n & 255 for n in range(4)] for quad in found]
    assert golden.helpers(found).tolist() == [sum(not p for p in quad) for quad in pixels]
    assert set(golden.helpers(found)) == {0, 1, 2, 3}


@pytest.mark.plan("quad-dispatch-5")
def test_wrong_parameters():
    with pytest.raises(InputError, match="^edge must be 4 or 8, not 16$"):
        QuadDispatchParams(edge=16)


@pytest.mark.plan("quad-dispatch-2")
@pytest.mark.parametrize("config", CONFIGS)
def test_volume(config):
    volume.check_paces(STEM, config, 1500)


def clocks_of(masks, config="tiny", paces=("full", "full")):
    """Clocks of tiles of one sample a pixel, and their quads."""
    table = quad_tile(CONFIGS[config].edge)
    some = np.zeros(len(masks), dtype(table))
    some["mask"] = some["covered"] = masks
    run = volume.volume(STEM, config).run({"i": codec.pack(some, table)}, 8 * len(masks), paces)
    return run.clocks, len(run.outputs["o"])


@pytest.mark.plan("quad-dispatch-3")
def test_a_tile_without_quads_takes_a_clock():
    """Tiles of one quad, and empty ones between: a clock each."""
    clocks, quads = clocks_of(np.where(np.arange(400) % 2, 0, 1 << 9))
    assert quads == 200
    assert clocks <= 400 + 8


@pytest.mark.plan("quad-dispatch-3")
@pytest.mark.parametrize(("mask", "quads"), [(1 << 9, 1), (0xFFFF, 4)])
def test_a_quad_a_clock(mask, quads):
    """Whatever a tile has of them; behind a stall, too, since the next tile is at hand then."""
    clocks, count = clocks_of(np.full(400, mask))
    assert count == 400 * quads
    assert clocks <= count + 8
    stalled, count = clocks_of(np.full(400, mask), paces=("full", "random"))
    # A sink that is ready in half of the clocks takes twice as many, and no more.
    assert stalled <= 2.2 * count
    # A tile that comes while the one before has quads left waits beside it.
    late, count = clocks_of(np.full(400, mask), paces=("random", "full"))
    assert late <= (2.2 if quads == 1 else 1.02) * count


@pytest.mark.qualify
@pytest.mark.plan("quad-dispatch-2")
def test_a_million_quads():
    quads = sum(
        len(
            volume.check(
                STEM,
                "default",
                bench.requests(np.random.default_rng(n), 60_000, CONFIGS["default"]),
            )
        )
        for n in range(4)
    )
    assert quads > 1_000_000


@pytest.mark.plan("quad-dispatch-4")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
