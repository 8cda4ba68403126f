# SPDX-License-Identifier: BSD-2-Clause
"""Samplers in D3D11's names, and the state of the fixed functions of fragments."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Address
from tests.cosim.record.shading.uploads import frame_with, solid, stored, upload

# OpenGL's state of a texture or of its unit, and fields of a sampler.
SAMPLERS = {
    "MIN_FILTER": ("NEAREST_MIPMAP_LINEAR", {"min_filter": 0, "mip_filter": 1, "max_lod": 1000}),
    "MAG_FILTER": ("NEAREST", {"mag_filter": 0, "min_filter": 1, "max_lod": 0.25}),
    "WRAP_S": ("MIRRORED_REPEAT", {"address": (Address.MIRROR, Address.WRAP, Address.WRAP)}),
    "WRAP_T": ("CLAMP", {"address": (Address.WRAP, Address.BORDER, Address.WRAP), "clamped": 2}),
    "WRAP_R": ("MIRROR_CLAMP_TO_EDGE", {"address": (Address.WRAP, Address.WRAP, 5)}),
    "MIN_LOD": (-3, {"min_lod": -3}),
    "MAX_LOD": (0, {"max_lod": 0}),
    "LOD_BIAS": (2, {"bias": 2}),
    "MAX_ANISOTROPY": (8, {"anisotropy": 8}),
    "COMPARE_MODE": ("COMPARE_REF_TO_TEXTURE", {"comparison": True, "comparison_func": 3}),
    "COMPARE_FUNC": ("GREATER", {"comparison_func": 4, "comparison": False}),
}


@pytest.mark.plan("record-13")
@pytest.mark.parametrize("by", ["texture", "object"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_have_their_names(name, by):
    """Of the texture, or of an object in its place."""
    value, fields = SAMPLERS[name]
    value = getattr(T, value) if isinstance(value, str) else value

    def change(gl):
        upload(gl, "RGBA8")
        for level, side in ((1, 2), (2, 1)):
            stored(gl, T.TEXTURE_2D, level, (side, side), solid(level, side, side))
        if by == "texture":
            gl.glTexParameteri(T.TEXTURE_2D, getattr(T, f"TEXTURE_{name}"), value)
            return
        gl.glGenSamplers(1, [3])
        gl.glBindSampler(0, 3)
        gl.glSamplerParameteri(3, T.TEXTURE_MIN_FILTER, T.LINEAR)
        gl.glSamplerParameteri(3, getattr(T, f"TEXTURE_{name}"), value)

    frame = frame_with(change)
    (row,) = frame.samplers
    for field, wanted in fields.items():
        assert np.array_equal(row[field], wanted), field


@pytest.mark.plan("record-13")
def test_state_of_fragments_is_carried():
    """Fog, the unit's bias, the border, the environment."""

    def change(gl):
        upload(gl, "RGBA8")
        gl.glTexParameterfv(T.TEXTURE_2D, T.TEXTURE_BORDER_COLOR, [0.25, 0.5, 0.75, 1.0])
        gl.glTexEnvf(T.TEXTURE_FILTER_CONTROL, T.TEXTURE_LOD_BIAS, 1.5)
        gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.DECAL)
        gl.glEnable(T.FOG)
        gl.glFogi(T.FOG_MODE, T.EXP2)
        gl.glFogf(T.FOG_DENSITY, 0.5)
        gl.glFogf(T.FOG_START, 2.0)
        gl.glFogf(T.FOG_END, 3.0)
        gl.glFogfv(T.FOG_COLOR, [0.25, 0.5, 0.75, 1.0])

    frame = frame_with(change)
    shading, sampler = frame.shadings[0], frame.samplers[0]
    assert tuple(shading[f"fog_{it}"] for it in ("density", "start", "end")) == (0.5, 2, 3)
    assert shading["fog"] == 3 and shading["fog_colour"].tolist() == [0.25, 0.5, 0.75, 1]
    assert sampler["border"].tolist() == [0.25, 0.5, 0.75, 1] and sampler["bias"] == 1.5
    assert frame.draw_bindings(0)["environment"].tolist() == [3]
