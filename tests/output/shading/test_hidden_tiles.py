# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of which no sample passed, among those that are shaded."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.output import colour_write as rtl
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.output.colour_write import WIDTH
from tests.volume import check_outputs


def handed_out(tiles):
    """Tiles whose quads go out, while neither memory nor the shader answers."""
    whole = {"colour": 1, "x1": 32, "y1": 32}
    rows = np.concatenate(
        [
            codec.pack(draw_state(32, 32, early_write=1), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole),
            codec.pack(tiles, payloads.tile(4), WIDTH),
        ]
    )
    unit = rtl.ColourWrite(rtl.CONFIGS["tiny"])
    found = []

    async def source(ctx):
        for row in rows:
            ctx.set(unit.i.payload.as_value(), int.from_bytes(row.tobytes(), "little"))
            ctx.set(unit.i.valid, 1)
            await ctx.tick().until(unit.i.ready)
        ctx.set(unit.i.valid, 0)
        await ctx.tick().repeat(16)

    async def sink(ctx):
        ctx.set(unit.quads.ready, 1)
        async for _, _, valid, x in ctx.tick().sample(unit.quads.valid, unit.quads.payload.x):
            found.extend([x] * valid)

    simulator = Simulator(unit)
    simulator.add_clock(1e-9)
    simulator.add_testbench(source)
    simulator.add_testbench(sink, background=True)
    simulator.run_until(1e-6)
    return found


@pytest.mark.plan("colour-write-27")
def test_hidden_tiles_do_not_wait_for_the_shader():
    """The quads of one behind many go out before the colours of the one in front come back."""
    tiles = np.zeros(2 + 2 * rtl.CONFIGS["tiny"].shading, dtype(payloads.tile(4)))
    tiles["x"] = np.arange(len(tiles)) % 8
    tiles["mask"][[0, -1]] = 1
    assert handed_out(tiles) == tiles["x"][[0, -1]].tolist()


@pytest.mark.plan("colour-write-27")
@pytest.mark.parametrize("change", ["off the target", "never cleared"])
@pytest.mark.parametrize("mask", [0, 1])
def test_hidden_tiles_are_checked(change, mask):
    """The FENCE behind the only tile that breaks a rule tells of it, whatever its samples."""
    whole = {"colour": 1, "x1": 32, "y1": 32}
    fence = scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)
    tiles = np.zeros(2, dtype(payloads.tile(4)))
    tiles["mask"] = 1, mask
    is_off = change == "off the target"
    tiles["x"][1] = 63 if is_off else 0
    other = [] if is_off else [draw_state(32, 16, early_write=1)]
    rows = np.concatenate(
        [
            codec.pack(draw_state(32, 32, early_write=1), payloads.DRAW_STATE, WIDTH),
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole),
            codec.pack(tiles[:1], payloads.tile(4), WIDTH),
            fence,
            *(codec.pack(state, payloads.DRAW_STATE, WIDTH) for state in other),
            codec.pack(tiles[1:], payloads.tile(4), WIDTH),
            fence,
        ]
    )
    outputs = check_outputs("colour_write", "tiny", rows, ("full", "full"), 0)
    errors = codec.unpack(outputs["o"], payloads.FENCE, dtype(payloads.FENCE))["error"]
    assert errors.tolist() == [0, 2 if is_off else 1]
