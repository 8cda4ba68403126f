# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import quad_gradients
from fixfunc.models.texture.filtering.fetch import fetch
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, Taps, gather, sample, sample_compare
from fixfunc.models.texture.texture import create, of_picture
from fixfunc.spec.errors import InputError
from tests.textures import noise

COMPARES = Sampler(reduction="comparison")

# Against a scalar model in exact rationals.


def nearest_even(value):
    low = floor(value)
    fraction = value - low
    return low + (fraction > Fraction(1, 2) or (fraction == Fraction(1, 2) and low % 2))


def addressed(v, n, mode):
    """Coordinate of a texel, or None at the border."""
    if mode == "wrap":
        return v % n
    if mode == "mirror":
        return v % (2 * n) if v % (2 * n) < n else 2 * n - 1 - v % (2 * n)
    if mode == "border":
        return v if 0 <= v < n else None
    if mode == "mirror_once" and v < 0:
        v = -1 - v
    return min(max(v, 0), n - 1)


def one_level(texture, sampler, level, uv, smooth):
    """A bilinear, or nearest, sample of one level: exact, up to 255."""
    image = texture.image(level)
    sizes = texture.size(level)
    steps = [
        nearest_even(Fraction(float(u)) * n * 256) - 128 * smooth
        for u, n in zip(uv, sizes, strict=True)
    ]
    total = [Fraction(0)] * 4
    for dx in (0, 1):
        for dy in (0, 1):
            weight = Fraction(1)
            for step, d in zip(steps, (dx, dy), strict=True):
                fraction = Fraction(step % 256, 256) if smooth else 0
                weight *= fraction if d else 1 - fraction
            x, y = (
                addressed(floor(Fraction(step, 256)) + d, n, mode)
                for step, d, n, mode in zip(steps, (dx, dy), sizes, sampler.address, strict=True)
            )
            texel = (
                [255 * Fraction(c) for c in sampler.border]
                if x is None or y is None
                else image[y, x].tolist()
            )
            total = [t + weight * c for t, c in zip(total, texel, strict=True)]
    return total


@pytest.mark.plan("sampler-1")
@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("smooth", [False, True])
def test_every_address_mode_against_rationals(address, smooth):
    texture = noise(8, 4)
    rng = np.random.default_rng(1)
    sampler = Sampler(
        *["linear" if smooth else "point"] * 2,
        address=(address, address),
        border=(1.0, 0.5, 0.25, 0.0),
    )
    uv = (rng.integers(-3000, 3000, (120, 2)) / rng.choice([512, 1000, 1024], (120, 1))).astype(
        np.float32
    )
    lods = rng.integers(-64, 3 * 256, 120) / 256
    texels = sample(texture, sampler, uv, lod=lods)
    for n in range(120):
        step = max(Fraction(float(lods[n])), 0)
        level = floor(step)
        fraction = step - floor(step)
        fine = one_level(texture, sampler, min(level + 0, 3), uv[n], smooth)
        coarse = one_level(texture, sampler, min(level + 1, 3), uv[n], smooth)
        wanted = [
            np.float32(float((f * (1 - fraction) + c * fraction) / 255))
            for f, c in zip(fine, coarse, strict=True)
        ]
        assert texels[n].tolist() == wanted, n


# Derivatives.


@pytest.mark.plan("sampler-3")
def test_fine_and_coarse_quads():
    quad = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2) ** 2
    across, down = quad_gradients(quad)
    assert (across[0, 1, :, 0] == quad[0, 1, 1, 0] - quad[0, 1, 0, 0]).all()
    assert (down[0, :, 1, 1] == quad[0, 1, 1, 1] - quad[0, 0, 1, 1]).all()
    across, down = quad_gradients(quad, coarse=True)
    assert (across == quad[:, :1, 1:] - quad[:, :1, :1]).all() and (
        down == quad[:, 1:, :1] - quad[:, :1, :1]
    ).all()


@pytest.mark.plan("sampler-3")
def test_quads_are_their_gradients():
    texture = noise(32, 32)
    rng = np.random.default_rng(0)
    quads = (rng.random((50, 1, 1, 2)) + rng.normal(0, 0.05, (50, 2, 2, 2))).astype(np.float32)
    sampler = Sampler(anisotropy=4)
    texels = sample(texture, sampler, quads, bias=0.25)
    gradients = quad_gradients(quads)
    assert (texels == sample(texture, sampler, quads, gradients=gradients, bias=0.25)).all()
    assert (texels == sample(texture, Sampler(anisotropy=4, bias=0.25), quads)).all()
    assert (sample(texture, sampler, quads, coarse=True) != texels).any()


# Filters.


def test_one_texel_at_its_centre():
    texture = noise(8, 4)
    x, y = np.meshgrid(np.arange(8), np.arange(4))
    uv = np.stack([(x + 0.5) / 8, (y + 0.5) / 4], -1).astype(np.float32)
    assert (
        sample(texture, Sampler(), uv, lod=0) == (texture.image() / 255).astype(np.float32)
    ).all()


@pytest.mark.plan("sampler-7")
@given(st.floats(width=32), st.floats(width=32), st.floats(width=32))
def test_infinities_and_nan_give_colours_in_range(u, v, lod):
    for sampler in (Sampler(), Sampler(address=("mirror", "border"))):
        texels = sample(noise(8, 8), sampler, np.float32([[u, v]]), lod=lod)
        assert ((texels >= 0) & (texels <= 1)).all()
    cube = noise(4, 4, faces=6)
    texels = sample(
        cube,
        Sampler(),
        np.float32([[u, v, lod]]),
        gradients=(np.float32([[lod, u, v]]), np.float32([[v, v, u]])),
    )
    assert ((texels >= 0) & (texels <= 1)).all()


@pytest.mark.plan("sampler-8")
def test_layers_are_rounded_to_even_and_clamped():
    texture = noise(8, 8, layers=4)
    uv = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    each = [sample(texture, Sampler(), uv, lod=0, layer=n) for n in range(4)]
    assert all((each[n] != each[n + 1]).any() for n in range(3))
    layers = {0.5: 0, 1.5: 2, 2.5: 2, 2.51: 3, -7.0: 0, 99.0: 3, np.nan: 0, np.inf: 3, -np.inf: 0}
    for layer, wanted in layers.items():
        assert (sample(texture, Sampler(), uv, lod=0, layer=layer) == each[wanted]).all(), layer


@pytest.mark.plan("sampler-8")
@pytest.mark.parametrize(
    ("format", "colour"),
    [
        ("RGBA8", [0.3, 0, 1, 1]),
        ("R8", [0.3, 0, 0, 1]),
        ("BC5S", [0.3, -1, 0, 1]),
        ("RGBA16F", [0.3, -9, 7.5, 2]),
    ],
)
def test_borders_are_floats_that_the_format_can_hold(format, colour):
    texture = noise(8, 8, format=format, levels=1)
    sampler = Sampler(address=("border", "border"), border=(0.3, -9.0, 7.5, 2.0))
    texels = sample(texture, sampler, np.float32([[-4, 9]]), lod=0)
    # 24 bits of a normalised channel.
    assert np.abs(texels - np.float32([colour])).max() <= (0 if format == "RGBA16F" else 2.0**-24)
    assert ((texels == np.float32(colour)) | (np.float32(colour) % 1 != 0)).all()


@pytest.mark.plan("sampler-8")
def test_a_border_has_only_what_the_format_has():
    alpha = create("A8_UNORM", 4, 4, [np.full((1, 16), 51, np.uint8)])
    sampler = Sampler(address=("border",) * 2, border=(1.0, 1.0, 1.0, 1.0))
    assert sample(alpha, sampler, np.float32([[3, 3]]), lod=0).tolist() == [[0, 0, 0, 1]]
    assert not gather(alpha, sampler, np.float32([[3, 3]]), 1).any()


def test_layers_and_levels_are_clamped():
    texture = noise(8, 8, layers=3)
    uv = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    assert (
        sample(texture, Sampler(), uv, lod=0, layer=9)
        == sample(texture, Sampler(), uv, lod=0, layer=2)
    ).all()
    assert (
        sample(texture, Sampler(), uv, lod=0, layer=1)
        != sample(texture, Sampler(), uv, lod=0, layer=2)
    ).any()
    assert (
        sample(texture, Sampler(min_lod=1.5), uv, lod=0) == sample(texture, Sampler(), uv, lod=1.5)
    ).all()
    assert (
        sample(texture, Sampler(max_lod=1.0), uv, lod=3) == sample(texture, Sampler(), uv, lod=1)
    ).all()
    assert (
        sample(texture, Sampler(mip="point"), uv, lod=0.5) == sample(texture, Sampler(), uv, lod=1)
    ).all()


@pytest.mark.plan("sampler-6")
@pytest.mark.parametrize("format", ["BC1", "BC4S", "BC5U", "BC6HS", "BC7", "R8", "RGBA16F"])
def test_formats(format):
    texture = noise(8, 8, format=format, levels=1, seed=5)
    if format == "RGBA16F":
        texture.levels[0][:, 1::2] &= 0xBF  # so that all halves are finite
    image = texture.image().astype(np.float64)
    unit = {"u1": 255, "u2": 65535, "i2": 32767}.get(texture.image().dtype.str[1:], 1)
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    uv = np.stack([(x + 0.5) / 8, (y + 0.5) / 8], -1).astype(np.float32)
    texels = sample(texture, Sampler(), uv, lod=0)
    channels = image.shape[-1]
    assert np.array_equal(texels[..., :channels], (image / unit).astype(np.float32))
    assert (texels[..., channels:] == [0, 0, 0, 1][channels:]).all()


@pytest.mark.plan("sampler-6")
def test_colours_are_filtered_as_light():
    board = np.indices((2, 2)).sum(0)[..., None].repeat(4, 2) % 2 * 255
    texture = of_picture(board.astype(np.uint8), srgb=True, mips=False)
    assert sample(texture, Sampler(), np.float32([[0.5, 0.5]]), lod=0).tolist() == [
        [0.5, 0.5, 0.5, 0.5]
    ]


# Cubes.


def across_edge(face, x, y, size):
    """Face and coordinates of one texel."""
    place = cube.across_edges(np.array([face]), np.array([x]), np.array([y]), size)
    return tuple(int(value[0]) for value in place)


@pytest.mark.plan("sampler-5")
def test_faces_meet():
    """Texels on both sides of an edge are each other's neighbours."""
    n = 5
    for face in range(6):
        for k in range(n):
            for x, y in ((-1, k), (n, k), (k, -1), (k, n)):
                neighbour, next_x, next_y = across_edge(face, x, y, n)
                assert neighbour != face
                assert next_x in (0, n - 1) or next_y in (0, n - 1)
                inner = np.clip(x, 0, n - 1), np.clip(y, 0, n - 1)
                assert (face, *inner) in [
                    across_edge(neighbour, next_x + dx, next_y + dy, n)
                    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
                ]


@pytest.mark.plan("sampler-5")
def test_no_seam():
    """Directions a millionth apart, on both sides of an edge or corner, give nearly one colour."""
    cube = noise(8, 8, faces=6)
    rng = np.random.default_rng(0)
    for axis in range(3):
        point = rng.uniform(-1, 1, (200, 3))
        point[:, axis] = point[:, axis - 1] = 1
        point[:20, axis - 2] = 1
        neighbour = point.copy()
        point[:, axis] += 1e-6
        neighbour[:, axis - 1] += 1e-6
        first, second = (
            sample(cube, Sampler(), direction.astype(np.float32), lod=0)
            for direction in (point, neighbour)
        )
        assert np.abs(first - second).max() < 0.02


# Taps, and wrong arguments.


@pytest.mark.plan("sampler-5")
@pytest.mark.parametrize("format", ["RGBA8", "R32G32B32A32_FLOAT"])
@pytest.mark.parametrize("filter", ["point", "linear"])
@pytest.mark.parametrize("reduction", ["standard", "minimum", "maximum"])
def test_corners_of_a_cube_of_one_colour_have_that_colour(format, filter, reduction):
    """Points upon an edge, and long footprints beyond a corner."""
    value = np.full(4 * 64 * 64, 200 if format == "RGBA8" else 3.5, np.float32)
    data = value.astype(np.uint8) if format == "RGBA8" else value.view(np.uint8)
    cube_map = create(format, 64, 64, [np.tile(data, (6, 1))], faces=6)
    wanted = np.float32(200) / np.float32(255) if format == "RGBA8" else 3.5
    ends = np.array([-1, -0.99999, -0.98, 0.3, 0.98, 0.99999, 1], np.float32)
    directions = np.stack(np.meshgrid(ends, ends, ends), -1).reshape(-1, 3)
    sampler = Sampler(filter, filter, reduction=reduction)
    assert (sample(cube_map, sampler, directions, lod=0) == wanted).all()
    sampler = Sampler(filter, filter, reduction=reduction, anisotropy=16)
    for long in ((0.8, 0.79, 0), (0, 1, 0.2), (1, -1, 1)):
        gradients = (np.float32(long), np.float32([0.01, -0.01, 0.003]))
        assert (sample(cube_map, sampler, directions, gradients=gradients) == wanted).all()


@pytest.mark.plan("sampler-5")
def test_a_point_on_an_edge_is_a_texel_of_the_face_that_was_chosen():
    """Of equal components z comes before y, and y before x [fs 7.18.7]."""
    faces = np.repeat(np.arange(6, dtype=np.uint8), 16 * 4).reshape(6, -1)
    cube_map = create("RGBA8", 4, 4, [faces], faces=6)
    directions = np.float32([[1, 1, 1], [1, -1, 1], [1, -1, 0.5], [-1, 1, 0.5], [1, 0.2, -1]])
    found = sample(cube_map, Sampler("point", "point"), directions, lod=0)[:, 0]
    assert np.rint(found * 255).tolist() == [4, 4, 3, 2, 5]


def test_taps():
    """A sample reads the texels that have weight; the border is not read."""
    texture = noise(8, 8)
    taps = Taps()
    sample(
        texture,
        Sampler(address=("border", "clamp")),
        np.float32([[0.5 / 8, 0.5 / 8], [0.5, 0.5], [-1, 0.5]]),
        lod=[0, 1.5, 0],
        taps=taps,
    )
    texels = taps.arrays()
    assert texels["sample"].tolist() == [0] + [1] * 8
    assert sorted(zip(*(texels[name].tolist() for name in ("level", "x", "y")), strict=True)) == [
        (0, 0, 0),
        *((1, x, y) for x in (1, 2) for y in (1, 2)),
        *((2, x, y) for x in (0, 1) for y in (0, 1)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mip": "cubic"}, "mip must be one of point, linear, not cubic"),
        ({"address": ("wrap", "off")}, "address must be one of wrap"),
        ({"anisotropy": 17}, "anisotropy must be 1 to 16, not 17"),
        ({"bias": 16.0}, "bias must be at least -16 and below 16, not 16.0"),
        ({"address": 5}, "address must be a sequence, each a str, not 5"),
        ({"bias": "x"}, "bias must be a number, not x"),
        ({"anisotropy": 2.0}, "anisotropy must be an integer, not 2.0"),
        ({"min_lod": float("nan")}, "min_lod must be a number, not nan"),
        ({"border": (0.0, 0.0, 0.0)}, "border must be four numbers"),
        ({"border": (0.0, 0.0, 0.0, float("nan"))}, "border must be four numbers"),
    ],
)
def test_wrong_samplers(arguments, message):
    with pytest.raises(InputError, match=message):
        Sampler(**arguments)


def test_wrong_coordinates():
    with pytest.raises(InputError, match=r"coordinates must be of shape \(..., 2\), not \(4, 3\)"):
        sample(noise(4, 4), Sampler(), np.zeros((4, 3)), lod=0)
    with pytest.raises(
        InputError,
        match=r"coordinates without lod or gradients must be quads of shape \(n, 2, 2, k\), not "
        r"\(4, 2\)",
    ):
        sample(noise(4, 4), Sampler(), np.zeros((4, 2)))


@pytest.mark.plan("sampler-14")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t, uv: sample(t, Sampler(), uv, lod=[1, 2, 3]), "lod must be of shape"),
        (lambda t, uv: sample(t, Sampler(), uv, lod="x"), "lod must be numbers, not str"),
        (lambda t, uv: sample(t, Sampler(), uv, lod=0, layer=[None]), "layer must be numbers"),
        (lambda t, uv: sample(t, Sampler(), uv, lod=0, min_lod=1j), "min_lod must be numbers"),
        (
            lambda t, uv: sample(t, Sampler(), uv, gradients=(np.zeros((3, 7)), uv), bias=1),
            "gradients must be of shape",
        ),
        (
            lambda t, uv: sample(t, Sampler(), uv, gradients=(uv, uv), bias=[1, 2, 3]),
            "bias must be of shape",
        ),
        (
            lambda t, uv: sample_compare(t, COMPARES, uv, [1, 2, 3], lod=0),
            "reference must be of shape",
        ),
        (lambda t, uv: gather(t, Sampler(), uv, 1.0), "component must be 0 to 3, not 1.0"),
        (lambda t, uv: gather(t, COMPARES, uv, reference="x"), "reference must be numbers"),
        (lambda t, uv: fetch(t, uv.astype(int), layer="x"), "layer must be numbers"),
        (lambda t, uv: fetch(t, uv.astype(int), level=[0, 1, 2]), "level must be of shape"),
    ],
)
def test_arguments_of_another_shape_or_type(call, text):
    with pytest.raises(InputError, match=text):
        call(noise(4, 4), np.zeros((2, 2), np.float32))
