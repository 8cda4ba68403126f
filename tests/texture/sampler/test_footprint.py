# SPDX-License-Identifier: BSD-2-Clause
"""Levels of detail and footprints: logarithms, ellipses, biases, samples along an axis."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import LOG2, RATIOS, footprint, log2
from fixfunc.models.texture.filtering.filtering import sample_place
from fixfunc.models.texture.sampler import Sampler, gather, sample
from fixfunc.models.texture.texture import create, of_picture
from tests.oracles.naive_frame import float32 as naive
from tests.textures import noise


@pytest.mark.plan("sampler-2")
def test_logarithms():
    """Logarithms are off by half a step of the table, and a step of the mantissa's low bits."""
    values = np.random.default_rng(0).uniform(1e-30, 1e30, 2000).astype(np.float32)
    assert np.abs(log2(values) / 256 - np.log2(values)).max() < (0.5 + 256 / np.log(2) / 256) / 256
    assert log2(np.float32(1)) == 0 and log2(np.float32(0)) == -256 * 256
    assert LOG2[[0, 128]].tolist() == [0, 150] and RATIOS[[0, 1, 15]].tolist() == [0, 256, 1024]


@pytest.mark.plan("sampler-2")
@pytest.mark.parametrize("log", range(-3, 5))
def test_levels_of_powers_of_two(log):
    lod, count, _ = footprint(
        np.full((1, 2), (2.0**log / 64, 0), np.float32),
        np.full((1, 2), (0, 2.0**log / 32), np.float32),
        64,
        32,
        1,
    )
    assert (lod[0], count[0]) == (256 * log, 1)


@pytest.mark.plan("sampler-4")
def test_anisotropy_of_one_is_trilinear_and_more_is_sharper():
    """Sixteen samples resolve stripes across a long footprint; one does not."""
    stripes = np.zeros((64, 64, 4), np.uint8)
    stripes[:, ::4] = 255
    stripes[:, 1::4] = 255
    texture = of_picture(stripes)
    uv = np.random.default_rng(0).random((200, 2)).astype(np.float32)
    gradients = (
        np.tile(np.float32([[1 / 64, 0]]), (200, 1)),
        np.tile(np.float32([[0, 16 / 64]]), (200, 1)),
    )
    plain = sample(texture, Sampler(), uv, gradients=gradients)
    one = sample(texture, Sampler(anisotropy=1), uv, gradients=gradients)
    sixteen = sample(texture, Sampler(anisotropy=16), uv, gradients=gradients)
    assert (plain == one).all()
    assert np.ptp(plain[:, 0]) < 0.01 < 0.9 < np.ptp(sixteen[:, 0])
    assert (sixteen == sample(texture, Sampler(), uv, lod=0)).mean() > 0.99  # all rows are equal


@pytest.mark.plan("sampler-4")
def test_anisotropy_against_its_samples():
    """An anisotropic sample is the mean of samples at equal distances along the footprint."""
    texture = noise(64, 64)
    rng = np.random.default_rng(2)
    uv = rng.random((100, 2)).astype(np.float32)
    across = rng.normal(0, 0.1, (100, 2)).astype(np.float32)
    down = rng.normal(0, 0.01, (100, 2)).astype(np.float32)
    lod, count, along = footprint(across, down, 64, 64, 8)
    assert len(set(count.tolist())) > 4 and count.max() == 8
    for n in range(100):
        k = int(count[n])
        offsets = np.arange(1 - k, k, 2) / (2 * k)
        places = np.float64(uv[n]) + offsets[:, None] * along[n]
        # Coordinates have more than 24 bits, and are moved to where single precision has the same
        # texel coordinate.
        places = (np.rint(places * 64 * 256) / (64 * 256)).astype(np.float32)
        wanted = (
            sample(texture, Sampler(mip="linear"), places, lod=np.clip(lod[n], 0, None) / 256)
            .astype(np.float64)
            .mean(0)
        )
        texels = sample(
            texture,
            Sampler(anisotropy=8),
            uv[n : n + 1],
            gradients=(across[n : n + 1], down[n : n + 1]),
        )[0]
        assert np.abs(texels - wanted).max() < 1 / 64


@pytest.mark.plan("sampler-9")
@pytest.mark.parametrize("sign", [1, -1])
def test_biases_bring_no_level_back_into_range(sign):
    """[fs 7.18.11]: what is out of range stays there, whatever is added to it."""
    texture = noise(64, 64)
    uv = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    length = np.float32(2.0 ** (40 * sign))
    gradients = np.tile([length, 0], (20, 1)), np.tile([0, length], (20, 1))
    biased = sample(
        texture,
        Sampler(bias=-16.0 if sign > 0 else 15.99),
        uv,
        gradients=gradients,
        bias=-15.9 * sign,
    )
    assert (biased == sample(texture, Sampler(), uv, lod=31 if sign > 0 else 0)).all()
    assert (biased != sample(texture, Sampler(), uv, lod=0 if sign > 0 else 31)).any()


@pytest.mark.plan("sampler-9")
def test_the_least_level_prevails():
    uv = np.random.default_rng(0).random((20, 2)).astype(np.float32)
    texture = noise(64, 64)
    both = Sampler(min_lod=3.0, max_lod=1.0)
    assert (sample(texture, both, uv, lod=0) == sample(texture, Sampler(), uv, lod=3)).all()


@pytest.mark.plan("sampler-10")
def test_footprints_are_the_axes_of_the_ellipse():
    """Against singular values in float64: axes, ratio and level."""
    rng = np.random.default_rng(5)
    count = 4000
    matrices = rng.normal(0, 1, (count, 2, 2)) * 2.0 ** rng.uniform(-3, 3, (count, 1, 1))
    matrices[:, 1] = rng.normal(0, 1, (count, 1)) * matrices[:, 0] + matrices[:, 1] * 2.0 ** (
        rng.uniform(-4, 0, (count, 1))
    )
    texels = matrices.astype(np.float32)
    across, down = (texels[:, n] / np.float32([64, 32]) for n in range(2))
    lod, samples, along = footprint(across, down, 64, 32, 16)
    _, lengths, axes = np.linalg.svd(texels.astype(np.float64))
    major, minor = lengths.T
    ratio = np.minimum(major / minor, 16)
    wanted = np.log2(major / ratio)
    assert (np.abs(lod / 256 - wanted) < 3 / 256).all()
    kept = np.maximum(ratio * np.minimum(major / ratio, 1), 1)
    assert (np.abs(samples - np.ceil(kept)) <= (np.abs(kept - np.rint(kept)) < 0.05 * kept)).all()
    assert set(samples.tolist()) == set(range(1, 17))
    axis = along.astype(np.float64) * [64, 32]
    assert np.abs(np.linalg.norm(axis, axis=1) / major - 1).max() < 1e-3
    parallel = np.abs((axis * axes[:, 0]).sum(1)) / np.linalg.norm(axis, axis=1)
    apart = ratio > 1.01  # the axes of a circle are any
    assert (parallel[apart] > 1 - 1e-4).all() and apart.mean() > 0.9


@pytest.mark.plan("sampler-10")
@pytest.mark.parametrize(
    ("across", "down", "axis", "samples"),
    [
        ((0, 0), (0, 8), (0, 8), 8),  # one is zero; half a texel wide
        ((16, 16), (15.5, 15.5), (16, 16), 16),  # parallel
        ((8, 0), (0, 2), (8, 0), 4),  # perpendicular
        ((0, 3), (12, 0), (12, 0), 4),
        ((np.inf, 0), (1, 1), (np.inf, 0), 1),
        ((np.nan, 1), (0, 4), (0, 4), 4),
        ((1e30, 1e30), (1e30, -1e29), (1e30, 1e30), 2),  # too large to be squared twice
    ],
)
def test_gradients_that_are_no_ellipse_are_taken_as_they_are(across, down, axis, samples):
    """[fs 7.18.11]: the cases in which the transformation is skipped."""
    _, count, along = footprint(np.float32([across]), np.float32([down]), 1, 1, 16)
    assert np.array_equal(along[0], np.float32(axis))
    assert count[0] == samples


@pytest.mark.plan("sampler-10")
def test_diagonal_stripes_are_told_apart():
    """Along gradients of (16, 16) and (15.5, 15.5) texels a stripe of x - y goes on for ever."""
    y, x = np.mgrid[:64, :64]
    stripes = np.repeat((((x - y) // 4 % 2) * 255).astype(np.uint8)[..., None], 4, 2)
    texture = of_picture(stripes)
    places = (np.stack([x, y], -1).reshape(-1, 2) + 0.5).astype(np.float32) / 64
    gradients = [np.full(places.shape, length / 64, np.float32) for length in (16, 15.5)]
    texels = sample(texture, Sampler(anisotropy=16), places, gradients=gradients)[:, 0]
    inner = ((x - y) % 4).ravel() == 1  # not beside an edge
    assert np.ptp(texels[inner]) > 0.8
    assert (np.abs(texels - stripes[..., 0].ravel() / 255)[inner] < 0.3).all()


@pytest.mark.plan("sampler-9")
@pytest.mark.parametrize("given", ["level", "gradients", "bias", "least level"])
def test_a_level_of_exactly_0_is_magnified(given):
    """[fs 7.18.11]: magnifying is a level, once it is held, that is not above 0."""
    texture = noise(8, 8)
    places = np.random.default_rng(0).uniform(0.2, 0.8, (20, 2)).astype(np.float32)
    step = np.zeros((2, 20, 2), np.float32)
    step[0, :, 0] = step[1, :, 1] = 1 / 8  # a texel
    how = {
        "level": lambda level: {"lod": level},
        "gradients": lambda level: {"gradients": tuple(step * np.float32(2**level))},
        "bias": lambda level: {"gradients": tuple(step / 2), "bias": level + 1},
        "least level": lambda level: {"lod": -3.0, "min_lod": level},
    }[given]
    for level, name in ((0.0, "magnify"), (0.01, "minify")):
        found = []
        for kind in ("point", "linear"):
            state = Sampler(**{"magnify": "point", "minify": "point", "mip": "point", name: kind})
            found.append(sample(texture, state, places, **how(level)))
        assert not np.array_equal(*found)
        other = "minify" if name == "magnify" else "magnify"
        same = [
            sample(
                texture,
                Sampler(**{"mip": "point", name: "point", other: kind}),
                places,
                **how(level),
            )
            for kind in ("point", "linear")
        ]
        assert np.array_equal(*same)


@pytest.mark.plan("sampler-10")
def test_samples_of_a_footprint_lie_where_one_multiply_add_puts_them():
    """Odd multiples of 1/(2n) of the axis, the nearest float32; the only one is not moved."""
    rng = np.random.default_rng(21)
    middle, along = rng.normal(size=(2, 200, 2)).astype(np.float32)
    count = rng.integers(1, 17, 200)
    for number in range(16):
        places = sample_place(middle, along, number, count)
        for n in np.flatnonzero(number < count):
            share = naive.nearest(Fraction(2 * number + 1 - int(count[n]), 2 * int(count[n])))
            wanted = [
                naive.multiply_add(share, float(a), float(m))
                for a, m in zip(along[n], middle[n], strict=True)
            ]
            assert places[n].tolist() == (wanted if count[n] > 1 else middle[n].tolist())


@pytest.mark.plan("sampler-5")
def test_directions_are_projected_one_rounding_at_a_time():
    """u = s / normal / 2 + 1/2; of gradients (ds - s / normal * dn) / normal / 2 [fs 7.18.12]."""
    rng = np.random.default_rng(22)
    direction, gradient = rng.normal(size=(2, 400, 3)).astype(np.float32)
    direction *= (2.0 ** rng.integers(-40, 40, (400, 1))).astype(np.float32)
    face, uv, (slope,) = cube.project(direction, [gradient])
    # By face: axes of s, t and the normal, with their signs.
    axes = ["-z-y+x", "+z-y-x", "+x+z+y", "+x-z-y", "+x-y+z", "-x-y-z"]
    for n in range(400):
        signed = [
            [float(row["xyz".index(name[1])]) * (1 if name[0] == "+" else -1) for name in names]
            for row in (direction[n], gradient[n])
            for names in [[axes[face[n]][k : k + 2] for k in (0, 2, 4)]]
        ]
        (s, t, normal), (ds, dt, dn) = signed
        assert normal == max(abs(direction[n]))
        for k, (along, step) in enumerate(((s, ds), (t, dt))):
            share = naive.divide(along, normal)
            assert uv[n, k] == naive.multiply_add(share, 0.5, 0.5)
            moved = naive.divide(naive.multiply_add(-share, dn, step), normal)
            assert slope[n, k] == naive.multiply(moved, 0.5)


@pytest.mark.plan("sampler-5")
def test_footprints_of_cubes_are_held_to_their_face():
    """Faces of one colour each: a row of eight samples, of which some lie beyond the right edge of
    +z. On the edge a sample is half of +x, whatever lies beyond.
    """
    colours = np.array([250, 10, 20, 30, 90, 50], np.uint8)
    texture = create("R8", 16, 16, [np.repeat(colours, 256).reshape(6, -1)], faces=6)
    direction = np.float32([[0.875, 0, 1]])
    gradients = np.float32([[1, 0, 0]]), np.float32([[0, -0.125, 0]])
    found = sample(texture, Sampler(anisotropy=8), direction, gradients=gradients)[0, 0]
    total = Fraction(0)
    for n in range(8):
        place = Fraction(15, 16) + Fraction(2 * n - 7, 16) / 2
        beyond = max(min(place * 16, 16) - Fraction(31, 2), 0)
        total += 90 + (250 - 90) * beyond
    assert found == np.float32(float(total / 8 / 255))
    # Beyond two corners: +x and -y at one of them, -x and +y at the other, and +z itself twice.
    long = np.float32([[100, -100, 0]]), np.zeros((1, 3), np.float32)
    found = sample(texture, Sampler(anisotropy=16), np.float32([[0, 0, 1]]), gradients=long)
    corners = Fraction(90 + 250 + 30 + 90, 4) + Fraction(90 + 10 + 20 + 90, 4)
    assert found[0, 0] == np.float32(float(corners / 2 / 255))


@pytest.mark.plan("sampler-13")
@pytest.mark.parametrize("form", ["RGBA8", "R16", "R16_SNORM"])
def test_a_corner_is_rounded_once(form):
    """The mean of three integers by three times the unit; against exact rationals."""
    one = {"RGBA8": 255, "R16": 65535, "R16_SNORM": 32767}[form]
    rng = np.random.default_rng(5)
    signs = rng.choice([-1.0, 1.0], (50, 3))
    for seed in range(8):
        cube = noise(1, 1, seed, faces=6, format=form)
        found = gather(cube, Sampler(), (signs * [1, 0.9, 0.8]).astype(np.float32))
        for four in found.astype(np.float64):
            whole = np.rint(four * one).astype(int).tolist()
            means = [Fraction(sum(whole) - whole[n], 3 * one) for n in range(4)]
            assert any(v == np.float32(float(mean)) for v, mean in zip(four, means, strict=True))
