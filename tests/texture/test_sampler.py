# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.texture import _cube
from fixfunc.models.texture._footprint import LOG2, RATIOS, footprint, log2, quad_gradients
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, Taps, sample
from fixfunc.models.texture.texture import bytes_of, create, of_picture, size
from fixfunc.spec.errors import InputError


def noise(width, height, seed=0, faces=1, layers=1, levels=None, format="RGBA8", srgb=False):
    rng, count = np.random.default_rng(seed), levels or max(width, height).bit_length()
    data = [rng.integers(0, 256, (faces * layers, bytes_of(format, *size(width, height, n))), np.uint8) for n in range(count)]
    return create(format, width, height, data, faces=faces, srgb=srgb)


# Exact rationals: a scalar twin.

def nearest_even(value):
    low = floor(value)
    rest = value - low
    return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2))


def addressed(v, n, mode):
    """A texel's number, or None at the border."""
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
    """A bilinear, or nearest, sample: exact, of 255."""
    image, sizes = texture.image(level), texture.size(level)
    steps = [nearest_even(Fraction(float(u)) * n * 256) - 128 * smooth for u, n in zip(uv, sizes, strict=True)]
    total = [Fraction(0)] * 4
    for dx in (0, 1):
        for dy in (0, 1):
            weight = Fraction(1)
            for step, d in zip(steps, (dx, dy), strict=True):
                share = Fraction(step % 256, 256) if smooth else 0
                weight *= share if d else 1 - share
            x, y = (addressed(floor(Fraction(step, 256)) + d, n, mode)
                    for step, d, n, mode in zip(steps, (dx, dy), sizes, sampler.address, strict=True))
            texel = [round(255 * c) for c in sampler.border] if x is None or y is None else image[y, x].tolist()
            total = [t + weight * c for t, c in zip(total, texel, strict=True)]
    return total


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("smooth", [False, True])
def test_every_address_mode_against_rationals(address, smooth):
    texture, rng = noise(8, 4), np.random.default_rng(1)
    sampler = Sampler(*["linear" if smooth else "point"] * 2, address=(address, address), border=(1.0, 0.5, 0.25, 0.0))
    uv = (rng.integers(-3000, 3000, (120, 2)) / rng.choice([512, 1000, 1024], (120, 1))).astype(np.float32)
    lods = rng.integers(-64, 3 * 256, 120) / 256
    found = sample(texture, sampler, uv, lod=lods)
    for n in range(120):
        step = max(Fraction(float(lods[n])), 0)
        level, share = floor(step), step - floor(step)
        fine, coarse = (one_level(texture, sampler, min(level + k, 3), uv[n], smooth) for k in (0, 1))
        wanted = [np.float32(float((f * (1 - share) + c * share) / 255)) for f, c in zip(fine, coarse, strict=True)]
        assert found[n].tolist() == wanted, n


def test_logarithms():
    """Within half a step of the table and a step of the mantissa's lower bits."""
    values = np.random.default_rng(0).uniform(1e-30, 1e30, 2000).astype(np.float32)
    assert np.abs(log2(values) / 256 - np.log2(values)).max() < (0.5 + 256 / np.log(2) / 256) / 256
    assert log2(np.float32(1)) == 0 and log2(np.float32(0)) == -64 * 256
    assert LOG2[[0, 128]].tolist() == [0, 150] and RATIOS[[0, 1, 15]].tolist() == [0, 256, 1024]


@pytest.mark.parametrize("log", range(-3, 5))
def test_levels_of_powers_of_two(log):
    lod, count, _ = footprint(np.full((1, 2), (2.0**log / 64, 0), np.float32), np.full((1, 2), (0, 2.0**log / 32), np.float32), 64, 32, 1)
    assert (lod[0], count[0]) == (256 * log, 1)


# Derivatives.

def test_fine_and_coarse_quads():
    quad = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)**2
    across, down = quad_gradients(quad)
    assert (across[0, 1, :, 0] == quad[0, 1, 1, 0] - quad[0, 1, 0, 0]).all()
    assert (down[0, :, 1, 1] == quad[0, 1, 1, 1] - quad[0, 0, 1, 1]).all()
    across, down = quad_gradients(quad, coarse=True)
    assert (across == quad[:, :1, 1:] - quad[:, :1, :1]).all() and (down == quad[:, 1:, :1] - quad[:, :1, :1]).all()


def test_quads_are_their_gradients():
    texture, rng = noise(32, 32), np.random.default_rng(0)
    quads = (rng.random((50, 1, 1, 2)) + rng.normal(0, 0.05, (50, 2, 2, 2))).astype(np.float32)
    sampler = Sampler(anisotropy=4)
    whole = sample(texture, sampler, quads, bias=0.25)
    assert (whole == sample(texture, sampler, quads, gradients=quad_gradients(quads), bias=0.25)).all()
    assert (whole == sample(texture, Sampler(anisotropy=4, bias=0.25), quads)).all()
    assert (sample(texture, sampler, quads, coarse=True) != whole).any()


# Filters.

def test_one_texel_at_its_centre():
    texture = noise(8, 4)
    x, y = np.meshgrid(np.arange(8), np.arange(4))
    uv = np.stack([(x + 0.5) / 8, (y + 0.5) / 4], -1).astype(np.float32)
    assert (sample(texture, Sampler(), uv, lod=0) == (texture.image() / 255).astype(np.float32)).all()


def test_anisotropy_of_one_is_trilinear_and_more_is_sharper():
    """Stripes across a long footprint: sixteen samples still tell them apart, one does not."""
    stripes = np.zeros((64, 64, 4), np.uint8)
    stripes[:, ::4], stripes[:, 1::4] = 255, 255
    texture, uv = of_picture(stripes), np.random.default_rng(0).random((200, 2)).astype(np.float32)
    gradients = np.tile(np.float32([[1 / 64, 0]]), (200, 1)), np.tile(np.float32([[0, 16 / 64]]), (200, 1))
    plain, one, sixteen = (sample(texture, Sampler(**more), uv, gradients=gradients) for more in ({}, {"anisotropy": 1}, {"anisotropy": 16}))
    assert (plain == one).all()
    assert np.ptp(plain[:, 0]) < 0.01 < 0.9 < np.ptp(sixteen[:, 0])
    assert (sixteen == sample(texture, Sampler(), uv, lod=0)).mean() > 0.99  # every row is alike


def test_anisotropy_against_its_samples():
    """The mean of as many as the ratio asks for, at equal distances along the footprint."""
    texture, rng = noise(64, 64), np.random.default_rng(2)
    uv = rng.random((100, 2)).astype(np.float32)
    across, down = (rng.normal(0, sigma, (100, 2)).astype(np.float32) for sigma in (0.1, 0.01))
    lod, count, along = footprint(across, down, 64, 64, 8)
    assert len(set(count.tolist())) > 4 and count.max() == 8
    for n in range(100):
        k = int(count[n])
        offsets = np.arange(1 - k, k, 2) / (2 * k)
        places = np.float64(uv[n]) + offsets[:, None] * along[n]
        # Coordinates of more than 24 bits: take them to where single precision has the same texel coordinate.
        places = (np.rint(places * 64 * 256) / (64 * 256)).astype(np.float32)
        wanted = sample(texture, Sampler(mip="linear"), places, lod=np.clip(lod[n], 0, None) / 256).astype(np.float64).mean(0)
        found = sample(texture, Sampler(anisotropy=8), uv[n:n + 1], gradients=(across[n:n + 1], down[n:n + 1]))[0]
        assert np.abs(found - wanted).max() < 1 / 64


@given(st.floats(width=32), st.floats(width=32), st.floats(width=32))
def test_strange_numbers_are_held(u, v, lod):
    for sampler in (Sampler(), Sampler(address=("mirror", "border"))):
        found = sample(noise(8, 8), sampler, np.float32([[u, v]]), lod=lod)
        assert ((found >= 0) & (found <= 1)).all()
    cube = noise(4, 4, faces=6)
    found = sample(cube, Sampler(), np.float32([[u, v, lod]]), gradients=(np.float32([[lod, u, v]]), np.float32([[v, v, u]])))
    assert ((found >= 0) & (found <= 1)).all()


def test_layers_are_held_and_levels_clamped():
    texture, uv = noise(8, 8, layers=3), np.random.default_rng(0).random((20, 2)).astype(np.float32)
    assert (sample(texture, Sampler(), uv, lod=0, layer=9) == sample(texture, Sampler(), uv, lod=0, layer=2)).all()
    assert (sample(texture, Sampler(), uv, lod=0, layer=1) != sample(texture, Sampler(), uv, lod=0, layer=2)).any()
    assert (sample(texture, Sampler(least=1.5), uv, lod=0) == sample(texture, Sampler(), uv, lod=1.5)).all()
    assert (sample(texture, Sampler(most=1.0), uv, lod=3) == sample(texture, Sampler(), uv, lod=1)).all()
    assert (sample(texture, Sampler(mip="point"), uv, lod=0.5) == sample(texture, Sampler(), uv, lod=1)).all()


@pytest.mark.parametrize("format", ["BC1", "BC4S", "BC5U", "BC6HS", "BC7", "R8", "RGBA16F"])
def test_formats(format):
    texture = noise(8, 8, format=format, levels=1, seed=5)
    if format == "RGBA16F":
        texture.levels[0][:, 1::2] &= 0xBF  # all of them finite
    image = texture.image().astype(np.float64)
    unit = {"u1": 255, "u2": 65535, "i2": 32767}.get(texture.image().dtype.str[1:], 1)
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    uv = np.stack([(x + 0.5) / 8, (y + 0.5) / 8], -1).astype(np.float32)
    assert np.array_equal(sample(texture, Sampler(), uv, lod=0), (image / unit).astype(np.float32))


def test_colours_are_filtered_as_light():
    board = np.indices((2, 2)).sum(0)[..., None].repeat(4, 2) % 2 * 255
    texture = of_picture(board.astype(np.uint8), srgb=True, mips=False)
    assert sample(texture, Sampler(), np.float32([[0.5, 0.5]]), lod=0).tolist() == [[0.5, 0.5, 0.5, 0.5]]


# Cubes.

def test_faces_meet():
    """A step across an edge changes nothing but the face: neighbours beyond it are each other's, texel for texel."""
    n = 5
    for face in range(6):
        for k in range(n):
            for x, y in ((-1, k), (n, k), (k, -1), (k, n)):
                to, tx, ty = (v[0] for v in _cube.across_edges(np.array([face]), np.array([x]), np.array([y]), n))
                assert to != face and (tx in (0, n - 1) or ty in (0, n - 1))
                inner = np.clip(x, 0, n - 1), np.clip(y, 0, n - 1)
                around = [_cube.across_edges(np.array([to]), np.array([tx + dx]), np.array([ty + dy]), n)
                          for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                assert (face, *inner) in [tuple(int(v[0]) for v in one) for one in around]


def test_no_seam():
    """Two directions on either side of an edge, a millionth apart, give the same colour; and of a corner."""
    cube, rng = noise(8, 8, faces=6), np.random.default_rng(0)
    for axis in range(3):
        point = rng.uniform(-1, 1, (200, 3))
        point[:, axis] = point[:, axis - 1] = 1
        point[:20, axis - 2] = 1
        apart = point.copy()
        point[:, axis] += 1e-6
        apart[:, axis - 1] += 1e-6
        found = [sample(cube, Sampler(), direction.astype(np.float32), lod=0) for direction in (point, apart)]
        assert np.abs(found[0] - found[1]).max() < 0.02


# Outside oracle: llvmpipe filters RGBA8 with 8 bits.

@pytest.mark.parametrize("address", ADDRESSES)
def test_filters_against_llvmpipe(llvmpipe_sampler, address):
    texture, rng = noise(16, 8), np.random.default_rng(0)
    uv, lods = rng.uniform(-2, 3, (3000, 2)).astype(np.float32), rng.integers(-256, 4 * 256, 3000) / 256
    oracle = llvmpipe_sampler()
    for smooth, mip in (("linear", "linear"), ("linear", "point"), ("point", "point")):
        sampler = Sampler(smooth, smooth, mip, (address, address), border=(1.0, 0.5, 0.25, 0.0))
        error = np.abs(sample(texture, sampler, uv, lod=lods) - oracle.sample(texture, sampler, uv, lods)).max(1)
        # A coordinate or a level beside the middle between two may be rounded to the other.
        assert (error < 3 / 255).mean() > (0.999 if smooth == "linear" and mip == "linear" else 0.98), (smooth, mip, error.max())


def test_cubes_against_llvmpipe(llvmpipe_sampler):
    """But for corners, where it takes another texel of the three."""
    cube, directions = noise(16, 16, faces=6), np.random.default_rng(0).normal(0, 1, (4000, 3)).astype(np.float32)
    ours, theirs = sample(cube, Sampler(), directions, lod=0), llvmpipe_sampler().sample(cube, Sampler(), directions, np.zeros(4000))
    size_of = np.sort(np.abs(directions), 1)
    corner = (size_of[:, :2] / size_of[:, 2:] > 1 - 1.1 / 16).all(1)
    assert corner.sum() < 60
    assert (np.abs(ours - theirs).max(1)[~corner] < 6 / 255).mean() > 0.999


def test_levels_against_llvmpipe(llvmpipe_sampler):
    """Its logarithm is another approximation: colours may differ where levels do, by an eighth at most."""
    flat = create("RGBA8", 64, 64, [np.full((1, bytes_of("RGBA8", *size(64, 64, n))), 30 * n, np.uint8) for n in range(7)])
    rng = np.random.default_rng(0)
    gradients = [(rng.normal(0, 1, (3000, 2)) * 2.0**rng.uniform(-7, -1, (3000, 1))).astype(np.float32) for _ in range(2)]
    uv = rng.random((3000, 2)).astype(np.float32)
    ours, theirs = sample(flat, Sampler(), uv, gradients=gradients), llvmpipe_sampler().sample(flat, Sampler(), uv, gradients=gradients)
    assert np.abs(ours - theirs).max() < 30 / 8 / 255


# What is read; wrong arguments.

def test_taps():
    """Of one at a centre the texel alone; in a middle four; of two levels both; of the border none."""
    texture = noise(8, 8)
    taps = Taps()
    sample(texture, Sampler(address=("border", "clamp")), np.float32([[0.5 / 8, 0.5 / 8], [0.5, 0.5], [-1, 0.5]]), lod=[0, 1.5, 0], taps=taps)
    found = taps.arrays()
    assert found["sample"].tolist() == [0] + [1] * 8
    assert sorted(zip(*(found[name].tolist() for name in ("level", "x", "y")), strict=True)) == [
        (0, 0, 0), *((1, x, y) for x in (1, 2) for y in (1, 2)), *((2, x, y) for x in (0, 1) for y in (0, 1))]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"mip": "cubic"}, "mip must be one of point, linear, not cubic"), ({"address": ("wrap", "off")}, "address must be one of wrap"),
    ({"anisotropy": 17}, "anisotropy must be 1 to 16, not 17"), ({"bias": 16.0}, "bias must be at least -16 and below 16, not 16.0"),
])
def test_wrong_samplers(arguments, message):
    with pytest.raises(InputError, match=message):
        Sampler(**arguments)


def test_wrong_coordinates():
    with pytest.raises(InputError, match=r"coordinates must be of shape \(..., 2\), not \(4, 3\)"):
        sample(noise(4, 4), Sampler(), np.zeros((4, 3)), lod=0)
    with pytest.raises(InputError, match=r"coordinates without lod or gradients must be quads of shape \(n, 2, 2, k\), not \(4, 2\)"):
        sample(noise(4, 4), Sampler(), np.zeros((4, 2)))
