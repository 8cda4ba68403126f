# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's anisotropic filters."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from tests import volume
from tests.texture.test_texture_unit import QUADS, quads_of, ramps, sampled
from tests.texture.unit.many_quads import check_quads, with_states
from tests.texture.unit.test_comparisons import references_of
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = "texture_unit"


@pytest.mark.plan("texture-unit-9")
@pytest.mark.parametrize("anisotropy", [2, 5, 16])
@pytest.mark.parametrize("mip", ["point", "linear"])
@pytest.mark.parametrize("reduction", ["standard", "minimum"])
def test_footprints_are_those_of_the_sampler(anisotropy, mip, reduction, monkeypatch):
    """Samples along the axes of ellipses, on a level or between two."""
    form = StoredFormat.R8G8B8A8_UNORM
    texture = noise(37, 64, levels=5)
    sampler = Sampler(
        mip=mip,
        address=("mirror", "border"),
        bias=0.25,
        anisotropy=anisotropy,
        reduction=reduction,
        border=(0.0, 1.0, 0.0, 1.0),
    )
    places = quads_of(np.random.default_rng(anisotropy), 0.3)
    places[:, ..., 0] = places[:, :1, :1, 0] + (places[..., 0] - places[:, :1, :1, 0]) / 8
    op = FilterOp.MINIMUM if reduction == "minimum" else FilterOp.MEAN
    found = sampled(monkeypatch, texture, form, sampler, places, op=op)
    wanted = sample(texture, sampler, places).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-9")
def test_a_million_anisotropic_quads(monkeypatch):
    """Of textures and samplers of all kinds, each with a greatest number of samples above one."""

    def anisotropic(rng, state):
        state["anisotropy"] = rng.integers(2, 17)

    with_states(monkeypatch, anisotropic)
    total, _, _ = check_quads("default", 20, 52_000, first_seed=100)
    assert total > 1_000_000


@pytest.mark.plan("texture-unit-9")
def test_comparisons_have_footprints_and_gathers_have_none(monkeypatch):
    rng = np.random.default_rng(5)
    texture = noise(37, 20, levels=3, format="R16")
    sampler = Sampler(reduction="comparison", comparison=Compare.LESS, anisotropy=16)
    places = quads_of(rng, 0.3)
    references = references_of(rng, texture)
    form = StoredFormat.R16_UNORM
    found = sampled(monkeypatch, texture, form, sampler, places, references=references)
    wanted = sample_compare(texture, sampler, places, references.reshape(-1, 2, 2))
    wanted = np.repeat(wanted.reshape(QUADS, 4, 1), 4, 2)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))
    found = sampled(monkeypatch, texture, form, sampler, places, references=references, op=3)
    wanted = gather(texture, sampler, places, reference=references.reshape(-1, 2, 2))
    assert np.array_equal(found.view(np.uint32), wanted.reshape(QUADS, 4, 4).view(np.uint32))


@pytest.mark.plan("texture-unit-9")
@pytest.mark.parametrize(
    ("config", "most"), by_tier([("default", 16), ("small", 1)], also=("default",))
)
def test_more_samples_than_there_may_be_are_refused(config, most, monkeypatch):
    """With FORMAT and zeros, even where a comparison would be true; and the next state is not."""
    state = ramps(3)
    state["format"] = StoredFormat.R16_UNORM
    state["compares"], state["function"] = (1, 0, 1), Compare.ALWAYS
    state["anisotropy"] = most + 1, most + 1, most
    quad = np.zeros(1, dtype(TEXTURE_QUAD))
    quad["kind"], quad["live"] = 1, 15
    rows = [
        codec.pack(np.atleast_1d(beat), table, bench.BITS)
        for one in state
        for beat, table in ((one, SAMPLE_STATE), (quad, TEXTURE_QUAD))
    ]
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    found = volume.check(bench.TextureUnitBench.stem, config, np.concatenate(rows))
    out = codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert out["status"].tolist() == [CacheStatus.FORMAT, CacheStatus.FORMAT, CacheStatus.OKAY]
    assert out["c0_0"].tolist() == [0, 0, np.float32(1).view(np.uint32)]
