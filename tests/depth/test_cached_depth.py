# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.depth.depth_test import DepthBuffer, in_range, new_depths
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth import cached_depth as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare, DepthFormat, Kind, Outcome, StencilOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.depth import shading
from tests.bench import check_bench
from tests.oracles import naive
from tests.volume import check, check_paces

BLOCK = "cached_depth"
BASES = {"depth": 1 << 16, "stencil": 0}


def draws(rng, size, samples, form, count):
    """Draws, and clears of a part in between."""
    for _ in range(count):
        state = depths.state(rng, size, samples, form)
        cleared = depths.clear(rng, size, form) if rng.random() < 0.3 else None
        yield state, cleared, rasterize(setup(depths.triangles(rng, 5, size), state).records)[0]


@pytest.mark.plan("cached-depth-1")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("shape", [CacheShape(), CacheShape(sets=2, ways=1, table_lines=1)])
def test_memory_is_the_depth_buffer(shape, samples, form):
    """Whatever the caches, and whoever says what HiZ found."""
    rng = np.random.default_rng([samples, int(form), shape.sets])
    size = (44, 36)
    units = [CachedDepth(np.zeros(1 << 17, np.uint8), shape) for _ in range(2)]
    plain = DepthBuffer(draw_state(*size, samples, depth_format=form))
    most = depths.MOST[form]
    plain.clear((0, 0, *size), most, 3)
    for unit in units:
        unit.state = draw_state(*size, samples, depth_format=form)
        unit.clear((0, 0, *size), most, 3, BASES)
    for state, cleared, tiles in draws(rng, size, samples, form, 30):
        plain.state = state
        for unit in units:
            unit.state = state
        if cleared:
            rectangle = tuple(
                int(min(cleared[name], side))
                for name, side in zip(("x0", "y0", "x1", "y1"), size * 2, strict=True)
            )
            values = [
                int(min(cleared[f"{plane}_value"], most)) if cleared[plane] else None
                for plane in ("depth", "stencil")
            ]
            for unit in (plain, *units):
                unit.clear(rectangle, *values, *(() if unit is plain else (BASES,)))
        passed, outcome, _ = units[0].test(tiles, shader=shader(state))
        again = units[1].test(
            tiles, np.where(rng.random(len(tiles)) < 0.5, outcome, Outcome.TEST), shader(state)
        )
        assert (passed == again.passed).all()
        for n in range(len(tiles)):
            tile = tiles[n : n + 1].copy()
            replaced = None
            if not state["early_write"]:
                shaded = shader(state)(tile, [n])
                replaced = shaded.depths(tile, state, 8)
                tile["mask"] &= pack(shaded.mask)
            assert (plain.test(tile, replaced)[0] == passed[n]).all()
    for unit in units:
        unit.flush()
        assert (unit.caches["depth"].values()[plain._seen] == plain.depth[plain._seen]).all()
        assert (unit.caches["stencil"].values()[plain._seen] == plain.stencil[plain._seen]).all()


def shader(state, edge=8):
    """The shader of the bench."""
    return lambda tiles, _numbers: shading.shade(tiles, state, edge, True)


@pytest.mark.plan("cached-depth-8")
@pytest.mark.parametrize("hiz", [True, False])
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
def test_late_writes_are_those_of_a_sample_at_a_time(form, hiz):
    """As if every sample were shaded, then tested, one after the other in the order of drawing."""
    rng = np.random.default_rng([8, int(form), hiz])
    size, edge = (18, 13), 4
    shape = CacheShape(2, 2, 1, coding="anchor")
    unit = CachedDepth(np.zeros(1 << 17, np.uint8), shape, edge)
    unit.state = draw_state(*size, depth_format=form)
    unit.clear((0, 0, *size), most := depths.MOST[form] // 2, 3, BASES)
    depth, stencil = {}, {}
    late_draws = 0
    for _ in range(60):
        state = depths.state(rng, size, 1, form)
        kept_out = shader(state, edge)
        late_draws += not state["early_write"]
        unit.state = state
        tiles = rasterize(setup(depths.triangles(rng, 3, size), state, edge).records, edge)[0]
        decided = None if hiz else np.zeros(len(tiles), np.uint8)
        passed, _, shaded = unit.test(tiles, decided, kept_out)
        made = kept_out(tiles, None)
        new = in_range(new_depths(tiles, state, edge), state)
        survives = np.ones(passed.shape, bool)
        if not state["early_write"]:
            new = (
                in_range(made.depths(tiles, state, edge), state) if made.depth is not None else new
            )
            survives = made.mask
        values = {name: int(state[name]) for name in state.dtype.names}
        for n, j, i in np.argwhere(unpack(tiles["mask"], edge)):
            tile = tiles[n]
            at = int(tile["x"]) * edge + i, int(tile["y"]) * edge + j
            before = depth.get(at, most), stencil.get(at, 3)
            wanted = (False, *before)
            if survives[n, j, i]:
                face = "back" if tile["back"] else "front"
                wanted = naive.tested(values, face, int(new[n, j, i]), *before)
            assert wanted[0] == passed[n, j, i]
            depth[at], stencil[at] = wanted[1:]
            if wanted[1:] != before or wanted[0]:
                assert shaded[n, j, i] or state["early_write"], "changed, and never shaded"
    assert late_draws > 20
    unit.flush()
    for values, plane in ((depth, "depth"), (stencil, "stencil")):
        stored = unit.caches[plane].values()
        assert values
        for (x, y), value in values.items():
            assert stored[y // edge, x // edge, y % edge, x % edge] == value


TINY = rtl.CONFIGS["tiny"].edge
ALL = (1 << TINY**2) - 1


def flat_tiles(depth, mask=ALL, **fields):
    """A draw state, and nine tiles of one depth, as beats."""
    table = payloads.tile(TINY)
    tiles = np.zeros(9, dtype(table))
    tiles["y"], tiles["x"] = np.divmod(np.arange(9), 3)
    tiles["mask"] = mask
    tiles["full"] = mask == ALL
    tiles["last"] = 1
    tiles["z0"] = int(depth * 2**24) << 8
    tiles["zmin"] = tiles["zmax"] = int(depth * 2**24)
    state = draw_state(3 * TINY, 3 * TINY, **fields)
    return [
        codec.pack(state, payloads.DRAW_STATE, depths.WIDTH),
        codec.pack(tiles, table, depths.WIDTH),
    ]


def fence(**fields):
    return scenes.control_beat(payloads.FENCE, Kind.FENCE, depths.WIDTH, begin=1, **fields)


def run_flat(first, *rest, stem=BLOCK):
    """Beats behind a clear to the middle, held to the golden model: samples passed, by fence."""
    side = 3 * TINY
    clear = {"x1": side, "y1": side, "depth": 1, "stencil": 1, "stencil_base": 1 << 17}
    middle = scenes.control_beat(
        payloads.CLEAR, Kind.CLEAR, depths.WIDTH, depth_value=1 << 23, **clear
    )
    out = check(stem, "tiny", np.concatenate([first[0], middle, fence(), *first[1:], *rest]))
    fences = out[out[:, 0] & 3 == Kind.FENCE]
    return codec.unpack(fences, payloads.FENCE, dtype(payloads.FENCE))["passed"]


@pytest.mark.plan("cached-depth-12")
def test_depths_of_the_shader_belong_to_no_plane():
    """Where they have been overwritten too: planes are known again when one covers the tile."""
    half = ALL >> TINY**2 // 2
    late = flat_tiles(0.25, half, does=["depth_output"], depth_compare=Compare.ALWAYS)
    again = flat_tiles(0.3, half, depth_compare=Compare.ALWAYS)
    passed = run_flat(late, *again, fence(flush=1))
    assert passed[-1] == 9 * TINY**2


@pytest.mark.plan("cached-depth-15")
@pytest.mark.parametrize("paces", [("full", "full"), ("random", "starved")])
def test_a_late_tile_sees_what_those_with_its_samples_write(paces):
    """On three places, by random samples and depths: early tests reject what was just written."""
    rng = np.random.default_rng(17)
    state, _ = flat_tiles(0.4, does=["discard"], hiz_drop=0, hiz_accept=0)
    table = payloads.tile(TINY)
    tiles = np.zeros(600, dtype(table))
    tiles["x"] = rng.integers(0, 3, len(tiles))
    some = rng.integers(0, ALL, (3, len(tiles)))
    tiles["mask"] = some[0] & some[1] & some[2] | 1 << rng.integers(0, TINY**2, len(tiles))
    tiles["last"] = 1
    nearer = np.sort(rng.integers(1, 1 << 23, len(tiles)))[::-1]
    depth = nearer + rng.integers(0, 1 << 18, len(tiles))
    tiles["z0"] = depth.astype(np.int64) << 8
    tiles["zmin"] = tiles["zmax"] = depth
    side = 3 * TINY
    whole = {"x1": side, "y1": side, "depth": 1, "stencil": 1, "stencil_base": 1 << 17}
    most = depths.MOST[DepthFormat.D24]
    clear = scenes.control_beat(payloads.CLEAR, Kind.CLEAR, depths.WIDTH, depth_value=most, **whole)
    rows = [state, clear, codec.pack(tiles, table, depths.WIDTH), fence(flush=1)]
    out = check(BLOCK, "tiny", np.concatenate(rows), paces)
    work = codec.unpack(out[out[:, 0] & 3 == Kind.WORK], table, dtype(table))
    given, kept = (unpack(part["mask"], TINY).sum() for part in (tiles, work))
    assert len(work) == len(tiles) and 0.3 * given < kept < 0.9 * given


@pytest.mark.plan("cached-depth-14")
@pytest.mark.parametrize("plane", ["depth", "stencil"])
def test_more_beats_than_the_queues_hold(plane):
    """Control beats, then tiles that use one plane alone: places in every queue are counted."""
    is_stencil = plane == "stencil"
    state, tiles = flat_tiles(
        0.5,
        depth_test=not is_stencil,
        depth_compare=Compare.ALWAYS,
        stencil_test=is_stencil,
        stencil_front_func=Compare.ALWAYS,
        stencil_front_pass=StencilOp.INCR,
        stencil_write=255,
        hiz_accept=0,
        hiz_drop=0,
    )
    ahead = rtl.CONFIGS["tiny"].ahead
    many = 1 + ahead // len(tiles)
    side = 3 * TINY
    whole = {"x1": side, "y1": side, "depth": 1, "stencil": 1, "stencil_base": 1 << 17}
    rows = [state, scenes.control_beat(payloads.CLEAR, Kind.CLEAR, depths.WIDTH, **whole)]
    rows += [fence()] * 2 * ahead + [tiles] * 2 * many
    rows += [*flat_tiles(0.5, does=["discard"], depth_compare=Compare.ALWAYS), fence(flush=1)]
    check(BLOCK, "tiny", np.concatenate(rows), ("full", "starved"))


@pytest.mark.plan("cached-depth-2")
def test_a_dropped_tile_moves_nothing():
    unit = CachedDepth(np.zeros(1 << 17, np.uint8))
    state = draw_state(32, 32, depth_compare=Compare.NEVER)
    unit.state = state
    unit.clear((0, 0, 32, 32), 5, 0, BASES)
    triangle = depths.triangles(np.random.default_rng(0), 9, (32, 32))
    tiles = rasterize(setup(triangle, state).records)[0]
    passed, outcome, _ = unit.test(tiles)
    assert len(tiles) > 3
    assert (outcome == Outcome.DROP).all()
    assert not passed.any()
    unit.flush()
    assert all(moved.cause == "clear" for moved in unit.traffic["depth"])


@pytest.mark.plan("cached-depth-3")
def test_targets_take_turns():
    """What is on chip of the one before is forgotten; its memory stays."""
    memory = np.zeros(1 << 17, np.uint8)
    state = draw_state(16, 16, depth_compare=Compare.ALWAYS)
    unit = CachedDepth(memory)
    unit.state = state
    unit.clear((0, 0, 16, 16), 7, 0, BASES)
    unit.flush()
    before = memory.copy()
    unit.clear((0, 0, 16, 16), 9, 0, {"depth": 1 << 15, "stencil": 1 << 14})
    assert (memory[1 << 16 :] == before[1 << 16 :]).all()
    assert (unit.caches["depth"].values() == 9).all()
    assert unit.traffic["depth"].total() == 2


@pytest.mark.plan("cached-depth-4")
def test_beyond_memory():
    unit = CachedDepth(np.zeros(1 << 10, np.uint8))
    unit.state = draw_state(64, 64)
    with pytest.raises(InputError, match="memory must hold 16416 bytes from there on, not 1024"):
        unit.clear((0, 0, 64, 64), 0, 0, {"depth": 0, "stencil": 0})


@pytest.mark.plan("cached-depth-7")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"edge": 5}, "edge must be"),
        ({"sets": 3}, "sets must be a power of two above 1, not 3"),
        ({"entries": 3}, "entries must be"),
        ({"samples": 3}, "samples must be"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(ValueError, match=message):
        rtl.CachedDepthParams(**fields).cache(24)


@pytest.mark.plan("cached-depth-6")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("cached-depth-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_volume(config):
    check_paces(BLOCK, config, 200)
