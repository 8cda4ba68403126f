# SPDX-License-Identifier: BSD-2-Clause
"""Texels of float32 through the filter: a point is its texel, a gather four of them."""

import numpy as np
import pytest

from fixfunc.rtl.texture.filter.filter import FilterParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.filter import FilterOp, Unit
from tests.texture.filter.grids import hardware, single

CONFIG = "tiny"
# Zeros, denormals, the least and greatest numbers, infinities, NaN of either kind, and bits that
# tell halves of a word apart.
WORDS = np.array(
    [
        *(0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC12345),
        *(0x80000000, 0x80000001, 0x807FFFFF, 0x80800000, 0xFF7FFFFF, 0xFF800000, 0xFFFFFFFF),
        *(0x12345678, 0x9ABCDEF0),
    ],
    np.uint32,
)
ONE = 0x3F800000


def halves(words):
    """Words as channels: the lower half first, int64."""
    words = words.astype(np.int64)
    return np.stack([words & 0xFFFF, words >> 16], -1).reshape(*words.shape[:-1], -1)


def flushed(words):
    """By [fs 3.1.3]: a denormal is the zero of its sign, NaN any NaN; others stay as they are."""
    magnitude = words & 0x7FFFFFFF
    kept = np.where(magnitude < 0x800000, words & 0x80000000, words)
    return np.where(magnitude > 0x7F800000, 0x7FC00000, kept)


def grids(rng, count):
    """Grids of pairs of words, of any bits and of WORDS."""
    words = rng.integers(0, 1 << 32, (count, 4, 2), np.uint32)
    words = np.where(rng.random(words.shape) < 0.5, rng.choice(WORDS, words.shape), words)
    return words.astype(np.uint32)


@pytest.mark.plan("filter-9")
@pytest.mark.parametrize("op", [FilterOp.MEAN, FilterOp.MINIMUM, FilterOp.MAXIMUM])
@pytest.mark.parametrize("green", [Unit.WORD, Unit.UNORM16])
def test_a_point_is_its_texel(op, green):
    """[fs 7.18.16.3], but for denormals [fs 22.4.15]; neither weights nor other texels count."""
    rng = np.random.default_rng(op)
    words = grids(rng, 2000)
    u, v = rng.integers(0, 256, (2, len(words)))
    beats = single(halves(words), u, v, Unit.WORD, op=op, unit_g=green)
    found = hardware(*beats, CONFIG).view(np.uint32)
    assert np.array_equal(found[:, 0], flushed(words[:, 0, 0]))
    wanted = flushed(words[:, 0, 1]) if green == Unit.WORD else 0 * words[:, 0, 1]
    assert np.array_equal(found[:, 1], wanted)
    assert (found[:, 2:] == [0, ONE]).all()


@pytest.mark.plan("filter-9")
@pytest.mark.parametrize("component", range(4))
def test_a_gather_is_unaltered(component):
    """[fs 22.4.2]: bits of four texels, denormals among them."""
    rng = np.random.default_rng(component)
    words = grids(rng, 2000)
    u, v = rng.integers(0, 256, (2, len(words)))
    fields = {"op": FilterOp.GATHER, "component": component}
    found = hardware(*single(halves(words), u, v, Unit.WORD, **fields), CONFIG).view(np.uint32)
    lacking = np.broadcast_to([0, ONE], words.shape)
    wanted = np.concatenate([words, lacking], -1)[:, :, component]
    assert np.array_equal(found, wanted[:, [2, 3, 1, 0]])


@pytest.mark.plan("filter-9")
def test_words_need_halves():
    with pytest.raises(InputError, match="words must be False without halves"):
        FilterParams(words=True)
