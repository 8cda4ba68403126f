# SPDX-License-Identifier: BSD-2-Clause
"""A number of samples that the rasterizer is forced to [fs 3.5.6]."""

import numpy as np
import pytest

from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, DepthStencilState, RasterizerState
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.host.drawing import RED, RGBA8, WHOLE, Scene

WIDTH, HEIGHT = 32, 16
# Standard patterns, 1/16 pixel from the centre: those of Vulkan, too, from the corner.
PATTERNS = {
    1: [(0, 0)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
    16: [
        *((1, 1), (-1, -3), (-3, 2), (4, -1), (-5, -2), (2, 5), (5, 3), (3, -5)),
        *((-2, 6), (0, -7), (-4, -6), (-6, 4), (-8, 0), (7, -4), (6, 7), (-7, -8)),
    ],
}
OFF = DepthStencilState(depth_enable=False)


class Forced(Scene):
    """A scene without depths, whose rasterizer has a number of samples of its own."""

    def __init__(self, count, samples=1, **rasterizer):
        super().__init__(WIDTH, HEIGHT, samples)
        self.context.om.set_render_targets([self.target])
        self.context.om.set_depth_stencil_state(OFF)
        self.force(count, **rasterizer)

    def force(self, count, **rasterizer):
        """Set the number."""
        state = RasterizerState(cull=Cull.NONE, forced_sample_count=count, **rasterizer)
        self.context.rs.set_state(state)

    def count(self, points):
        """Draw triangles at points of 1/256 pixel, and count what passes."""
        query = self.device.create_query(QueryKind.OCCLUSION)
        self.context.begin(query)
        self.draw(on_screen(points))
        self.context.end(query)
        return self.context.get_data(query)


def on_screen(points):
    """Points of clip space, exactly: of 1/256 pixel."""
    x, y = np.asarray(points, np.float64).reshape(-1, 2).T / 256
    return np.stack([x / (WIDTH / 2) - 1, 1 - y / (HEIGHT / 2)], -1).astype(np.float32)


def covers(triangle, x, y):
    """Whether a point is in a triangle, by the rule of top and left edges [fs 3.4.2]."""
    (ax, ay), (bx, by), (cx, cy) = triangle
    if (bx - ax) * (cy - ay) - (cx - ax) * (by - ay) < 0:
        triangle = triangle[::-1]
    for n in range(3):
        (x0, y0), (x1, y1) = triangle[n], triangle[(n + 1) % 3]
        value = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
        is_top_or_left = y1 < y0 or (y1 == y0 and x1 > x0)
        if value < 0 or (value == 0 and not is_top_or_left):
            return False
    return True


def expected(triangle, count):
    """Bits of samples that a triangle covers: shape (height, width)."""
    out = np.zeros((HEIGHT, WIDTH), np.uint32)
    for y, x in np.ndindex(out.shape):
        for bit, (dx, dy) in enumerate(PATTERNS[count]):
            at = 256 * x + 128 + 16 * dx, 256 * y + 128 + 16 * dy
            out[y, x] |= covers(triangle, *at) << bit
    return out


def triangles(seed, many):
    """Triangles of 1/256 pixel: some of integers, some small, some slivers, some beyond."""
    rng = np.random.default_rng(seed)
    for n in range(many):
        size = np.array((WIDTH, HEIGHT)) * 256
        points = rng.integers(-512, size + 512, (3, 2))
        if n % 4 == 1:
            points = points[0] + rng.integers(-300, 301, (3, 2))
        if n % 4 == 2:
            points = points // 16 * 16
        if n % 4 == 3:
            points[2] = points[1] + rng.integers(-40, 41, 2)
        area = np.linalg.det(np.diff(points, axis=0))
        if abs(area) > 0.5:
            yield [tuple(map(int, point)) for point in points]


def bits_of(scene):
    """A shader that draws what it covers into a target of words; returns that."""
    texture = scene.device.create_texture2d(Format.R32_UINT, WIDTH, HEIGHT, bind=Bind.RENDER_TARGET)
    scene.context.om.set_render_targets([scene.device.create_render_target_view(texture)])
    scene.shade(lambda quads, _bound: PixelResults(np.repeat(quads.coverage[..., None], 4, -1)))
    return texture


@pytest.mark.plan("forced-samples-1")
@pytest.mark.parametrize("count", [1, 4, 8, 16])
def test_a_shader_sees_the_samples_of_the_pattern(count):
    """Of every pixel of which one is covered, and of no other."""
    scene = Forced(count)
    texture = bits_of(scene)
    seen = set()
    for triangle in triangles(count, 24):
        scene.context.clear_render_target_view(scene.context.om.colours[0], (0, 0, 0, 0))
        right = expected(triangle, count)
        passed = scene.count(triangle)
        got = scene.context.read(texture)[:, :, 0].copy().view("<u4")[..., 0]
        assert (got == right).all(), triangle
        assert passed == sum(bin(value).count("1") for value in right.ravel().tolist())
        seen |= set(right.ravel().tolist())
    assert len(seen) > min(count, 8)


@pytest.mark.plan("forced-samples-2")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_pixels_by_their_centres_on_a_target_of_several_samples(samples):
    """[fs 3.5.6.3]: all samples of a pixel are written, in the order of drawing."""
    scene = Forced(1, samples)
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    wanted = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    for n, triangle in enumerate(triangles(samples, 8)):
        colour = (n + 1) / 255 * np.ones(4)
        scene.draw(on_screen(triangle), tuple(colour))
        wanted[expected(triangle, 1) == 1] = n + 1
    image = scene.image()
    assert image.shape[2] == samples
    assert (image == wanted[:, :, None]).all()


@pytest.mark.plan("forced-samples-2")
@pytest.mark.parametrize(("count", "samples"), [(1, 4), (8, 1), (16, 1)])
@pytest.mark.parametrize("mask", [0, 1, 0b0101, 0b1110])
def test_the_sample_mask_is_of_the_target(count, samples, mask):
    """Neither what is seen nor what is counted; without a sample of the target nothing is drawn."""
    scene = Forced(count, samples)
    seen = []

    def shade(quads, _bound):
        seen.append(quads.coverage[quads.live])
        return PixelResults(quads.floats(0))

    scene.shade(shade)
    scene.context.om.set_blend_state(None, sample_mask=mask)
    triangle = ((300, 500), (6000, 900), (2500, 3900))
    passed = scene.count(triangle)
    right = expected(triangle, count)
    written = [n for n in range(samples) if mask >> n & 1]
    image = scene.image().any(3)
    for n in range(samples):
        assert (image[:, :, n] == ((right != 0) & (n in written))).all()
    if not written:
        assert passed == 0 and not seen
        return
    assert passed == sum(bin(value).count("1") for value in right.ravel().tolist())
    bits = np.sort(np.concatenate(seen))
    assert bits.tolist() == np.sort(right[right != 0]).tolist()


@pytest.mark.plan("forced-samples-2")
def test_coverage_that_is_put_out_and_alpha_are_of_the_target():
    scene = Forced(1, 4)
    scene.shade(
        lambda quads, _bound: PixelResults(
            quads.floats(0), coverage=np.full(quads.x.shape, 0b0110, np.uint32)
        ),
        coverage=True,
    )
    scene.draw(WHOLE, RED)
    assert (scene.image().any((0, 1, 3)) == (False, True, True, False)).all()
    scene = Forced(1, 4)
    scene.context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))
    scene.draw(WHOLE, (1, 0, 0, 0.5))
    assert (scene.image().any((0, 1, 3)) == (True, True, False, False)).all()


@pytest.mark.plan("forced-samples-2")
@pytest.mark.parametrize("mask", [0, 0xFFFFFFFF])
@pytest.mark.parametrize("count", [0, 1, 8, 16])
def test_without_targets_a_shader_counts_samples(count, mask):
    """[fs 3.5.6.4]: the viewport is rasterized; the sample mask has no effect."""
    scene = Forced(count)
    scene.context.om.set_render_targets([])
    scene.context.om.set_blend_state(None, sample_mask=mask)
    texture = scene.device.create_texture2d(
        Format.R32_UINT, WIDTH, HEIGHT, bind=Bind.UNORDERED_ACCESS
    )
    scene.context.ps.set_unordered_access_views(
        0, [scene.device.create_unordered_access_view(texture)]
    )

    def store(quads, bound):
        values = np.repeat(quads.coverage[..., None], 4, -1)
        bound.store(0, quads.live, np.stack([quads.x, quads.y], -1), values)
        return PixelResults([])

    scene.shade(store, unordered=True)
    triangle = ((-100, 500), (6000, 900), (2500, 3900))
    scene.draw(on_screen(triangle))
    got = scene.context.read(texture)[:, :, 0].copy().view("<u4")[..., 0]
    assert (got == expected(triangle, count or 1)).all()


@pytest.mark.plan("forced-samples-1")
def test_centroids_and_samples_are_those_of_the_pattern():
    """[fs 3.5.6.2]: the first that is covered; the centre where all are, whatever the mask."""
    scene = Forced(16)
    scene.context.om.set_blend_state(None, sample_mask=1)
    found = []

    def shade(quads, _bound):
        found.append((quads, [quads.evaluator.locations.of_sample(n) for n in range(16)]))
        return PixelResults(quads.floats(0))

    scene.shade(shade, position="centroid")
    triangle = ((300, 500), (6000, 900), (2500, 3900))
    scene.draw(on_screen(triangle))
    right = expected(triangle, 16)
    some = 0
    for quads, samples in found:
        for q, j, i in np.argwhere(quads.live):
            x, y = int(quads.x[q, j, i]), int(quads.y[q, j, i])
            bits = int(right[y, x])
            first = (bits & -bits).bit_length() - 1
            offset = (0, 0) if bits == 0xFFFF else PATTERNS[16][first]
            place = quads.position[q, j, i, :2] * 16 - (16 * x + 8, 16 * y + 8)
            assert tuple(place) == offset
            some += bits != 0xFFFF
        away = (quads.coverage == 0)[..., None] & (quads.position[..., :2] % 1 != 0.5)
        assert not away.any()  # pixels without a sample: the mask is full
        for n, offsets in enumerate(samples):
            assert (offsets == PATTERNS[16][n]).all()
    assert some


@pytest.mark.plan("forced-samples-1")
@pytest.mark.parametrize("count", [1, 16])
def test_pixels_that_are_covered_conservatively_have_all_samples(count):
    scene = Forced(count, conservative_raster=True)
    texture = bits_of(scene)
    triangle = ((1000, 1000), (1100, 1000), (1000, 1100))
    scene.draw(on_screen(triangle))
    got = scene.context.read(texture)[:, :, 0].copy().view("<u4")[..., 0]
    assert set(got.ravel().tolist()) == {0, (1 << count) - 1}
    assert got[3, 3] and got[4, 4]


@pytest.mark.plan("forced-samples-2")
@pytest.mark.parametrize("samples", [1, 4, 8])
def test_positions_are_those_of_the_triangles_plane(samples):
    """The same as of one sample, whatever the target has."""
    depths = []
    for count, own in ((0, 1), (1, samples)):
        scene = Forced(count, own)
        found = np.zeros((HEIGHT, WIDTH), np.float32)

        def shade(quads, _bound, found=found):
            found[quads.y[quads.live], quads.x[quads.live]] = quads.position[quads.live][:, 2]
            return PixelResults(quads.floats(0))

        scene.shade(shade)
        corners = on_screen(((100, 300), (8000, 200), (3000, 4000)))
        scene.draw(corners, z=np.array([0.1, 0.9, 0.4]))
        depths.append(found)
    assert (depths[0] == depths[1]).all()
    assert depths[0].max() > 0.8


@pytest.mark.plan("forced-samples-3")
@pytest.mark.parametrize("count", [2, 3, 5, 15, 32, -1])
def test_counts_that_there_are_not(count):
    with pytest.raises(InputError, match="forced_sample_count must be one of 0, 1, 4, 8, 16"):
        RasterizerState(forced_sample_count=count)


@pytest.mark.plan("forced-samples-3")
def test_what_does_not_go_with_a_forced_count():
    """[fs 3.5.6.2]"""
    scene = Forced(4)
    context = scene.context
    scene.draw(WHOLE)
    text = "forced_sample_count must be 0 with depths and their tests, not 4"
    context.om.set_render_targets([scene.target], scene.depth)
    with pytest.raises(InputError, match=text):
        context.draw(3)
    context.om.set_render_targets([scene.target])
    context.om.set_depth_stencil_state(None)
    with pytest.raises(InputError, match=text):
        context.draw(3)
    context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False, stencil_enable=True))
    with pytest.raises(InputError, match=text):
        context.draw(3)
    context.om.set_depth_stencil_state(OFF)
    context.draw(3)
    texture = scene.device.create_texture2d(
        RGBA8, WIDTH, HEIGHT, sample_count=4, bind=Bind.RENDER_TARGET
    )
    context.om.set_render_targets([scene.device.create_render_target_view(texture)])
    with pytest.raises(InputError, match="be 0 or 1 with targets of several samples, not 4"):
        context.draw(3)
    scene.force(1)
    context.draw(3)
    for declared in ({"depth": "any"}, {"sample_index": True}, {"position": "sample"}):
        shader = PixelShader(lambda quads, _bound: PixelResults(quads.floats(0)), **declared)
        context.ps.set_shader(scene.device.create_pixel_shader(shader))
        with pytest.raises(
            InputError, match="be 0 with a shader that puts out depths, or is asked"
        ):
            context.draw(3)
