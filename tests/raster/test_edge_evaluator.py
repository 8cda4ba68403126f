# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import catalogue
from fixfunc.models.raster import edge_evaluator as golden
from fixfunc.rtl import samples as hardware
from fixfunc.rtl.raster import edge_evaluator as rtl
from tests.bench import check_bench
from tests.oracles.naive import POSITIONS
from tests.tiers import by_tier
from tests.volume import check_paces

BLOCK = "edge_evaluator"


# Truths of the model.


@pytest.mark.plan("edge-evaluator-1")
@pytest.mark.parametrize(("log2", "samples"), list(enumerate((1, 2, 4, 8))))
@pytest.mark.parametrize("edge", [4, 8])
def test_lanes_hold_each_sample_once(log2, samples, edge):
    x, y = golden.lane_positions(log2, edge)
    lx, ly = golden.LANE_SHAPE[log2]
    wanted = {
        (16 * column + dx, 16 * row + dy)
        for column in range(edge >> lx)
        for row in range(edge >> ly)
        for dx, dy in POSITIONS[samples]
    }
    assert set(zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)) == wanted
    assert len(wanted) == edge * edge


@pytest.mark.plan("edge-evaluator-2")
def test_values_are_the_edge_function():
    rng = np.random.default_rng(0)
    for samples in range(4):
        a, b, c = rng.integers(-1 << 24, 1 << 24, (3, 50))
        x, y = golden.lane_positions(samples)
        value = golden.evaluate(samples, a, b, c)
        assert value[7, 3, 5] == int(a[7]) * int(x[3, 5]) + int(b[7]) * int(y[3, 5]) + int(c[7])


def test_masks_pack_and_unpack():
    inside = np.random.default_rng(0).random((20, 8, 8)) < 0.5
    masks = golden.pack(inside)
    assert (golden.unpack(masks) == inside).all()
    assert [bool(int(masks[3]) >> (8 * 2 + 5) & 1)] == [inside[3, 2, 5]]


# Tables typed on both sides.


@pytest.mark.plan("edge-evaluator-3")
def test_sample_positions_agree():
    for log2, samples in enumerate((1, 2, 4, 8)):
        assert list(golden.SAMPLE_POSITIONS[log2]) == POSITIONS[samples] == hardware.POSITIONS[log2]
        assert max(abs(v) for place in POSITIONS[samples] for v in place) == hardware.REACH[log2]
    assert list(golden.LANE_SHAPE) == hardware.SHAPES


# Widths, proved by the extremes.


@pytest.mark.plan("edge-evaluator-4")
@pytest.mark.parametrize("name", rtl.CONFIGS)
def test_width_is_enough_and_no_more(name):
    params = rtl.CONFIGS[name]
    limit = 1 << params.step_bits - 1
    spans = []
    for mode in params.modes:
        x, y = golden.lane_positions(mode, params.edge)
        unit = 1 if params.samples > 1 else 16
        spans.append((int(x.max() - x.min()) + int(y.max() - y.min())) // unit)
    assert params.span == max(spans)
    # From the reject corner, cut to 2^(width - 1) - 1, to the worst lane the whole range fits. With
    # one bit less it would not.
    assert -params.span * limit >= -(1 << params.width - 1)
    assert params.span * (limit - 1) > (1 << params.width - 2) - 1


# Parameter errors.


@pytest.mark.plan("edge-evaluator-6")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge": 16}, "edge must be 4 or 8, not 16"),
        ({"samples": 3}, "samples must be 1, 2, 4 or 8, not 3"),
        ({"step_bits": 1}, "step_bits must be 2 to 26, not 1"),
        ({"adder": "ripple"}, "adder must be 'carry_save' or 'shared', not 'ripple'"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.EdgeEvaluatorParams(**arguments)


# Elaborates, without a multiplier.


@pytest.mark.plan("edge-evaluator-5")
@pytest.mark.parametrize("config", rtl.CONFIGS)
def test_elaborates_without_multipliers(config):
    from fixfunc.cosim.verilog.generate import generate

    text = generate(catalogue.block(BLOCK).create(config), BLOCK)
    assert " * " not in text.replace("(* ", "")


# Benches.


@pytest.mark.plan("edge-evaluator-7")
@pytest.mark.parametrize("config", by_tier(["tiny", "tiny_shared", "single", "default", "shared"]))
def test_volume(config):
    check_paces(BLOCK, config, 1000)


@pytest.mark.plan("edge-evaluator-7")
@pytest.mark.parametrize("config", by_tier(["tiny", "tiny_shared", "single"], also=["single"]))
def test_bench(config, simulator):
    check_bench(BLOCK, config, simulator)


@pytest.mark.parametrize("config", by_tier(["default", "shared"], also=["default"]))
def test_bench_at_full_size(config):
    check_bench(BLOCK, config, "verilator")
