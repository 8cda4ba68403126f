# SPDX-License-Identifier: BSD-2-Clause
"""Programs that draw conservatively, by a shader that asks for inner coverage, as packets."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.program import hardware
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.cosim.program.test_program import PARAMS, executed, octets, watched


def drawn():
    """Slivers and others, red where a triangle has the whole pixel: scene, recording."""
    scene, recording = watched()
    scene.context.om.set_render_targets([scene.target])
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, conservative_raster=True))

    def red(quads, _bound):
        colour = quads.floats(0).copy()
        colour[..., 0] = quads.inner
        return PixelResults(colour)

    scene.shade(red)
    for n, corner in enumerate(np.random.default_rng(0).uniform(-1.3, 1.3, (9, 3, 2))):
        if n % 3 == 2:
            corner[2] = corner[:2].mean(0) + 0.02
        scene.draw(corner, (0, 1, n / 9, 1))
    return scene, recording


@pytest.mark.plan("program-1")
def test_conservative_coverage_is_that_of_the_machine():
    scene, recording = drawn()
    job, memory = executed(recording)
    assert not job.missing and job.executed == 9
    found = octets(job.picture(memory, job.placed[-1].colour))
    wanted = scene.context.read(scene.colours)
    assert np.array_equal(found, wanted)
    outer, inner = ((wanted[..., channel] == 255).sum() for channel in (1, 0))
    assert outer - 50 > inner > 50


@pytest.mark.plan("program-3")
def test_conservative_coverage_is_lacking():
    blocks = {
        name: replace(getattr(PARAMS, name), conservative=False) for name in ("reader", "setup")
    }
    with pytest.raises(InputError, match="what='conservative coverage'"):
        ProgramJob(drawn()[1], replace(PARAMS, **blocks))


@pytest.mark.plan("program-1")
@pytest.mark.qualify
def test_conservative_coverage_is_the_same_in_hardware():
    scene, recording = drawn()
    run = hardware.draw(recording)
    assert not any(stream["mismatches"] for stream in run.streams.values()), run.streams
    found = octets(run.job.picture(run.memory, run.job.placed[-1].colour))
    assert np.array_equal(found, scene.context.read(scene.colours))
