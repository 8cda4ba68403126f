# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.output.averages import AVERAGED, halved, mean
from fixfunc.models.output.formats import SRGB, colour_format, load, store
from fixfunc.models.texture.block_decode import linear
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError

LINEAR = [f for f in AVERAGED if f not in SRGB and colour_format(f).kind != "FLOAT"]


@pytest.mark.plan("output-merger-7")
@pytest.mark.parametrize("form", LINEAR, ids=lambda form: form.name)
@pytest.mark.parametrize("count", [2, 4, 8])
def test_means_are_the_nearest_to_the_exact(form, count):
    rng = np.random.default_rng(form)
    texels = rng.integers(0, 256, (300, count, FORMATS[form].bytes), dtype=np.uint8)
    kind = colour_format(form)
    got = load(mean(texels, form), kind)
    values = load(texels.reshape(-1, texels.shape[2]), kind).reshape(300, count, 4)
    # Exact: sums of few bits.
    right = np.floor(values.sum(1) / count + 0.5)
    assert (got == right).all()


@pytest.mark.plan("output-merger-7")
def test_means_of_light_and_of_floats():
    black, white = [0, 0, 0, 0], [255] * 4
    texels = np.array([[black, white]], np.uint8)
    assert mean(texels, Format.R8G8B8A8_UNORM_SRGB).tolist() == [[188, 188, 188, 128]]
    assert mean(texels, Format.R8G8B8A8_UNORM).tolist() == [[128] * 4]
    rng = np.random.default_rng(1)
    texels = rng.integers(0, 256, (200, 4, 4), dtype=np.uint8)
    got = linear(mean(texels, Format.R8G8B8A8_UNORM_SRGB)).astype(float)
    right = linear(texels).astype(float).mean(1)
    # Half of the greatest step between two bytes.
    assert np.abs(got - right).max() <= 300
    form = Format.R16G16B16A16_FLOAT
    values = rng.uniform(-100, 100, (50, 4, 4)).astype(np.float32)
    kind = colour_format(form)
    halves = store(values.reshape(-1, 4), kind).reshape(50, 4, 8)
    total = halves.copy().view("<f2").astype(np.float32)
    right = (((total[:, 0] + total[:, 1]) + total[:, 2]) + total[:, 3]) / 4
    got = mean(halves, form).view("<f2").astype(np.float32)
    # Towards zero: no further away than the mean, by less than a step of ten bits.
    assert (np.abs(got) <= np.abs(right)).all()
    assert (np.abs(got - right) < np.ldexp(np.float32(1), np.frexp(right)[1] - 11)).all()


@pytest.mark.plan("output-merger-7")
@pytest.mark.parametrize(
    ("form", "kind", "most"),
    [
        (Format.R32_FLOAT, "<f4", np.finfo(np.float32).max),
        (Format.R16_FLOAT, "<f2", np.finfo(np.float16).max),
    ],
)
@pytest.mark.parametrize("count", [2, 4, 8])
def test_means_of_what_is_finite_are_finite(form, kind, most, count):
    for sign in (-1, 1):
        texels = np.full((1, count, 1), sign * most, kind).view(np.uint8)
        assert (mean(texels, form) == texels[:, 0]).all()
    texels = texels.copy().view(kind)
    texels[0, 0] = np.inf
    assert np.isinf(mean(texels.view(np.uint8), form).view(kind)).all()


@pytest.mark.plan("output-merger-7")
@pytest.mark.parametrize(
    "shape", [(1, 1, 2), (1, 5, 1), (1, 7, 6), (4, 6, 3), (3, 1, 1), (1, 1, 9)]
)
def test_levels_of_every_shape(shape):
    rng = np.random.default_rng(sum(shape))
    texels = rng.integers(0, 256, (*shape, 1, 1), dtype=np.uint8)
    got = halved(texels, Format.R8_UNORM)
    assert got.shape == (*(max(side // 2, 1) for side in shape), 1, 1)
    for z, y, x in np.ndindex(got.shape[:3]):
        place = [
            [2 * n, 2 * n + 1] if side > 1 else [0]
            for n, side in zip((z, y, x), shape, strict=True)
        ]
        block = texels[np.ix_(*place)]
        assert got[z, y, x] == np.floor(block.mean() + 0.5)


@pytest.mark.plan("output-merger-7")
def test_integers_have_no_means():
    with pytest.raises(InputError, match="format of a mean must be UNORM, SNORM or FLOAT"):
        mean(np.zeros((1, 2, 4), np.uint8), Format.R8G8B8A8_UINT)
    with pytest.raises(InputError, match="format of a mean must be UNORM, SNORM or FLOAT"):
        mean(np.zeros((1, 2, 4), np.uint8), Format.D32_FLOAT)
