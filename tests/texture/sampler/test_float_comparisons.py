# SPDX-License-Identifier: BSD-2-Clause
import operator

import numpy as np
import pytest

from fixfunc.models.texture.sampler import Sampler, sample_compare
from fixfunc.models.texture.texture import create
from fixfunc.spec.state import Compare

CLAMP = ("clamp",) * 3


@pytest.mark.plan("sampler-14")
@pytest.mark.parametrize("compare", Compare, ids=lambda compare: compare.name)
def test_floats_compare_by_the_rules_of_floats(compare):
    """Denormals are zeros, which are equal; NaN is not equal to anything [fs 3.1.3]."""
    least, nan, infinity = 2.0**-126, np.nan, np.inf
    values = [0.0, -0.0, 1e-40, -1e-40, least, -least, 1.0, -1.0, infinity, -infinity, nan]
    texels = np.array(values, np.float32)
    texture = create("R32_FLOAT", len(texels), 1, [texels.view(np.uint8)[None]], dimension=1)
    sampler = Sampler("point", "point", "point", CLAMP, reduction="comparison", comparison=compare)
    places = ((np.arange(len(texels)) + 0.5) / len(texels)).astype(np.float32)[:, None]
    rules = [
        lambda *_: False,
        operator.lt,
        operator.eq,
        operator.le,
        operator.gt,
        operator.ne,
        operator.ge,
        lambda *_: True,
    ]
    flushed = [0.0 if abs(value) < least else value for value in values]
    for value, reference in zip(flushed, texels, strict=True):
        found = sample_compare(texture, sampler, places, reference, lod=0)
        assert found.tolist() == [rules[compare](value, texel) for texel in flushed]
