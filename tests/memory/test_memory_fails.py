# SPDX-License-Identifier: BSD-2-Clause
"""Memory that fails, as the fences behind the caches' users tell it."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import NOWHERE, Memory
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import FenceError, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from tests.volume import LIMIT, volume

BLOCK = "colour_write"  # but for the tests that name another
EDGE = 4
SIDE = 8  # tiles of the target, four times what the caches hold
TABLE = payloads.tile(EDGE)
FAILED = FenceError.MEMORY


def state(plane=0):
    made = draw_state(SIDE * EDGE, SIDE * EDGE)
    made["slot"] = plane
    return codec.pack(made, payloads.DRAW_STATE, WIDTH)


def clear(plane=0):
    """Of every plane: depths and colours, which are never behind one block, lie at 0.

    Colours of other planes follow, one each 2^15 bytes.
    """
    whole = {"depth": 1, "stencil": 1, "colour": 1, "x1": SIDE * EDGE, "y1": SIDE * EDGE}
    fields = {"depth_value": 1 << 23, "stencil_base": 1 << 16, "colour_base": plane << 15}
    fields["slot"] = plane
    return scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole, **fields)


def fence(**fields):
    return scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, **fields)


def tiles(mask=(1 << EDGE**2) - 1):
    """Every tile of the target; with all of its samples it need not be read."""
    out = np.zeros(SIDE**2, dtype(TABLE))
    out["y"], out["x"] = np.divmod(np.arange(SIDE**2), SIDE)
    out["mask"] = mask
    out["last"] = 1
    out["z0"] = 1 << 28
    out["zmin"] = out["zmax"] = 1 << 20
    return codec.pack(out, TABLE, WIDTH)


def errors(stem, rows, unreadable=NOWHERE, unwritable=NOWHERE, config="tiny"):
    """What each fence tells."""
    memory = Memory(np.zeros(1 << 17, np.uint8), (0, 8), faults=(unreadable, unwritable))
    run = volume(stem, config).run({"i": np.concatenate(rows)}, 1 << 16, memory=memory, limit=LIMIT)
    beats = run.outputs["o"]
    fences = codec.unpack(
        beats[beats[:, 0] & 3 == Kind.FENCE], payloads.FENCE, dtype(payloads.FENCE)
    )
    return fences["error"].tolist()


@pytest.mark.plan("cached-depth-13", "colour-write-12")
@pytest.mark.parametrize("stem", ["cached_depth", "colour_write"])
def test_the_next_fence_tells_that_memory_failed_and_no_other_does(stem):
    """Whether a flush finds out, or a clear before a fence that does not flush."""
    draw = [state(), clear(), tiles()]
    flushed = [*draw, fence(flush=1), fence(), fence(flush=1)]
    cleared = [*draw, clear(), fence(), fence(), fence(flush=1)]
    again = [*draw, fence(flush=1), tiles(1), fence(), fence(flush=1), fence()]
    assert errors(stem, flushed) == errors(stem, cleared) == [0, 0, 0]
    assert errors(stem, flushed, unwritable=0) == [FAILED, 0, 0]
    assert errors(stem, cleared, unwritable=0) == [FAILED, 0, 0]
    assert errors(stem, again, unreadable=0) == [0, 0, FAILED, 0]


@pytest.mark.plan("colour-write-12")
@pytest.mark.parametrize("failing", range(3))
def test_a_colour_plane_whose_memory_fails_is_told_once(failing):
    """Whichever of three it is: by the next fence, and by no other."""
    planes = [part for n in range(3) for part in (state(n), clear(n))]
    rows = [*planes, tiles(), fence(flush=1), fence(), fence(flush=1)]
    assert errors("colour_write", rows, config="tiny_planes") == [0, 0, 0]
    told = errors("colour_write", rows, unwritable=failing << 15, config="tiny_planes")
    assert told == [FAILED, 0, 0]
