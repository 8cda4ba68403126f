# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames of 640 by 360 pixels, from draw calls to a display, beside Mesa's llvmpipe."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.output.display.display import Display
from fixfunc.spec.descriptors import VIEW
from tests.machine.frames.drawing import Drawing
from tests.machine.frames.scenes import SCENES

# The share of pixels that may differ by more than 2 of 255, and why.
ALLOWED = {
    "textured_mesh": 0.0002,  # levels of detail: llvmpipe has another logarithm
    "foliage": 0.002,  # alpha beside one half: weights of 8 bits, and of 24
    "particles": 0.0005,  # each blend is rounded, and llvmpipe rounds otherwise
    "stencil_shadow": 0.0,
    "shadow_map": 0.0001,  # a comparison of equal depths
    "mirrored_ball": 0.0001,  # faces of the cube meet
    "tessellated_terrain": 0.0001,  # outlines: places are computed in float32, twice
    "multisampled": 0.0,
}


@pytest.mark.plan("frames-1")
@pytest.mark.parametrize("name", SCENES)
def test_frames_are_llvmpipes(llvmpipe_frames, name):
    frame = SCENES[name]()
    ours = Drawing(frame).image()[..., :3].astype(int)
    theirs = llvmpipe_frames()(frame)[..., :3].astype(int)
    different = np.abs(ours - theirs).max(2)
    assert (different > 2).mean() <= ALLOWED[name], ((different > 2).sum(), different.max())
    # It is a picture: much of it is drawn, in many colours.
    assert (ours != ours[0, 0]).any(2).mean() > 0.1
    assert len(np.unique(ours.reshape(-1, 3), axis=0)) > (2 if name == "stencil_shadow" else 50)


@pytest.mark.plan("frames-2")
def test_a_frame_reaches_the_display():
    drawing = Drawing(SCENES["mirrored_ball"]())
    image = drawing.image()
    view = piece(drawing.target.encode(), VIEW)
    assert (Display(drawing.device.memory, [view]).frame() == image[..., :3]).all()


@pytest.mark.plan("frames-2")
def test_what_a_pass_does_can_be_seen(llvmpipe_frames):
    """The comparison fails if a pass is left out, or a state."""
    for name, change in (
        (
            "stencil_shadow",
            lambda frame: frame._replace(passes=frame.passes[:2] + frame.passes[3:]),
        ),
        ("shadow_map", lambda frame: frame._replace(passes=frame.passes[1:])),
        ("particles", lambda frame: frame._replace(passes=frame.passes[:2])),
        ("multisampled", lambda frame: frame._replace(samples=1)),
    ):
        frame = SCENES[name]()
        theirs = llvmpipe_frames()(frame)[..., :3].astype(int)
        ours = Drawing(change(frame)).image()[..., :3].astype(int)
        assert (np.abs(ours - theirs).max(2) > 2).mean() > max(ALLOWED[name], 0.0005), name
