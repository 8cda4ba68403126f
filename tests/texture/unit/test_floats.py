# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's formats of floats: halves, and those that are as exact as halves."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.models.texture.sampler import ADDRESSES, Sampler, gather, sample
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import create
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.cache import FLOATS, POINT_SAMPLED, StoredFormat
from fixfunc.spec.textures.filter import FilterOp, Unit
from fixfunc.tb.texture.cube_faces import directions
from fixfunc.tb.texture.filter import SPECIAL
from tests.texture.test_texture_unit import quads_of, sampled
from tests.texture.unit.many_quads import check_formats
from tests.textures import noise

CONFIG = "tiny_full"
QUADS = 120
OPS = {"standard": FilterOp.MEAN, "minimum": FilterOp.MINIMUM, "maximum": FilterOp.MAXIMUM}
POINT = Sampler("point", "point", "point")


def texture_of(form, width=37, height=20, faces=1):
    """Random bytes; of halves many are about 1.0, and some are at the ends of their range."""
    name, _ = DXGI[Format[form.name]]
    texture = noise(width, height, levels=3, format=name, faces=faces)
    if "R16" not in form.name:
        return texture
    rng = np.random.default_rng(form)
    levels = []
    for level in texture.levels:
        halves = level.view(np.uint16).copy()
        near = rng.integers(0x3B00, 0x3D00, halves.shape) | rng.integers(0, 2, halves.shape) << 15
        halves = np.where(rng.random(halves.shape) < 0.8, near, halves).astype(np.uint16)
        chosen = rng.random(halves.shape) < 0.05
        halves[chosen] = rng.choice(SPECIAL, chosen.sum())
        levels.append(halves.view(np.uint8))
    return create(name, width, height, levels, faces=faces)


def assert_same(found, wanted):
    assert np.array_equal(found.view(np.uint32), wanted.astype(np.float32).view(np.uint32))


@pytest.mark.plan("texture-unit-15")
@pytest.mark.parametrize(
    ("form", "reduction"),
    [
        *((form, "standard") for form in FLOATS),
        (StoredFormat.R16G16B16A16_FLOAT, "minimum"),
        (StoredFormat.R16G16B16A16_FLOAT, "maximum"),
        (StoredFormat.BC6H_SF16, "maximum"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_floats_are_those_of_the_sampler(form, reduction, monkeypatch):
    """Between texels, levels and samples; with NaN, infinities, zeros of both signs, a border."""
    texture = texture_of(form)
    present = texture.texel_format.present
    border = tuple([-2.5, 65504.0, 0.0, 0.25][n] if n in present else n == 3 for n in range(4))
    sampler = Sampler(
        address=("border", ADDRESSES[form % 5]),
        border=border,
        anisotropy=[1, 7, 16][form % 3],
        reduction=reduction,
        bias=-0.5,
    )
    places = quads_of(np.random.default_rng(form), 0.3)[:QUADS]
    fields = {"config": CONFIG, "op": OPS[reduction]}
    found = sampled(monkeypatch, texture, form, sampler, places, **fields)
    assert_same(found, sample(texture, sampler, places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-15")
@pytest.mark.parametrize("component", [0, 3])
@pytest.mark.parametrize(
    "form",
    [StoredFormat.R16G16B16A16_FLOAT, StoredFormat.R9G9B9E5_SHAREDEXP],
    ids=lambda form: form.name,
)
def test_gathers_of_floats(form, component, monkeypatch):
    texture = texture_of(form)
    places = quads_of(np.random.default_rng(component), 0.3)[:QUADS]
    fields = {"op": FilterOp.GATHER, "component": component, "config": CONFIG}
    found = sampled(monkeypatch, texture, form, POINT, places, **fields)
    assert_same(found, gather(texture, POINT, places, component).reshape(QUADS, 4, 4))


CUBES = [
    (StoredFormat.R16G16B16A16_FLOAT, "standard", 1),
    (StoredFormat.R16G16B16A16_FLOAT, "minimum", 1),
    (StoredFormat.R16G16_FLOAT, "standard", 5),
    (StoredFormat.R9G9B9E5_SHAREDEXP, "maximum", 1),
    (StoredFormat.BC6H_SF16, "standard", 1),
]


@pytest.mark.plan("texture-unit-15")
@pytest.mark.parametrize(("form", "reduction", "most"), CUBES)
def test_cubes_of_floats(form, reduction, most, monkeypatch):
    """Beyond a corner lies the mean of the others, of two by a half, and of three by a third."""
    texture = texture_of(form, 16, 16, faces=6)
    sampler = Sampler(anisotropy=most, reduction=reduction, bias=-0.5)
    places = directions(np.random.default_rng(form), QUADS, 16).reshape(QUADS, 2, 2, 3)
    fields = {"config": CONFIG, "op": OPS[reduction]}
    found = sampled(monkeypatch, texture, form, sampler, places, **fields)
    assert_same(found, sample(texture, sampler, places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-15")
def test_gathers_of_cubes_of_floats(monkeypatch):
    form = StoredFormat.R16G16B16A16_FLOAT
    texture = texture_of(form, 16, 16, faces=6)
    places = directions(np.random.default_rng(3), QUADS, 16).reshape(QUADS, 2, 2, 3)
    fields = {"op": FilterOp.GATHER, "component": 1, "config": CONFIG}
    found = sampled(monkeypatch, texture, form, POINT, places, **fields)
    assert_same(found, gather(texture, POINT, places, 1).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-15")
def test_units_without_floats_have_nothing_of_them():
    """They refuse these formats, and their filters have one way."""
    with_halves = {name for name, params in CONFIGS.items() if params.filter.halves}
    assert with_halves == {"full", "tiny_full"}
    assert with_halves == {name for name, params in CONFIGS.items() if params.filter.corners}
    assert Unit.HALF not in CONFIGS["default"].filter.units
    assert not CONFIGS["default"].stored.wide
    params = CONFIGS["tiny_full"]
    few = tuple(form for form in params.cache.formats if form not in (*FLOATS, *POINT_SAMPLED))
    assert not replace(params, cache=replace(params.cache, formats=few)).filter.halves


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-15")
def test_a_hundred_thousand_quads_of_floats(monkeypatch):
    check_formats(monkeypatch, CONFIG, FLOATS)
