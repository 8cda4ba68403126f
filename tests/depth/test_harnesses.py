# SPDX-License-Identifier: BSD-2-Clause
"""Hardware of the benches of depth: noise, reports to HiZ, a shader."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, Outcome
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.depth import shading
from fixfunc.tb.depth.loop import STAMP
from fixfunc.tb.depth.noise import sometimes
from tests.volume import LIMIT, volume

EDGE = 4
TABLE = payloads.tile(EDGE)


@pytest.mark.plan("hiz-16")
def test_noise_is_dense_and_then_sparse():
    """Half of the clocks, then a sixteenth of them, in turn."""
    clocks = 256
    m = Module()
    noise = Signal()
    m.d.comb += noise.eq(sometimes(m, clocks))
    seen = []

    async def watch(ctx):
        for _ in range(4 * clocks):
            seen.append(ctx.get(noise))
            await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(watch)
    simulator.run()
    share = np.reshape(seen, (4, clocks)).mean(1)
    assert (np.abs(share[::2] - 1 / 2) < 1 / 8).all()
    assert (np.abs(share[1::2] - 1 / 16) < 1 / 24).all()


def tiles(count):
    """Tiles of one place, each nearer than the one before it, each the last of its triangle."""
    out = np.zeros(count, dtype(TABLE))
    out["mask"] = (1 << EDGE**2) - 1
    out["full"] = out["last"] = 1
    out["z0"] = 1 << 30
    out["zmin"] = out["zmax"] = np.arange(count, 0, -1) << 12
    return out


@pytest.mark.plan("hiz-16")
@pytest.mark.parametrize("source", ["full", "starved"])
@pytest.mark.parametrize("stem", ["hiz"])
def test_stamps_count_reports_and_a_tile_that_is_not_the_last_is_a_request(stem, source):
    state = draw_state(16, 16)
    clear = scenes.control_beat(
        payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, stencil=1, x1=16, y1=16, depth_value=0xFFFFFF
    )
    request = tiles(1)
    request["last"] = 0
    fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH)
    rows = np.concatenate(
        [
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            clear,
            codec.pack(tiles(200), TABLE, WIDTH),
            codec.pack(request, TABLE, WIDTH),
            fence,
        ]
    )
    block = volume(stem, "tiny")
    outputs = block.run({"i": rows}, len(rows), (source, "full"), limit=LIMIT).outputs
    assert len(outputs["saved"]) == 1
    beats = outputs["o"]
    assert len(beats) == len(rows) - 1
    stamps = (beats[:, 0] >> np.uint64(STAMP.start)).astype(int) & 0xFFF
    work = beats[:, 0] & 3 == Kind.WORK
    out = codec.unpack(beats[work], TABLE, dtype(TABLE))
    reports = (out["outcome"] != Outcome.DROP).sum()
    assert reports > 0
    assert stamps[0] == 0
    assert (np.diff(stamps) >= 0).all()
    assert stamps[work].max() <= reports
    if source == "starved":  # reports of a place wait while its tiles are looked up
        assert stamps[work].max() > 0
    assert stamps[-1] == reports  # a request waits until every report has counted


class Wire(wiring.Component):
    """A unit that tests nothing: tiles go out as they came in, and what is shaded is answered."""

    def __init__(self):
        shape = beat(tile=TABLE, **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "shaded": In(stream.Signature(layout(payloads.shaded(EDGE, True)))),
                "answers": Out(stream.Signature(layout(payloads.shaded(EDGE, True)))),
            }
        )

    def elaborate(self, _platform):
        m = Module()
        wiring.connect(m, wiring.flipped(self.i), wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.shaded), wiring.flipped(self.answers))
        return m


@pytest.mark.plan("depth-test-17")
@pytest.mark.parametrize(
    ("fields", "late", "replaces"),
    [
        ({"does": ["plain"]}, False, False),
        ({"does": ["discard"]}, True, False),
        ({"does": ["depth_output"]}, True, True),
        ({"does": ["depth_greater_equal"]}, True, None),
        ({"does": ["depth_less_equal"]}, True, None),
    ],
)
def test_the_shader_answers_late_draws_in_order(fields, late, replaces):
    """With the masks and depths of :func:`fixfunc.tb.depth.shading.shade`.

    Conservative depths are replaced in some tiles, by the end of their direction.
    """
    rng = np.random.default_rng(4)
    state = draw_state(16, 16, **fields)
    work = tiles(300)
    for name in ("z0", "mask"):
        work[name] = rng.integers(0, 1 << 16, len(work)) << (8 if name == "z0" else 0)
    work["dx"] = rng.integers(-1 << 20, 1 << 20, len(work))
    rows = np.concatenate(
        [codec.pack(state, payloads.DRAW_STATE, WIDTH), codec.pack(work, TABLE, WIDTH)]
    )
    run = Volume(shading.Harness(Wire(), EDGE), "wire").run({"i": rows}, len(rows), limit=LIMIT)
    assert (run.outputs["o"] == rows).all()
    table = payloads.shaded(EDGE, True)
    answers = codec.unpack(run.outputs["answers"], table, dtype(table))
    assert len(answers) == late * len(work)
    if late:
        kept, depths, _ = shading.shade(work, state, EDGE, True)
        assert (unpack(answers["mask"], EDGE) == unpack(work["mask"], EDGE) & kept).all()
        assert 0 < kept.mean() < 1
        assert (answers["z0"] == work["z0"]).all()
        replaced = answers["replaces"] == 1
        assert (0.3 < replaced.mean() < 0.7) if replaces is None else (replaced == replaces).all()
        assert (depths is not None) == (replaces is not False)
    if replaces is not False:
        put_out = np.stack([answers[f"depth{n}"] for n in range(EDGE**2)], 1)
        assert (put_out == depths.reshape(len(work), -1))[replaced].all()
