# SPDX-License-Identifier: BSD-2-Clause
"""A shader that is asked for every sample, and a resolve of its own with weights and tones.

Samples are held to rationals at the places of [fs 3.5.3], and the means to those of the samples.
"""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.host.resources import Bind
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from tests.host.drawing import WHOLE, Scene
from tests.oracles.naive import POSITIONS

WIDTH, HEIGHT = 24, 16
TRIANGLE = np.array([(-0.83, -0.71), (0.11, 0.93), (0.77, -0.37)], np.float32)
COLOUR = np.float32((0.75, 0.5, 0.25, 1))
BOTH = Bind.RENDER_TARGET | Bind.SHADER_RESOURCE


def stripes(x, y):
    """Of a pattern finer than a pixel: 0 to 7, from places in sixteenths of a pixel."""
    return (3 * x + 5 * y) // 8 % 8


def by_sample(quads, _bound):
    """The pattern where the sample lies."""
    place = np.rint(quads.position[..., :2] * 16).astype(np.int64)
    share = stripes(place[..., 0], place[..., 1]).astype(np.float32) / np.float32(7)
    return PixelResults(share[..., None] * COLOUR)


def mean_of(samples):
    """A resolve: weights 1, 2, 3.. of the samples, so that their order shows."""

    def resolve(quads, bound):
        at = np.stack([quads.x, quads.y], -1)
        total = np.zeros((*quads.x.shape, 4), np.float32)
        for n in range(samples):
            total = total + bound.fetch(0, at, sample=n) * np.float32(n + 1)
        return PixelResults(total / np.float32(samples * (samples + 1) // 2))

    return resolve


def drawn(samples, shader, declared, points):
    """Samples of a picture, and what the resolve makes of them."""
    scene = Scene(WIDTH, HEIGHT, samples)
    device, context = scene.device, scene.context
    texture = device.create_texture2d(
        Format.R8G8B8A8_UNORM, WIDTH, HEIGHT, sample_count=samples, bind=BOTH
    )
    view = device.create_render_target_view(texture)
    context.clear_render_target_view(view, (0, 0, 0, 0))
    context.om.set_render_targets([view])
    scene.shade(shader, **declared)
    scene.draw(points)
    wide = device.create_texture2d(Format.R32G32B32A32_FLOAT, WIDTH, HEIGHT, bind=BOTH)
    context.om.set_render_targets([device.create_render_target_view(wide)])
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
    scene.shade(mean_of(samples))
    scene.draw(WHOLE)
    mean = np.ascontiguousarray(context.read(wide)).view("<f4").reshape(HEIGHT, WIDTH, 4)
    return context.read(texture), mean


def place(samples, x, y, n):
    """A sample's place in sixteenths of a pixel; those of the oracle are eighths."""
    dx, dy = POSITIONS[samples][n]
    return 16 * x + 8 + dx, 16 * y + 8 + dy


def inside(x, y):
    """Whether the triangle has a place, in sixteenths; corners are snapped to 1/256 of a pixel."""
    corners = [
        (
            round((Fraction(float(a)) + 1) * 128 * WIDTH),
            round((1 - Fraction(float(b))) * 128 * HEIGHT),
        )
        for a, b in TRIANGLE
    ]
    sides = []
    for k in range(3):
        (ax, ay), (bx, by) = corners[k], corners[(k + 1) % 3]
        sides.append((bx - ax) * (16 * y - ay) - (by - ay) * (16 * x - ax))
    assert 0 not in sides  # no sample lies on an edge
    return len({side > 0 for side in sides}) == 1


@pytest.mark.plan("frames-10")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_every_sample_is_shaded_where_it_lies(samples):
    declared = {"position": "sample", "sample_index": True}
    found, mean = drawn(samples, by_sample, declared, TRIANGLE)
    lit = 0
    for y, x in np.ndindex(HEIGHT, WIDTH):
        total = [Fraction(0)] * 4
        for n in range(samples):
            at = place(samples, x, y, n)
            share = Fraction(stripes(*at), 7) if inside(*at) else 0
            lit += bool(share)
            for channel in range(4):
                value = share * Fraction(float(COLOUR[channel])) * 255
                # [fs 3.2.3.6]: within 0.6 of a step.
                assert abs(int(found[y, x, n, channel]) - value) <= Fraction(6, 10)
                total[channel] += Fraction(int(found[y, x, n, channel]), 255) * (n + 1)
        for channel in range(4):
            exact = total[channel] / (samples * (samples + 1) // 2)
            assert abs(Fraction(float(mean[y, x, channel])) - exact) <= Fraction(1, 1 << 20)
    assert lit > 70 * samples


@pytest.mark.plan("frames-10")
def test_a_shader_for_pixels_gives_all_samples_one_colour():
    found, _ = drawn(4, by_sample, {}, WHOLE)
    assert (found == found[:, :, :1]).all() and len(np.unique(found)) > 8
