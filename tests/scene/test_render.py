# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim.frame.mesh import teapot
from fixfunc.models.pixel import interpolator
from fixfunc.models.raster.tile_rasterizer import coverage
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.scene.shading import BACKGROUND
from fixfunc.models.texture.texture import bytes_of, create, of_picture
from fixfunc.spec.errors import InputError, MeshError
from tests.scenes import NOTHING, nothing
from tests.textures import noise

FLAT = np.diag([1, 1, 0, 1]).astype(np.float32)  # x and y are clip space, z is 0


def quad(z=0.0):
    vertices = np.array(
        [(-0.5, -0.5, z), (0.5, -0.5, z), (0.5, 0.5, z), (-0.5, 0.5, z)], np.float32
    )
    return vertices, np.array([(0, 1, 2), (0, 2, 3)])


@pytest.mark.plan("scene-1")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_the_teapot(samples):
    frame = render(Scene(*teapot(4), 160, 90, samples))
    assert frame.colour.shape == (90, 160, 3)
    assert frame.depth.shape == (90, 160, samples)
    counters = frame.counters
    assert counters["faces"] == counters["set_up"] + sum(
        counters[name] for name in ("zero_area", "facing", "no_sample")
    )
    drawn = (frame.colour != BACKGROUND).any(-1)
    assert 0.2 < drawn.mean() < 0.8
    assert counters["samples_passed"] <= counters["samples_covered"]
    assert ((frame.depth < 0xFFFFFF).any(-1) == drawn).all()


@pytest.mark.plan("scene-2")
def test_a_square_covers_its_pixels_once():
    frame = render(Scene(*quad(), 32, 32, 4, transform=FLAT))
    drawn = (frame.colour != BACKGROUND).any(-1)
    assert drawn[8:24, 8:24].all()
    assert drawn.sum() == 256
    assert frame.counters["samples_covered"] == 1024


@pytest.mark.plan("scene-3")
def test_the_nearest_is_on_top_whatever_the_order():
    transform = np.diag([1, 1, 1, 1]).astype(np.float32)
    near = quad(0.25)[0]
    far = quad(0.75)[0] * np.float32([1.5, 1.5, 1])
    vertices = np.concatenate([near, far])
    faces = quad()[1]
    first = render(
        Scene(vertices, np.concatenate((faces, faces + 4)), 40, 40, 1, transform=transform)
    )
    second = render(
        Scene(vertices, np.concatenate((faces + 4, faces)), 40, 40, 1, transform=transform)
    )
    assert (first.depth == second.depth).all()
    assert (first.depth[20, 20] == round(0.25 * 0xFFFFFF)).all()
    assert first.counters["samples_passed"] < second.counters["samples_passed"]


@pytest.mark.plan("scene-2")
def test_the_frame_is_the_union_of_its_triangles():
    frame = render(Scene(*teapot(2), 48, 32, 4))
    corners = np.stack(
        [np.stack([frame.triangles[f"{axis}{k}"] for axis in "xy"], -1) for k in range(3)], 1
    )
    assert (coverage(corners, 48, 32, 4).any(0) == (frame.depth < 0xFFFFFF)).all()


@pytest.mark.plan("scene-4")
def test_bad_vertices_are_counted_culls():
    vertices, faces = quad()
    vertices = np.concatenate([vertices, [(np.nan, 0, 0), (np.inf, 0, 0), (0.1, 0.1, 0)]]).astype(
        np.float32
    )
    faces = np.concatenate([faces, [(0, 1, 4), (0, 1, 5), (6, 6, 6), (0, 1, 10**12), (0, 1, -1)]])
    frame = render(Scene(vertices, faces, 32, 32, 1, transform=FLAT))
    assert frame.counters["not_a_number"] >= 1
    assert frame.counters["index_out_of_range"] == 2
    assert frame.counters["zero_area"] >= 1
    assert frame.counters["set_up"] >= 2


@pytest.mark.plan("scene-2")
def test_near_clipping_leaves_no_seam():
    """A floor that runs through the camera."""
    vertices = np.array(
        [(x, -1, z) for z in range(-20, 21, 4) for x in range(-20, 21, 4)], np.float32
    )
    n = 11
    faces = np.array(
        [(r * n + c, r * n + c + 1, (r + 1) * n + c) for r in range(n - 1) for c in range(n - 1)]
        + [
            (r * n + c + 1, (r + 1) * n + c + 1, (r + 1) * n + c)
            for r in range(n - 1)
            for c in range(n - 1)
        ]
    )
    lens = np.array([(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, -1.01, -0.1), (0, 0, -1, 0)], np.float32)
    frame = render(Scene(vertices, faces, 64, 64, 4, transform=lens))
    assert frame.counters["clipped"] > 0
    corners = np.stack(
        [np.stack([frame.triangles[f"{axis}{k}"] for axis in "xy"], -1) for k in range(3)], 1
    )
    count = coverage(corners, 64, 64, 4).sum(0)
    assert count.max() == 1
    assert (count[40:, 8:-8] == 1).all()


@pytest.mark.plan("scene-4")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vertices": np.zeros((0, 3))}, "vertices must have shape"),
        ({"vertices": np.zeros((4, 2))}, "vertices must have shape"),
        ({"faces": np.zeros((0, 3), int)}, "faces must have shape"),
        ({"faces": np.zeros((2, 3))}, "faces must be integers"),
    ],
)
def test_bad_meshes(arguments, message):
    vertices, faces = quad()
    with pytest.raises(MeshError, match=message):
        Scene(**{"vertices": vertices, "faces": faces} | arguments)


@pytest.mark.plan("scene-4")
@pytest.mark.parametrize("why", NOTHING)
def test_a_frame_of_nothing_is_a_picture_of_the_background(why):
    frame = render(nothing(why))
    assert (frame.colour == BACKGROUND).all()
    assert frame.colour.shape == (24, 32, 3)
    assert frame.counters["samples_passed"] == frame.counters["tiles"] == 0
    assert frame.counters["faces"] == 1


@pytest.mark.plan("scene-4")
def test_bad_scene():
    with pytest.raises(InputError, match="width must lie in"):
        Scene(*quad(), 0, 4)
    with pytest.raises(InputError, match="transform must have shape"):
        Scene(*quad(), 4, 4, transform=np.eye(3))


def white(value=255):
    return of_picture(np.full((8, 8, 4), value, np.uint8))


@pytest.mark.plan("scene-5")
def test_a_white_texture_shows_the_light():
    """As a white mesh does; 16 bits are between, so that a byte is rounded twice."""
    wrapped = render(Scene(*teapot(4), 160, 90, 1, texture=white())).colour
    plain = render(Scene(*teapot(4), 160, 90, 1, colour=(255, 255, 255))).colour
    assert len(np.unique(plain.reshape(-1, 3), axis=0)) > 50
    assert np.abs(wrapped.astype(int) - plain).max() <= 1
    assert (wrapped == plain).mean() > 0.99
    assert (render(Scene(*teapot(4), 160, 90, 4, texture=white(0))).colour <= BACKGROUND).all()


def interpolated(part, corner):
    """Texture coordinates of the first triangle at 2 by 2 pixels: float32, shape (2, 2, 2)."""
    y, x = 256 * (corner[::-1, None] + np.indices((2, 2)).reshape(2, 4)) + 128
    triangle = np.zeros(4, int)
    places = interpolator.corners(part.triangles[triangle], part.rhw[triangle])
    values = part.vertices.attributes[part.slots[triangle], 1, :2].view(np.float32)
    share = interpolator.weights(places, x, y, original=part.weights[triangle])
    return interpolator.attributes(values, share).reshape(2, 2, 2)


@pytest.mark.plan("scene-5")
def test_texture_coordinates_at_corners():
    """Where a corner's pixel is, its coordinates are those of the mesh, whatever its distance.

    Straight in between on the mesh, not on the screen.
    """
    vertices = np.float32([(-1, -1, 1), (1, -1, 1), (0, 1, 4)])
    look = np.float32([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    scene = Scene(vertices, np.array([(0, 1, 2)]), 1024, 1024, 1, transform=look, texture=white())
    part = render(scene).part
    points = vertices @ np.float64(look[:, :3]).T + look[:, 3]
    wanted = scene.coordinates[0]
    middle = (wanted[0] + wanted[2]) / 2
    middle_point = (points[0] + points[2]) / 2
    for point, uv in zip([*points, middle_point], [*wanted, middle], strict=True):
        pixel = (np.array([point[0], -point[1]]) / point[3] + 1) * 512
        corner = np.floor(pixel - 0.5).astype(int)
        found = interpolated(part, corner)
        across, down = pixel - 0.5 - corner
        between = sum(
            found[y, x] * (down if y else 1 - down) * (across if x else 1 - across)
            for y in (0, 1)
            for x in (0, 1)
        )
        assert np.abs(between - uv).max() < 1e-4


@pytest.mark.plan("scene-5")
@pytest.mark.parametrize("format", ["R8", "RG8", "BC4U", "BC6HU"])
def test_textures_of_every_number_of_channels(format):
    level = np.full((1, bytes_of(format, 8, 8)), 60, np.uint8)
    frame = render(Scene(*quad(), 32, 32, 1, transform=FLAT, texture=create(format, 8, 8, [level])))
    assert (frame.colour != BACKGROUND).any(-1).sum() == 256


@pytest.mark.plan("scene-6")
@pytest.mark.parametrize("size", [4, 8, 64, 1024])
def test_levels_are_those_of_the_texture_on_top(size):
    """A square of 16 pixels that shows a texture: log2 of texels a pixel, none elsewhere."""
    scene = Scene(*quad(), 32, 32, 1, transform=FLAT, texture=noise(size, size))
    across = np.ptp(scene.coordinates.reshape(-1, 2), axis=0).max()
    level = max(np.log2(size * across / 16), 0)
    frame = render(scene)
    shown = np.isfinite(frame.levels)
    assert np.array_equal(shown, (frame.colour != BACKGROUND).any(-1))
    assert shown.sum() == 256
    assert (frame.levels[shown] == level).all()
    assert render(Scene(*quad(), 32, 32, 1, transform=FLAT)).levels is None
