# SPDX-License-Identifier: BSD-2-Clause
"""A shader asks how many samples there are, and where [fs 22.4.21-22.4.22]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.host.coverage.test_forced_samples import PATTERNS, Forced
from tests.host.drawing import DRAWN, MEMORY, READ, RGBA8, WHOLE, Scene
from tests.oracles.specification.triangles import SAMPLES

NUMBERS = np.array([[-(1 << 40), -1, 0, 1, 2], [3, 7, 8, 15, 1 << 40]])


def right(positions):
    """Pixels from the centre, of every number."""
    return [
        [
            [axis / 16 for axis in positions[number]] if 0 <= number < len(positions) else [0, 0]
            for number in row
        ]
        for row in NUMBERS.tolist()
    ]


def asked_by_pixels(scene):
    """What a pixel shader is told of the rasterizer, and of an empty slot."""
    told = []

    def ask(quads, bound):
        places = quads.sample_position(NUMBERS), bound.sample_position(3, NUMBERS)
        told.append((quads.sample_count, bound.sample_count(3), *places))
        return PixelResults(quads.floats(0))

    scene.shade(ask)
    scene.draw(WHOLE)
    return told[0]


@pytest.mark.plan("pixel-stage-11")
@pytest.mark.parametrize("samples", SAMPLES)
def test_samples_of_the_rasterizer(samples):
    count, nothing, places, zeros = asked_by_pixels(Scene(8, 8, samples))
    assert (count, nothing) == (samples, 0)
    assert places.dtype == np.float32
    assert places.tolist() == right(SAMPLES[samples])
    assert zeros.shape == places.shape and not zeros.any()


@pytest.mark.plan("pixel-stage-11")
@pytest.mark.parametrize("count", PATTERNS)
def test_samples_that_are_forced(count):
    """[fs 3.5.6.2]: of the rasterizer, not of the target."""
    found, _, places, _ = asked_by_pixels(Forced(count))
    assert found == count
    assert places.tolist() == right(PATTERNS[count])


@pytest.mark.plan("pixel-stage-11")
@pytest.mark.parametrize("samples", SAMPLES)
def test_samples_of_a_texture(samples):
    """Whatever the target has."""
    scene = Scene(8, 8, 2)
    texture = scene.device.create_texture2d(RGBA8, 8, 8, sample_count=samples, bind=READ | DRAWN)
    view = scene.device.create_shader_resource_view(texture)
    scene.context.ps.set_shader_resources(3, [view])
    _, count, _, places = asked_by_pixels(scene)
    assert count == samples
    assert places.tolist() == right(SAMPLES[samples])


@pytest.mark.plan("pixel-stage-11")
def test_what_has_no_samples():
    device = Device(MEMORY)
    buffer = device.create_buffer(64, READ)
    line = device.create_texture1d(RGBA8, 8)
    volume = device.create_texture3d(RGBA8, 8, 8, 8)
    views = [
        device.create_shader_resource_view(buffer, Format.R32_UINT),
        device.create_shader_resource_view(line),
        device.create_shader_resource_view(volume),
    ]
    device.context.cs.set_shader_resources(0, views)
    for ask, text in (
        (lambda bound: bound.sample_count(0), "be of a texture"),
        (lambda bound: bound.sample_count(1), "texture must be 2D to have samples, not 1"),
        (lambda bound: bound.sample_position(2, 0), "texture must be 2D to have samples, not 3"),
        (lambda bound: bound.sample_position(4, 0.5), "number must be integers, not float64"),
    ):
        shader = device.create_compute_shader(ComputeShader(lambda _, bound, ask=ask: ask(bound)))
        device.context.cs.set_shader(shader)
        with pytest.raises(InputError, match=text):
            device.context.dispatch(1)


@pytest.mark.plan("pixel-stage-11")
def test_an_attribute_at_a_place_is_that_at_the_sample():
    """Places in sixteenths of a pixel are those that the pull model takes."""
    scene = Scene(8, 8, 8)
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE))
    differs = []

    def compare(quads, _bound):
        for n in range(quads.sample_count):
            steps = (quads.sample_position(n) * 16).astype(int)
            differs.append((quads.at_sample(0, n) != quads.snapped(0, steps)).any())
        return PixelResults(quads.floats(0))

    scene.shade(compare)
    scene.draw(WHOLE, np.float32([(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)]))
    assert differs and not any(differs)
