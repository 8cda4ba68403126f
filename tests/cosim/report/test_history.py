# SPDX-License-Identifier: BSD-2-Clause
"""Histories of pixels: what stages decided, held to the rules that they follow."""

import numpy as np
import pytest

from fixfunc.cosim.frame import mesh
from fixfunc.cosim.report import history
from fixfunc.cosim.report.capture import Capture
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.scene.shading import BACKGROUND
from fixfunc.spec.state import BlendFactor, Compare, Outcome, StencilOp
from tests.cosim.report.program import SIZE, Small

RED, GREEN, BLUE = ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1))
ADD = BlendState((RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE),))


def word(colour):
    """RGBA8 of a colour of zeros and ones."""
    return sum(255 * int(value) << 8 * n for n, value in enumerate(colour))


@pytest.mark.plan("report-1")
def test_depths_decide_in_the_order_of_drawing():
    """[fs 17.12]: less passes and is stored; what is hidden is neither."""
    program = Small()
    program.draw(0.5, RED)
    program.draw(0.75, BLUE)
    program.draw(0.25, GREEN)
    for x, y in ((0, 0), (7, 3), (11, 9)):
        visits = program.visits(x, y)
        assert visits["draw"].tolist() == [0, 1, 2]
        assert (visits["written"] == 1).tolist() == [True, False, True]
        assert visits["target"][[0, 2]].tolist() == [word(RED), word(GREEN)]
        assert np.allclose(visits["drawn"][[0, 2]], (0.5, 0.25), atol=1e-7)
        assert np.allclose(visits["stored"][[0, 2]], (1, 0.5), atol=1e-7)
    # HiZ hears of the first at once; tiles that reach beyond the target hide nothing less.
    assert (program.visits(0, 0)["outcome"] == [Outcome.ACCEPT, Outcome.DROP, Outcome.ACCEPT]).all()
    assert not program.visits(0, 0)["tested"][1]
    assert program.capture.draws[1].counters["hiz_drop"] == 4


@pytest.mark.plan("report-1")
def test_what_a_shader_discards_is_told_apart():
    """[fs 16.12]: the early test lets it through, the shader drops it, nothing is stored."""
    program = Small()
    program.draw(0.5, RED, discards=lambda x, _y: x % 2 == 0)
    program.draw(0.75, GREEN)
    (even, behind), (odd, hidden) = program.visits(4, 5), program.visits(5, 5)
    assert even["late"] and even["shaded"] == 1 and even["left"] == 0 and even["passed"] == 0
    assert odd["late"] and odd["shaded"] == 1 and odd["left"] == 1 and odd["passed"] == 1
    assert behind["written"] == 1 and behind["stored"] == 1
    assert hidden["passed"] == 0 and hidden["written"] == 0
    assert (even["written"], odd["written"]) == (0, 1)


@pytest.mark.plan("report-1")
def test_stencil_and_depth_fail_apart():
    """[fs 17.13]: a value is replaced, then compared; where it fails, depths may well pass."""
    replace = StencilFace(pass_=StencilOp.REPLACE, func=Compare.ALWAYS)
    equal = StencilFace(func=Compare.EQUAL)
    program = Small()
    states = [
        DepthStencilState(stencil_enable=True, front_face=it, back_face=it)
        for it in (replace, equal)
    ]
    program.draw(0.5, RED, states[0], reference=3)
    program.draw(0.25, GREEN, states[1], reference=4)
    program.draw(0.75, GREEN, states[1], reference=3)
    program.draw(0.25, BLUE, states[1], reference=3)
    visits = program.visits(2, 2)
    live = visits["outcome"] != Outcome.DROP
    assert live[[0, 3]].all()
    wanted = {"stencil": (1, 0, 1, 1), "depth": (1, 1, 0, 1), "passed": (1, 0, 0, 1)}
    for name, values in wanted.items():
        assert visits[name][live].tolist() == np.array(values)[live].tolist(), name
    assert visits["written"].tolist() == [1, 0, 0, 1]
    assert "reference 3" in program.capture.draws[0].state["stencil"]


@pytest.mark.plan("report-1")
def test_blending_shows_source_and_target():
    """[fs 17.5]: one times either is their sum; what is written is what memory holds."""
    program = Small()
    program.draw(0.5, RED)
    program.draw(0.25, GREEN, blend=ADD)
    program.draw(0.125, BLUE, blend=BlendState((RenderTargetBlend(write_mask=0),)))
    visits = program.visits(3, 3)
    assert visits["source"].tolist() == [word(RED), word(GREEN), word(BLUE)]
    assert visits["target"][1] & 0xFFFFFF == 0x00FFFF
    assert visits["passed"].tolist() == [1, 1, 1] and visits["written"].tolist() == [1, 1, 0]
    assert (program.picture() == (255, 255, 0)).all()
    assert (program.capture.picture() == program.picture()).all()
    blends = [draw.state["blend"] for draw in program.capture.draws]
    assert blends == ["off", "source * one + target * one; alpha: source * one + target * zero"] + [
        "off; written: nothing"
    ]


@pytest.mark.plan("report-1")
@pytest.mark.parametrize("samples", [1, 4])
def test_a_history_replayed_is_the_frame(samples):
    """Depths that pass are those stored next, and less [fs 17.12]; the last colours are shown."""
    capture = Capture(96, 54, samples)
    capture.fill(BACKGROUND)
    with capture.draw("teapot", "triangle list"):
        frame = render(Scene(*mesh.teapot(3), 96, 54, samples), probe=capture)
    assert (capture.picture() == frame.colour).all()
    visits = capture.history.visits()
    assert len(visits) > 3000 and (visits["outcome"] == Outcome.DROP).any()
    passed = np.bitwise_count(visits["passed"]).sum()
    assert passed == frame.counters["samples_passed"]
    assert np.bitwise_count(visits["covered"]).sum() == frame.counters["samples_covered"]
    if samples > 1:
        return
    depth = np.ones(96 * 54, np.float32)
    colour = np.full((96 * 54, 3), BACKGROUND, np.uint8)
    for visit in visits:
        if visit["outcome"] == Outcome.DROP:
            continue
        pixel = visit["pixel"]
        assert visit["stored"] == depth[pixel]
        assert visit["passed"] == (visit["drawn"] < visit["stored"])
        if visit["passed"]:
            depth[pixel] = visit["drawn"]
            colour[pixel] = np.array([visit["source"]]).view(np.uint8)[:3]
    assert (colour.reshape(54, 96, 3) == frame.colour).all()
    assert (np.rint(depth * (2.0**24 - 1)) == frame.depth.ravel()).all()


@pytest.mark.plan("report-2")
def test_named_pixels_are_kept_of_large_frames(monkeypatch):
    """Others by steps; what is kept is the same."""
    whole = Small()
    monkeypatch.setattr(history, "MOST_VISITS", 1 << 20)
    for program in (whole, thinned := Small(pixels=[(5, 3)])):
        for z in (0.5, 0.75, 0.25):
            program.draw(z, RED)
        monkeypatch.setattr(history, "MOST_VISITS", 40)
    assert whole.capture.history.step == 1 and thinned.capture.history.step > 1
    kept = thinned.capture.history.visits()
    places = {(int(pixel) % SIZE[0], int(pixel) // SIZE[0]) for pixel in kept["pixel"]}
    step = thinned.capture.history.step
    grid = {(x, y) for x in range(0, SIZE[0], step) for y in range(0, SIZE[1], step)}
    assert places == grid | {(5, 3)}
    for x, y in places:
        assert repr(thinned.visits(x, y)) == repr(whole.visits(x, y))  # no number is itself, too


@pytest.mark.plan("report-2")
def test_a_history_fits_the_room_that_there_is():
    capture = Capture(96, 54, 1, [(31, 29)])
    with capture.draw("teapot", "triangle list"):
        render(Scene(*mesh.teapot(3), 96, 54, 1), probe=capture)
    before = capture.history.visits()
    room = sum(len(it["data"]) for it in capture.history.coded(1 << 20).values()) // 2
    coded = capture.history.coded(room)
    assert sum(len(it["data"]) for it in coded.values()) <= room
    after = capture.history.visits()
    assert capture.history.step == 2 and len(after) < len(before) // 3
    named = 29 * 96 + 31
    assert (after["pixel"] == named).sum() == (before["pixel"] == named).sum() > 0
