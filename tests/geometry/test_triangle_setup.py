# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.verilog.generate import ports
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.state import draw_state
from fixfunc.rtl.geometry import triangle_setup as rtl
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from fixfunc.tb.bench import scenes
from fixfunc.tb.geometry.triangle_setup import IN
from tests.bench import check_bench
from tests.oracles.naive import covered, sample_points
from tests.tiers import by_tier
from tests.volume import check_paces, volume

BLOCK = "triangle_setup"


def single_triangle(*corners, z=(0, 0, 0)):
    """One record of TRIANGLE."""
    out = np.zeros(1, TRIANGLE)
    for k, (x, y) in enumerate(corners):
        out[f"x{k}"] = x
        out[f"y{k}"] = y
        out[f"z{k}"] = z[k]
    return out


# Truths of the model.


@pytest.mark.plan("triangle-setup-1")
def test_culls_and_their_reasons():
    clockwise = single_triangle((0, 0), (2560, 0), (0, 2560))
    zero = single_triangle((0, 0), (256, 256), (512, 512))
    between = single_triangle(
        (130, 130), (200, 130), (130, 200)
    )  # no pixel's centre within its box
    for state, visible in (
        (draw_state(10, 10), True),
        (draw_state(10, 10, cull=Cull.BACK), True),
        (draw_state(10, 10, cull=Cull.FRONT), False),
        (draw_state(10, 10, cull=Cull.BACK, front_ccw=True), False),
        (draw_state(10, 10, cull=Cull.FRONT, front_ccw=True), True),
    ):
        result = setup(clockwise, state)
        assert len(result.records) == visible == (not result.facing[0])
    assert setup(zero, draw_state(10, 10)).zero_area[0]
    assert setup(between, draw_state(10, 10)).no_sample[0]
    assert len(setup(between, draw_state(10, 10, samples=8)).records) == 1
    assert setup(clockwise, draw_state(10, 10, scissor=(20, 20, 30, 30))).no_sample[0]


@pytest.mark.plan("triangle-setup-2")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_no_covered_sample_is_ever_culled_or_outside_the_box(samples):
    rng = np.random.default_rng(samples)
    triangles = scenes.triangles(rng, 300, 9, 9)
    result = setup(triangles, draw_state(9, 9, samples))
    boxes = {int(index): record for index, record in zip(result.index, result.records, strict=True)}
    owned = 0
    for n, triangle in enumerate(triangles):
        corners = [(triangle[f"x{k}"], triangle[f"y{k}"]) for k in range(3)]
        for row, column, _, x, y in sample_points(9, 9, samples):
            if covered(corners, x, y):
                box = boxes[n]
                assert box["x0"] <= column <= box["x1"]
                assert box["y0"] <= row <= box["y1"]
                owned += 1
    assert owned > 100


@pytest.mark.plan("triangle-setup-3")
def test_both_windings_give_the_same_inside():
    triangles = scenes.triangles(np.random.default_rng(0), 200, 60, 60)
    turned = triangles.copy()
    for name in "xyz":
        turned[f"{name}1"] = triangles[f"{name}2"]
        turned[f"{name}2"] = triangles[f"{name}1"]
    first = setup(triangles, draw_state(64, 64)).records
    second = setup(turned, draw_state(64, 64)).records
    for name in ("x0", "y0", "x1", "y1", "z", "zx", "zy", "zmin", "zmax"):
        assert (first[name] == second[name]).all()
    for a, b in ((0, 2), (1, 1), (2, 0)):
        for name in ("a", "b", "c", "reach"):
            assert (first[f"{name}{a}"] == second[f"{name}{b}"]).all()


# Errors.


@pytest.mark.plan("triangle-setup-6")
def test_bad_input():
    wrong = single_triangle((0, 0), (9, 0), (0, 9))
    wrong["y2"] = -(1 << 23) - 1
    with pytest.raises(InputError, match="y2 must lie in"):
        setup(wrong, draw_state(4, 4))


@pytest.mark.plan("triangle-setup-6")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 5}, "samples must be one of 1, 2, 4, 8, not 5"),
        ({"viewport": (0, 0, 40000, 4)}, "viewport must lie within -32768..32767"),
        ({"viewport": (4, 0, 3, 4)}, "viewport must have x0 <= x1 and y0 <= y1"),
        ({"scissor": (-1, 0, 3, 4)}, "scissor must lie within 0..16384"),
        ({"depth_min": 5, "depth_max": 4}, "depth_min must not exceed depth_max 4, not 5"),
        ({"colour": 1}, "draw state field must be one of"),
        ({"stencil_ref": 256}, "stencil_ref must lie in 0..255, not 256"),
        ({"stencil_ref": -1}, "stencil_ref must lie in 0..255, not -1"),
        ({"stencil_ref": 1 << 70}, "stencil_ref must lie in 0..255"),
        ({"stencil_ref": 1.5}, "stencil_ref must be an integer, not 1.5"),
        ({"depth_max": 0.5}, "depth_max must be an integer, not 0.5"),
        ({"depth_min": "0"}, "depth_min must be an integer, not 0"),
        ({"scissor": (0, 0, 2.5, 4)}, "scissor_x1 must be an integer, not 2.5"),
        ({"viewport": (0, 0, float("nan"), 4)}, "viewport must lie within -32768..32767"),
        ({"viewport": (0, 0, float("inf"), 4)}, "viewport must lie within -32768..32767"),
    ],
)
def test_bad_state(arguments, message):
    with pytest.raises(InputError, match=message):
        draw_state(4, 4, **arguments)


@pytest.mark.plan("triangle-setup-6")
def test_the_depth_range_is_that_of_the_format():
    for depth_format, most in MOST.items():
        assert draw_state(8, 8, depth_format=depth_format)["depth_max"] == most


@pytest.mark.plan("triangle-setup-6")
def test_a_float_viewport_is_rounded_down():
    """[fs 15.7]: the pixels that may be drawn, of extents with a fraction."""
    state = draw_state(8, 8, viewport=(-0.25, 0.5, 3.999, 7.0))
    extents = [int(state[f"viewport_{end}"]) for end in ("x0", "y0", "x1", "y1")]
    assert extents == [-1, 0, 3, 7]
    assert draw_state(8, 8, early_write=np.True_)["early_write"] == 1


@pytest.mark.plan("triangle-setup-7")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge": 2}, "edge must be 4 or 8, not 2"),
        ({"queue": 2}, "queue must be 3 to 1024, not 2"),
        ({"interval": 3}, "interval must be 1, 2 or 4, not 3"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.TriangleSetupParams(**arguments)


# Elaborates.


@pytest.mark.parametrize("config", rtl.CONFIGS)
def test_ports(config):
    names = [(port.name, port.input) for port in ports(catalogue.block(BLOCK).create(config))]
    assert names == [("i", True), ("o", False)]


# Benches and volume.


@pytest.mark.plan("triangle-setup-9")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("triangle-setup-12")
@pytest.mark.parametrize("config", ["default", "half", "quarter"])
def test_a_triangle_every_interval(config):
    """Without a gap, and each with the latency of the unit: of visible triangles behind a STATE."""
    block = catalogue.block(BLOCK)
    params = rtl.CONFIGS[config]
    count = 300
    triangles = np.zeros(count, TRIANGLE)
    triangles["x1"] = triangles["y2"] = 512 + np.arange(count)
    rows = [
        codec.pack(np.atleast_1d(draw_state(64, 64)), payloads.DRAW_STATE, IN),
        codec.pack(triangles, payloads.TRIANGLE, IN),
    ]
    unit = block.create(config)
    out = volume(BLOCK, config).run({"i": np.concatenate(rows)}, count + 1)
    assert len(out.outputs["o"]) == count + 1
    assert out.clocks == count * params.interval + unit.latency + 1


@pytest.mark.qualify
def test_bench_at_full_size():
    check_bench(BLOCK, "default", "verilator")


@pytest.mark.plan("triangle-setup-11")
@pytest.mark.parametrize("config", by_tier(rtl.CONFIGS, also=["default", "half", "quarter"]))
def test_volume(config):
    check_paces(BLOCK, config, 2000)
