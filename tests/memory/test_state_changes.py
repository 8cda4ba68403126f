# SPDX-License-Identifier: BSD-2-Clause
"""What a draw state costs between tiles of one target: clocks, counted in simulations."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.memory.surface.state_queue import SPACING, StateQueue
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, Kind
from fixfunc.tb import catalogue
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from tests.volume import LIMIT, ROOM, volume

EDGE = 4
SIDE = 64  # pixels
PLACE = 1 << 17  # of planes in memory, so many bytes apart
CHANGED = {  # what may differ from draw to draw, in turn
    "depth_compare": (Compare.LESS, Compare.LESS_EQUAL),
    "depth_min": (0, 1),
    "bias_constant": (0, 3),
    "stencil_test": (0, 1),
    "blend_enable": (0, 1),
    "colour_write": (14, 7),
}


def tiles(count, states, **fields):
    """A target that is cleared; so many tiles, behind a draw state each or behind one for all."""
    table = payloads.tile(EDGE)

    def state(n):
        varied = {name: values[n & 1] for name, values in CHANGED.items()} | fields
        return codec.pack(draw_state(SIDE, SIDE, **varied).reshape(1), payloads.DRAW_STATE, WIDTH)

    rows = [
        state(0),
        scenes.control_beat(
            *(payloads.CLEAR, Kind.CLEAR, WIDTH),
            x1=SIDE,
            y1=SIDE,
            depth=1,
            stencil=1,
            colour=1,
            depth_value=(1 << 24) - 1,
            stencil_base=PLACE,
            colour_base=2 * PLACE,
        ),
    ]
    for n in range(count):
        tile = np.zeros(1, dtype(table))
        tile["x"] = n % 8
        tile["mask"] = 1
        tile["z0"] = (1 << 30) - 1000 * n
        tile["zmax"] = (1 << 24) - 1
        tile["last"] = 1
        rows += [state(n)] * states + [codec.pack(tile, table, WIDTH)]
    return np.concatenate([*rows, scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1)])


def clocks(stem, config, rows):
    """From the first beat in to the last one out, memory always ready."""
    block = catalogue.block(stem)
    behaviour = {"latency": (0, 0), "ready": 256} if hasattr(block.bench, "memory") else {}
    run = block.run(volume(stem, config), rows, ROOM, config, behaviour=behaviour, limit=LIMIT)
    return run.clocks


@pytest.mark.plan("contract-10")
@pytest.mark.parametrize("stem", ["hiz", "depth_test", "cached_depth", "colour_write"])
def test_a_draw_state_takes_five_clocks(stem):
    """Of a tile and a draw state before it; a tile by itself takes one. Between late draws, which
    wait for the shader, it takes more."""
    costs = [
        (clocks(stem, "tiny", tiles(70, states)) - clocks(stem, "tiny", tiles(30, states))) / 40
        for states in (0, 1)
    ]
    assert costs == [1, 6]


@pytest.mark.plan("contract-10")
@pytest.mark.parametrize("stem", ["hiz", "depth_test", "cached_depth", "colour_write"])
def test_tiles_of_every_draw_state_are_its_own(stem):
    """Those before it, and those behind it, however closely they follow."""
    block = catalogue.block(stem)
    late = tiles(20, 1, does=("discard",))
    for rows in (tiles(60, 1), np.concatenate([tiles(20, 1), late, tiles(20, 1)])):
        for paces in (("full", "full"), ("random", "bursty"), ("full", "starved")):
            _, _, mismatches, first = block.compare(
                volume(stem, "tiny"), rows, "tiny", paces, limit=LIMIT
            )
            assert not mismatches, first


@pytest.mark.plan("contract-9")
@pytest.mark.parametrize("latency", [3, 5, 24, 33])
def test_a_draw_state_leaves_as_late_as_a_tile(latency):
    """As often as draw states may come, and less often; whatever is offered in between."""
    rng = np.random.default_rng(latency)
    gaps = SPACING + rng.integers(0, 12, 60) * rng.integers(0, 2, 60)
    gaps[:20] = SPACING
    entered = {int(clock): int(rng.integers(1, 1 << 60)) for clock in np.cumsum(gaps)}
    unit = StateQueue(latency)
    left = {}

    async def run(ctx):
        for clock in range(max(entered) + latency + 1):
            ctx.set(unit.state.as_value(), entered.get(clock, clock))
            ctx.set(unit.enters, clock in entered)
            if ctx.get(unit.leaves):
                left[clock] = ctx.get(unit.o.as_value())
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(run)
    simulator.run()
    assert left == {clock + latency: state for clock, state in entered.items()}
