# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's comparisons: depths of 16 and 24 bits, and of float32."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import Sampler, gather, sample_compare
from fixfunc.models.texture.texture import create, size
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import COLOURS, DEPTHS, CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import COMPARED, SAMPLE_STATE, TEXTURE_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.texture_cache import WORDS, put_format
from tests.texture.test_texture_unit import QUADS, outputs, quads_of, ramps, sampled
from tests.texture.unit.many_quads import check_quads, with_states
from tests.textures import noise

BLOCK = "texture_unit"
ONE = {StoredFormat.R16_UNORM: 65535, StoredFormat.R24_UNORM_X8_TYPELESS: (1 << 24) - 1}
NAMES = {StoredFormat.R16_UNORM: "R16"}


def depths(form):
    """A texture of 37x20 depths, of which many lie at the ends."""
    name = NAMES.get(form, form.name)
    if form == StoredFormat.R16_UNORM:
        return noise(37, 20, levels=3, format=name)
    rng = np.random.default_rng(2)
    levels = []
    for n in range(3):
        count = int(np.prod(size(37, 20, n)))
        words = rng.random(count, np.float32).view(np.uint32)
        words = np.where(rng.random(count) < 0.6, rng.choice(WORDS, count), words)
        levels.append(words.astype("<u4").view(np.uint8)[None])
    return create(name, 37, 20, levels)


def references_of(rng, texture, form=StoredFormat.R16_UNORM):
    """References around the texels of a texture, at them, and out of range: shape (n, 4)."""
    chosen = rng.choice(texture.texels(0, 0)[0, :, :, 0, 0].ravel(), (QUADS, 4))
    if form in ONE:
        found = ((chosen + rng.choice([-0.5, 0, 0, 0.5], (QUADS, 4))) / ONE[form]).astype(
            np.float32
        )
    else:
        step = rng.choice([-1, 0, 0, 1], (QUADS, 4))
        found = (chosen.view(np.uint32) + step).astype(np.uint32).view(np.float32)
    others = np.array([-1.0, 2.0, np.nan, np.inf, -0.0, 1.0, 1e-40, -1e-40], np.float32)
    return np.where(rng.random((QUADS, 4)) < 0.2, rng.choice(others, (QUADS, 4)), found)


@pytest.mark.plan("texture-unit-6")
@pytest.mark.parametrize("form", COMPARED, ids=lambda form: form.name)
@pytest.mark.parametrize("function", Compare, ids=lambda function: function.name)
def test_comparisons_are_what_the_sampler_gives(form, function, monkeypatch):
    """Filtered, between levels; every function, by references of their own of all pixels."""
    rng = np.random.default_rng(function)
    texture = depths(form)
    sampler = Sampler(
        reduction="comparison",
        comparison=function,
        address=("mirror", "border"),
        border=(1.0, 0.0, 0.0, 0.0),
    )
    places = quads_of(rng, 0.3)
    references = references_of(rng, texture, form)
    found = sampled(monkeypatch, texture, form, sampler, places, references=references)
    wanted = sample_compare(texture, sampler, places, references.reshape(-1, 2, 2))
    wanted = np.repeat(wanted.reshape(QUADS, 4, 1), 4, 2)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))
    constant = function in (Compare.NEVER, Compare.ALWAYS)
    assert (len(np.unique(found)) > 5) != constant


@pytest.mark.plan("texture-unit-6")
@pytest.mark.parametrize("form", COMPARED, ids=lambda form: form.name)
@pytest.mark.parametrize("offset", [(0, 0), (-32, 31)])
def test_gathers_of_comparisons_are_what_the_sampler_gives(form, offset, monkeypatch):
    rng = np.random.default_rng(3)
    texture = depths(form)
    sampler = Sampler(
        reduction="comparison", comparison=Compare.LESS_EQUAL, address=("wrap", "clamp")
    )
    places = quads_of(rng, 0.3)
    references = references_of(rng, texture, form)
    fields = dict(zip(("offset_u", "offset_v"), offset, strict=True)) | {"op": FilterOp.GATHER}
    found = sampled(monkeypatch, texture, form, sampler, places, references=references, **fields)
    wanted = gather(
        texture, sampler, places, reference=references.reshape(-1, 2, 2), offset=offset
    ).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-6")
@pytest.mark.parametrize("form", [StoredFormat.R8G8B8A8_UNORM, StoredFormat.BC4_SNORM, 31])
def test_comparisons_of_other_formats_are_refused(form, monkeypatch):
    """With FORMAT and zeros, though the texels are known; and the next state is not."""
    out = outputs(monkeypatch, compared((form, StoredFormat.R16_UNORM, 0), (1, 1, 0)))
    assert out["status"].tolist() == [CacheStatus.FORMAT, CacheStatus.OKAY, CacheStatus.OKAY]
    one = np.float32(1).view(np.uint32)
    assert [out["c0_0"][n] for n in range(2)] == [0, one]
    assert 0 < out["c0_0"][2] < one


@pytest.mark.plan("texture-unit-6")
def test_depths_of_24_and_32_bits_are_refused_where_nothing_is_compared(monkeypatch):
    """They are no colours; where they are compared, they are known."""
    out = outputs(monkeypatch, compared(DEPTHS * 2, (0, 0, 1, 1)))
    assert out["status"].tolist() == [CacheStatus.FORMAT] * 2 + [CacheStatus.OKAY] * 2
    one = np.float32(1).view(np.uint32)
    assert out["c0_0"].tolist() == [0, 0, one, one]


def compared(forms, compares):
    """Packed states of these formats, which compare with ALWAYS, and a quad each."""
    state = ramps(len(forms))
    state["format"], state["compares"], state["function"] = forms, compares, Compare.ALWAYS
    quad = np.zeros(1, dtype(TEXTURE_QUAD))
    quad["kind"], quad["live"] = 1, 15
    rows = [
        codec.pack(np.atleast_1d(beat), table, bench.BITS)
        for one in state
        for beat, table in ((one, SAMPLE_STATE), (quad, TEXTURE_QUAD))
    ]
    return np.concatenate(rows)


@pytest.mark.plan("texture-unit-6")
def test_a_unit_without_comparisons_has_nothing_of_them():
    """Neither formats nor floats; a cache that has them already is none of a unit."""
    params = TextureUnitParams(comparisons=False)
    assert params.stored.formats == COLOURS
    assert (params.compared, params.filter.floats) == ((), False)
    assert CONFIGS["default"].stored.formats == (*COLOURS, *DEPTHS)
    with pytest.raises(InputError, match="formats must be without those that comparisons bring"):
        TextureUnitParams(cache=params.cache.__class__(formats=DEPTHS))


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-6")
def test_a_million_comparisons(monkeypatch):
    """States that compare alone, of depths at the ends."""

    def comparing(rng, state):
        state["compares"] = 1
        put_format(state, rng.choice(COMPARED))

    with_states(monkeypatch, comparing)
    total, okay, rows = check_quads("tiny", 50, 21_000)
    states, _, _ = parted(rows, SAMPLE_STATE, CONFIGS["tiny"].quad)
    assert set(bench.forms_of(states)) == {int(form) for form in COMPARED}
    assert okay > 800_000
    assert total > 1_000_000
