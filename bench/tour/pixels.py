# SPDX-License-Identifier: BSD-2-Clause
"""Figures from quads to lines of a display: quads, textures, blending and resolve, dithering."""

import numpy as np

from bench.tour.geometry import Axes, plain
from bench.tour.tiles import SIDES, records
from fixfunc import d3d11
from fixfunc.models.geometry.viewport import snap
from fixfunc.models.output.display.display import dithered
from fixfunc.models.pixel import interpolator
from fixfunc.models.pixel.quads import split
from fixfunc.models.raster.tile_rasterizer import coverage
from fixfunc.models.texture import sampler
from fixfunc.models.texture.sampler import Sampler
from fixfunc.models.texture.texture import of_picture

EDGE = 8  # samples along a tile's edge
FLOOR = 160, 96  # pixels
TARGET = 24, 16  # pixels


def quads(axes: Axes) -> None:
    """Quads of a triangle: covered pixels, and helpers; weights across it."""
    points = np.float32([[(2, 1), (30, 5), (9, 15)]])
    mask = coverage(snap(points), *SIDES)[0, :, :, 0]
    wide, high = SIDES
    y, x = np.mgrid[: high // EDGE, : wide // EDGE]
    tiles = mask.reshape(high // EDGE, EDGE, wide // EDGE, EDGE).swapaxes(1, 2)
    made = split(x.ravel(), y.ravel(), tiles.reshape(-1, EDGE, EDGE), 0)
    image = np.ones((high, wide, 3))
    for n in range(len(made.x)):
        for j, i in np.ndindex(2, 2):
            colour = (0.76, 0.25, 0.05) if made.helpers[n, j, i] else (0.62, 0.71, 0.75)
            image[made.y[n] + j, made.x[n] + i] = colour
    axes[0].imshow(image, extent=(0, wide, high, 0))
    for n in range(len(made.x)):
        left, top = made.x[n], made.y[n]
        axes[0].plot(
            [left, left + 2, left + 2, left, left],
            [top, top, top + 2, top + 2, top],
            color="white",
            lw=0.6,
        )
    helpers = int(made.helpers.sum())
    plain(axes[0], f"{len(made.x)} quads; {helpers} helpers, red")
    axes[1].imshow(_weights(points[0], mask), extent=(0, wide, high, 0))
    plain(axes[1], "weights of the corners, in perspective")


def _weights(points, mask):
    """Weights of three corners at pixels, by the interpolator."""
    rhw = np.float32([[1, 0.35, 0.7]])
    y, x = np.nonzero(mask)
    corners = interpolator.corners(records([points]).repeat(len(x)), rhw.repeat(len(x), 0))
    at = 256 * x + 128, 256 * y + 128
    share = interpolator.weights(corners, *at, perspective=True)
    image = np.ones((*mask.shape, 3))
    image[y, x] = np.clip(share.reshape(-1, 3) / (1 << interpolator.FRACTION), 0, 1)
    return image


def texture(axes: Axes) -> None:
    """A floor in perspective: filtered texels, and the level of each pixel."""
    j, i = np.mgrid[:64, :64]
    squares = np.where(
        ((j // 8 + i // 8) & 1)[..., None], (240, 236, 220, 255), (92, 107, 115, 255)
    )
    made = of_picture(squares.astype(np.uint8))
    wide, high = FLOOR
    y, x = np.mgrid[:high, :wide]
    far = 24 / (y + 6.0)
    places = np.stack([(x - wide / 2) * far / 60, far * 2], -1).astype(np.float32)
    blocks = places.reshape(high // 2, 2, wide // 2, 2, 2).swapaxes(1, 2).reshape(-1, 2, 2, 2)
    state = Sampler(anisotropy=4)
    back = (high // 2, wide // 2, 2, 2)

    def image(values):
        out = values.reshape(*back, -1).swapaxes(1, 2)
        return out.reshape(high, wide, -1)

    axes[0].imshow(np.clip(image(sampler.sample(made, state, blocks))[..., :3], 0, 1))
    plain(axes[0], "a floor of 64 by 64 texels")
    levels = image(sampler.level_of_detail(made, state, blocks))[..., 0]
    axes[1].imshow(levels, cmap="viridis")
    plain(axes[1], f"level of detail, {levels.min():.1f} to {levels.max():.1f}")


def output(axes: Axes) -> None:
    """Two blended triangles: samples of the target, and what resolve makes of them."""
    device = d3d11.Device(1 << 24)
    context = device.context
    form = d3d11.Format.R8G8B8A8_UNORM
    drawn = device.create_texture2d(form, *TARGET, sample_count=4, bind=d3d11.Bind.RENDER_TARGET)
    resolved = device.create_texture2d(form, *TARGET)
    target = device.create_render_target_view(drawn)
    context.clear_render_target_view(target, (1, 1, 1, 1))
    context.om.set_render_targets([target])
    source, inverse = d3d11.BlendFactor.SRC_ALPHA, d3d11.BlendFactor.INV_SRC_ALPHA
    mix = d3d11.RenderTargetBlend(True, source, inverse)
    context.om.set_blend_state(d3d11.BlendState((mix,)))
    context.rs.set_viewports([d3d11.Viewport(width=TARGET[0], height=TARGET[1])])
    context.rs.set_state(d3d11.RasterizerState(cull=d3d11.Cull.NONE, multisample_enable=True))
    context.ia.set_primitive_topology(d3d11.Topology.TRIANGLE_LIST)
    points = np.ones((6, 4), np.float32)
    points[:, :2] = (-0.9, 0.8), (0.7, 0.5), (-0.3, -0.9), (0.9, 0.9), (0.6, -0.8), (-0.5, 0.1)
    points[:, 2] = 0.5
    paints = np.float32([(0.1, 0.4, 0.8, 0.7), (0.8, 0.3, 0.05, 0.7)]).repeat(3, 0)

    def vertex(waves, _bound):
        corner = waves.vertex % 6
        return d3d11.VertexResults(points[corner], paints[corner][..., None, :])

    def pixel(shaded, _bound):
        return d3d11.PixelResults(shaded.floats(0))

    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.ps.set_shader(device.create_pixel_shader(d3d11.PixelShader(pixel)))
    context.draw(6)
    samples = context.read(drawn)[..., :3]
    wide, high = TARGET
    lanes = samples.reshape(high, wide, 2, 2, 3).swapaxes(1, 2).reshape(2 * high, 2 * wide, 3)
    axes[0].imshow(lanes)
    plain(axes[0], "samples, four a pixel, blended")
    context.resolve_subresource(resolved, (0, 0), drawn, (0, 0))
    axes[1].imshow(context.read(resolved)[:, :, 0, :3])
    plain(axes[1], "pixels: their means")


def display(axes: Axes) -> None:
    """A ramp of 8 bits as 5, 6 and 5: cut, and dithered as scan-out has it."""
    ramp = np.linspace(20, 90, 96)[None, :, None] * (1.0, 0.9, 0.6)
    colours = np.broadcast_to(ramp, (40, 96, 3)).astype(np.uint8)
    cut = colours & np.uint8(0xF8)
    words = dithered(colours)
    channels = np.stack([words >> 11 << 3, words >> 5 << 2, words << 3], -1) & 0xFF
    for axis, image, title in zip(
        axes, (cut, channels), ("five bits, cut", "565, dithered by scan-out"), strict=True
    ):
        axis.imshow(np.minimum(image * 2, 255).astype(np.uint8), aspect="auto")
        plain(axis, title)
