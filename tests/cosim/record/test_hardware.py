# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame by the top: the golden one always, the hardware in ``make qualify``."""

import json

import numpy as np
import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Listed, Recording
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import file
from fixfunc.cosim.recorded.drawing import Player
from fixfunc.cosim.reference import top
from fixfunc.models.output.formats import colour_format, load
from fixfunc.rtl.top import CONFIGS
from fixfunc.spec.dxgi import FORMATS, Format
from tests.cosim.record.program import Program, recorded
from tests.cosim.record.test_refusals import TINT, program
from tests.cosim.record.test_shaders import DEPTH, HOLES
from tests.cosim.record.test_states import STATES, blended_by_constants, frame_of

PARAMS = CONFIGS["frame"]
# Blended by the machine from floats, by the top from what a target stores.
UNITS = {"blended": 1, "blended_by_constants": 1}


def octets(picture):
    """Texels of 32 bits as bytes: uint8, with a last axis of four."""
    return np.ascontiguousarray(picture, "<u4").view(np.uint8).reshape(*picture.shape, 4)


def twice(frame):
    """A frame drawn as it is counted, and again: surfaces, and a recording of the second."""
    first = Player(frame)
    counted = first.draw()
    second = Player(frame, first.lookups)
    recording = Recording(second.device)
    return counted.surfaces, second.draw().surfaces, recording


@pytest.mark.plan("record-9")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_the_top_draws_what_the_machine_draws(state):
    """What it lacks of a frame is named."""
    frame = frame_of(state)
    counted, again, recording = twice(frame)
    for one, other in zip(counted, again, strict=True):
        assert np.array_equal(one.found, other.found)
    # Shaders that leave nothing out may be asked behind the tests, as those of the program are.
    early = {bool(it.state["early_write"]) for it in recording.calls if isinstance(it, Listed)}
    assert early == {state.__name__ != "alpha_tested"}
    job = ProgramJob(recording, PARAMS)
    assert not job.missing
    memory = job.data.copy()
    drawn = top.machine(PARAMS, memory, shader=job.shader).draw(*job.start)
    assert not drawn.status["error"].any()
    found = octets(job.picture(memory, job.placed[-1].colour))[:, :, 0].astype(int)
    apart = np.abs(found - counted[0].found)
    assert apart.max() <= UNITS.get(state.__name__, 0)


@pytest.mark.plan("record-9")
@pytest.mark.parametrize("form", ["SRGB8_ALPHA8", "RGB10_A2", "RGB565", "RG8", "R16", "RG16"])
def test_a_frame_of_every_kind_of_format_brings_its_constants(form):
    """To a top with all formats, each channel within a unit of the machine."""
    gl = Program()
    gl.texture(9, getattr(T, form))
    gl.framebuffer(4, 9)
    gl.glEnable(T.FRAMEBUFFER_SRGB)
    gl.swap()
    gl.glClearColor(0.1, 0.2, 0.3, 0.4)
    gl.glClear(T.COLOR_BUFFER_BIT)
    blended_by_constants(gl)
    counted, _, recording = twice(recorded(gl))
    job = ProgramJob(recording, CONFIGS["planes"])
    assert not job.missing
    memory = job.data.copy()
    drawn = top.machine(job.params, memory, shader=job.shader).draw(*job.start)
    assert not drawn.status["error"].any()
    own = Format(int(job.placed[-1].state["colour_format"]))
    size = FORMATS[own].bytes
    kind = colour_format(own)._replace(is_srgb=False)  # bytes as they are
    found = octets(job.picture(memory, job.placed[-1].colour)).reshape(-1, 4)[:, :size]
    wanted = np.ascontiguousarray(counted[0].found).view(np.uint8).reshape(-1, size)
    apart = np.abs(load(np.ascontiguousarray(found), kind) - load(wanted, kind))
    assert apart.max() <= 1
    assert len(np.unique(wanted, axis=0)) > 5


@pytest.mark.plan("record-9")
@pytest.mark.parametrize("text", [TINT, HOLES, DEPTH], ids=["plain", "holes", "depths"])
def test_shaders_are_asked_again_for_what_is_visible(text):
    gl, _ = program(text)
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT)
    gl.glDrawArrays(T.TRIANGLES, 0, 90)
    counted, again, _ = twice(recorded(gl))
    for one, other in zip(counted, again, strict=True):
        assert np.array_equal(one.found, other.found)
    assert len(np.unique(counted[0].found)) > 10


@pytest.mark.plan("record-9")
@pytest.mark.qualify
def test_the_hardware_draws_a_recorded_frame(tmp_path, capsys):
    gl = Program()
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    for state in ("depth_test", "stencil", "cull_back"):
        next(it for it in STATES if it.__name__ == state)(gl)
    path = tmp_path / "states.npz"
    path.write_bytes(file.write(recorded(gl)))
    assert main(["frame", str(path), "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())["hardware"]["near"]
    assert not figures["missing"] and figures["counters"]["clocks"] > 500
    assert all(stream["beats"] for stream in figures["streams"].values())
    assert "hardware: 4 lists of triangles" in capsys.readouterr().out
