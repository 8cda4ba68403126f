# SPDX-License-Identifier: BSD-2-Clause

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.depth.depth_test import (
    DepthBuffer,
    depth_bias,
    depth_test,
    sample_depths,
)
from fixfunc.models.depth.depth_unit import BITS, DepthUnit
from fixfunc.models.formats import MOST, store
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.geometry.viewport import fixed_depth
from fixfunc.models.memory.surface import to_image
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.test import depth_test as rtl
from fixfunc.rtl.depth.test import sample_depths as rtl_samples
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare, DepthFormat, Kind, StencilOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import float_bits
from fixfunc.tb.depth import depth_test as bench
from fixfunc.tb.depth import sweep
from tests.bench import check_bench
from tests.depth.test_sample_depths import FORMATS, tiles
from tests.oracles.coverage import SIZE
from tests.tiers import by_tier
from tests.volume import check, check_paces

BLOCK = "depth_test"


def random_state(rng, form):
    most = MOST[form]
    low, high = np.sort(rng.integers(0, most + 1, 2)) if rng.random() < 0.5 else (0, most)
    fields = {
        f.name: rng.integers(0, 1 << f.bits)
        for f in payloads.DRAW_STATE
        if f.name.startswith("stencil_")
    }
    return draw_state(
        24,
        16,
        int(rng.choice([1, 2, 4, 8])),
        depth_format=form,
        depth_min=low,
        depth_max=high,
        depth_compare=rng.integers(0, 8),
        depth_test=rng.random() < 0.9,
        depth_write=rng.random() < 0.8,
        bias_constant=rng.integers(0, 1 << 6),
        bias_slope=float_bits(rng.normal()),
        **fields,
    )


# Model truths.


def naive_operation(op, old, ref):
    return {
        StencilOp.KEEP: old,
        StencilOp.ZERO: 0,
        StencilOp.REPLACE: ref,
        StencilOp.INCR_SAT: min(old + 1, 255),
        StencilOp.DECR_SAT: max(old - 1, 0),
        StencilOp.INVERT: 255 - old,
        StencilOp.INCR: (old + 1) % 256,
        StencilOp.DECR: (old - 1) % 256,
    }[op]


def naive_sample(state, back, covered, new, depth, stencil):
    """One sample by the book: (passed, depth, stencil)."""
    if not covered:
        return False, depth, stencil
    new = max(min(new, int(state["depth_max"])), int(state["depth_min"]))
    good = not state["depth_test"] or bool(COMPARE[Compare(state["depth_compare"])](new, depth))
    passes = True
    side = "back" if back else "front"
    if state["stencil_test"]:
        read = int(state["stencil_read"])
        write = int(state["stencil_write"])
        ref = int(state["stencil_ref"])
        passes = bool(COMPARE[Compare(state[f"stencil_{side}_func"])](ref & read, stencil & read))
        op = StencilOp(
            state[f"stencil_{side}_{'fail' if not passes else 'pass' if good else 'depth_fail'}"]
        )
        stencil = (stencil & ~write) | (naive_operation(op, stencil, ref) & write)
    if passes and good and state["depth_test"] and state["depth_write"]:
        depth = new
    return passes and good, depth, stencil


@pytest.mark.plan("depth-test-6")
@pytest.mark.parametrize("form", FORMATS)
def test_every_sample_does_what_the_book_says(form):
    rng = np.random.default_rng(int(form))
    outcomes = set()
    for _ in range(60):
        state = random_state(rng, form)
        some = tiles(rng, 4)
        new = store(
            sample_depths(some, int(state["samples"]), 8, depth_bias(some, state)),
            form,
            some["exponent"][:, None, None],
        )
        depth = np.where(
            rng.random(new.shape) < 0.4, new, rng.integers(0, MOST[form] + 1, new.shape)
        ).astype(np.uint32)
        stencil = rng.integers(0, 256, new.shape).astype(np.uint8)
        got = depth_test(some, state, depth, stencil)
        for n, covered in enumerate(unpack(some["mask"])):
            for j, i in np.ndindex(8, 8):
                wanted = naive_sample(
                    state,
                    some["back"][n],
                    covered[j, i],
                    int(new[n, j, i]),
                    int(depth[n, j, i]),
                    int(stencil[n, j, i]),
                )
                assert (got.passed[n, j, i], got.depth[n, j, i], got.stencil[n, j, i]) == wanted
                outcomes.add((bool(state["stencil_test"]), bool(covered[j, i]), bool(wanted[0])))
    assert len(outcomes) == 6


# Outside oracle: Mesa's llvmpipe.


def flat_draw(rng, points):
    """A triangle parallel to the screen on one of 16 levels, and a random draw state."""
    values = {
        f.name: rng.integers(0, 1 << f.bits)
        for f in payloads.DRAW_STATE
        if f.name.startswith("stencil_")
    }
    values |= {
        "stencil_ref": rng.integers(0, 4),
        "stencil_read": rng.choice([255, 3, 2]),
        "stencil_write": rng.choice([255, 255, 5]),
        "depth_test": rng.random() < 0.9,
        "depth_write": rng.random() < 0.8,
        "depth_compare": rng.integers(0, 8),
        "bias_constant": rng.choice([0, 0, 4, 0xFFFFFFFC]),
    }
    return points, np.full(3, rng.integers(1, 17) / 16), draw_state(SIZE, SIZE, **values)


@pytest.mark.plan("depth-test-7")
@pytest.mark.parametrize("seed", range(30))
def test_llvmpipe_passes_the_same_samples(seed, llvmpipe_depth):
    """The same stencil values and levels after every draw.

    Draws vary depth function and write, stencil of both faces, constant and sloped bias.
    """
    rng = np.random.default_rng(seed)
    oracle = llvmpipe_depth()
    unit = DepthUnit(draw_state(SIZE, SIZE), bounds=None)
    changed = 0
    for n in range(14):
        points = rng.integers(-8 * 256, (SIZE + 8) * 256, (3, 2))
        points, depths, state = flat_draw(rng, points)
        draws = [(points, depths, state)]
        if (
            n % 3 == 2
            # a slope, then the same plane moved to one side by its own slope: all of it passes, or
            # none
        ):
            while (
                abs(np.linalg.det(np.diff(points, axis=0))) < 1000 * 65536
            ):  # thin ones leave Mesa too few bits
                points = rng.integers(-8 * 256, (SIZE + 8) * 256, (3, 2))
            depths = np.array([0.25, 0.5, 0.75])[rng.permutation(3)]
            plain = draw_state(SIZE, SIZE, depth_compare=Compare.ALWAYS)
            moved = draw_state(
                SIZE,
                SIZE,
                depth_compare=rng.integers(0, 8),
                bias_slope=float_bits(rng.choice([-2.0, 2.0])),
                stencil_test=1,
                stencil_write=255,
                stencil_read=255,
                stencil_front_func=7,
                stencil_back_func=7,
                stencil_front_pass=StencilOp.INCR,
                stencil_back_pass=StencilOp.INCR,
            )
            draws = [(points, depths, plain), (points, depths, moved)]
        for points, depths, state in draws:
            before = unit.buffer.stencil.copy(), unit.buffer.depth.copy()
            triangle = np.zeros(1, TRIANGLE)
            for k in range(3):
                triangle[f"x{k}"], triangle[f"y{k}"] = points[k]
                triangle[f"z{k}"] = fixed_depth(np.float32(depths[k]))
            unit.state = state
            unit.test(rasterize(setup(triangle, state).records)[0])
            oracle.draw(points, depths, state)
            changed += any(
                (a != b).any()
                for a, b in zip(before, (unit.buffer.stencil, unit.buffer.depth), strict=True)
            )
            depth, stencil = oracle.planes()
            assert (to_image(unit.buffer.stencil, SIZE, SIZE, 1)[..., 0] == stencil).all()
            away = np.abs(unit.buffer.image()[..., 0] - depth)
            assert away.max() <= 26, away.max()  # its own error, as measured
    assert changed > 4


# Parameter errors.


@pytest.mark.plan("depth-test-11")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"depth_format": 3}, "depth_format must be one of D16, D24, D32F, not 3"),
        (
            {"depth_format": DepthFormat.D16, "depth_min": 1 << 16},
            "depth_min must not exceed 1.0, 65535, not 65536",
        ),
        ({"depth_min": 2, "depth_max": 1}, "depth_min must not exceed depth_max 1, not 2"),
        ({"depth_compare": 8}, "depth_compare must lie in 0..7, not 8"),
        (
            {"bias_slope": 0x7F800000},
            "bias_slope must be the bits of a finite float32, not 0x7f800000",
        ),
        (
            {"bias_clamp": 0x7FC00000},
            "bias_clamp must be the bits of a finite float32, not 0x7fc00000",
        ),
    ],
)
def test_wrong_states(fields, message):
    with pytest.raises(InputError, match=message):
        draw_state(8, 8, **fields)


@pytest.mark.plan("depth-test-11")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"depth": 1 << 16}, "depth must lie in 0..65535, not 65536"),
        ({"depth": -1}, "depth must lie in 0..65535, not -1"),
        ({"depth": 0.5}, "depth must be an integer, not 0.5"),
        ({"depth": 0, "stencil": 256}, "stencil must lie in 0..255, not 256"),
    ],
)
def test_wrong_clear_values(values, message):
    """Nothing is cleared then."""
    buffer = DepthBuffer(draw_state(8, 8, depth_format=DepthFormat.D16, depth_max=65535))
    with pytest.raises(InputError, match=message):
        buffer.clear((0, 0, 8, 8), **values)
    assert (buffer.depth == 65535).all()


@pytest.mark.plan("depth-test-16")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge": 16}, "edge must be 4 or 8, not 16"),
        ({"samples": 3}, "samples must be 1, 2, 4 or 8, not 3"),
        ({"tiles": 48}, "tiles must be a power of two above 1, not 48"),
        ({"formats": ()}, r"formats must be some of D16, D24, D32F, not \(\)"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.DepthTestParams(**arguments)


# Tables typed on both sides.


@pytest.mark.plan("depth-test-16")
def test_tables_agree():
    assert MOST == rtl_samples.MOST
    assert BITS == rtl_samples.BITS


# Elaborates, in every configuration; benches.


@pytest.mark.plan("depth-test-10")
def test_a_tile_sees_what_the_one_before_it_has_written():
    """Tiles of one place clock after clock: random draws hardly ever bring two of them together."""
    rng = np.random.default_rng(0)
    params = rtl.CONFIGS["tiny"]
    edge = 4
    rows = []
    for n in range(40):
        form = depths.formats(params)[n % 3]
        draw = depths.state(rng, (edge, edge), 1, form)
        draw["stencil_test"] = n % 4 > 0
        draw["early_write"] = n % 10 > 0
        draw["hiz_accept"] = n % 10 > 0
        tiles = np.zeros(30, dtype(payloads.tile(edge)))
        tiles["mask"] = rng.integers(1, 1 << edge**2, 30)
        tiles["z0"] = int(rng.integers(1 << 31)) + rng.integers(0, 1 << 12, 30)
        tiles["back"] = rng.integers(0, 2, 30)
        tiles["last"] = 1
        rows += [
            codec.pack(draw, payloads.DRAW_STATE, depths.WIDTH),
            scenes.control_beat(
                payloads.CLEAR,
                Kind.CLEAR,
                depths.WIDTH,
                **depths.clear(rng, (edge, edge), form, whole=True),
            ),
            codec.pack(tiles, payloads.tile(edge), depths.WIDTH),
        ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, depths.WIDTH, begin=1))
    assert len(check(BLOCK, "tiny", np.concatenate(rows))) > 1000


@pytest.mark.plan("depth-test-9", "depth-test-13")
@pytest.mark.parametrize("config", by_tier(rtl.CONFIGS))
def test_volume(config):
    check_paces(BLOCK, config, 150)


@pytest.mark.plan("depth-test-19")
@pytest.mark.parametrize("config", ["tiny", pytest.param("default", marks=pytest.mark.qualify)])
def test_every_function_in_turn(config):
    """Random draws behind them use what the draws in turn do not: shaders."""
    params = rtl.CONFIGS[config]
    behind = bench.requests(np.random.default_rng(1), 150, params)
    check(BLOCK, config, np.concatenate([sweep.rows(params), behind]))


@pytest.mark.plan("depth-test-15")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)
