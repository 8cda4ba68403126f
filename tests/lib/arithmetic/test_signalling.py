# SPDX-License-Identifier: BSD-2-Clause
"""A signalling NaN is any other NaN [fs 3.1.3.1], wherever floats of a shader are widened."""

import numpy as np
import pytest

from fixfunc.models import formats
from fixfunc.models.geometry.viewport import fixed_depth, snap
from fixfunc.models.host.states import BlendState
from fixfunc.models.lib.float32 import NAN, widened
from fixfunc.models.memory.copies import clear_values
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture import texture
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.ring import FIELDS, RingOp
from fixfunc.spec.state import DepthFormat
from tests.host.drawing import WHOLE, Scene

KINDS = np.array([0x7F800001, 0xFF800001, 0x7FBFFFFF, 0xFFFFFFFF], np.uint32).view(np.float32)
ADDRESSES = "wrap", "mirror", "clamp", "border", "mirror_once"


def noise(form="RGBA8", octets=64):
    """A texture of 4 by 4 texels."""
    level = np.random.default_rng(3).integers(0, 64, (1, octets), np.uint8)
    return texture.create(form, 4, 4, [level])


@pytest.mark.plan("float32-2")
def test_widened_floats_are_the_same_numbers():
    values = np.array([0, -1.5, 2.0**-149, 3e38, np.inf, -np.inf], np.float32)
    assert widened(values, 7).tolist() == [float(value) for value in values]
    assert widened(KINDS, -3).tolist() == [-3.0] * len(KINDS)


@pytest.mark.plan("float32-2")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
def test_positions_and_depths_of_vertices(form):
    assert not snap(KINDS).any()
    assert fixed_depth(KINDS, form).tolist() == fixed_depth([-127.0] * len(KINDS), form).tolist()


@pytest.mark.plan("float32-2")
@pytest.mark.parametrize("form", list(DepthFormat))
def test_depths_of_a_shader_are_the_least(form):
    low = int(formats.encode(np.float32(0.25), form))
    assert formats.encode(KINDS, form, (0.25, 0.75)).tolist() == [low] * len(KINDS)


@pytest.mark.plan("float32-2")
@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("mode", ["point", "linear"])
def test_coordinates_and_levels_of_a_sample(address, mode):
    """Alone, and beside a coordinate that is a number."""
    image = noise()
    state = Sampler(address=(address,) * 3, minify=mode, magnify=mode, mip=mode)
    other = np.float32([0.3, -1.2, np.inf, 0.9])
    for nans in (KINDS, np.full(len(KINDS), NAN)):
        places = np.stack([nans, other], -1)
        rest = np.stack([other, other], -1)
        found = (
            sample(image, state, places, lod=0),
            sample(image, state, rest, lod=nans),
            gather(image, state, places),
        )
        if nans is KINDS:
            first = found
    assert all((a == b).all() for a, b in zip(first, found, strict=True))


@pytest.mark.plan("float32-2")
def test_references_of_a_comparison():
    image = noise("R16", 32)
    state = Sampler(address=("clamp",) * 3, reduction="comparison")
    places = np.full((len(KINDS), 2), 0.4, np.float32)
    zeros, nans = (
        sample_compare(image, state, places, values, lod=0)
        for values in (np.zeros(len(KINDS), np.float32), KINDS)
    )
    assert (zeros == nans).all()


@pytest.mark.plan("float32-2")
@pytest.mark.parametrize("form", [Format.R32_UINT, Format.R8G8_SINT, Format.R8G8B8A8_UNORM])
def test_values_of_a_clear(form):
    view = np.zeros(1, dtype(VIEW))[0]
    view["form"] = form
    packet = np.zeros(1, dtype(FIELDS[RingOp.CLEAR]))[0]
    for n, bits in enumerate(KINDS.view(np.uint32)):
        packet[f"value{n}"] = bits
    assert not clear_values(view, packet)["colour"].any()


@pytest.mark.plan("float32-2")
def test_alpha_that_covers_and_depths_that_are_put_out():
    """Alpha of none covers nothing; without that the least depth is stored."""
    scene = Scene(8, 8, samples=4)
    scene.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))

    def nans(quads, _bound):
        colour = np.resize(KINDS, (*quads.x.shape, 4))
        return PixelResults(colour, depth=np.resize(KINDS, quads.x.shape))

    scene.shade(nans, depth="any")
    scene.draw(WHOLE)
    assert (scene.context.read(scene.depths)[..., :3] == 255).all()
    scene.context.om.set_blend_state(BlendState())
    scene.draw(WHOLE)
    assert not scene.context.read(scene.depths)[..., :3].any()
