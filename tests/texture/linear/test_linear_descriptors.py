# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors of textures that lie as rows of texels."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.rtl.texture.descriptors import descriptor_pool as rtl
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.spec.textures.descriptors import Refusal
from fixfunc.tb.texture import descriptor_pool as bench
from tests.texture.test_descriptor_pool import LEGAL, refusals

BLOCK = STEM = "descriptor_pool"
# 60 rows of four bytes a texel, of 3 lines each, 10 lines apart: the last one ends at line 593.
ROWS = {"linear": 1, "width": 33, "height": 60, "last": 0, "distance": 10, "format": 0}
WIDE = {"extended": 1, "format": StoredFormat.R16G16B16A16_FLOAT - 32}
RULES = [
    ({}, None),
    ({"base0": 407}, None),
    ({"base0": 408}, Refusal.ADDRESS),
    ({"base0": 407, "width": 48}, None),
    ({"base0": 407, "width": 49}, Refusal.ADDRESS),
    ({"base0": 407, "height": 57}, None),  # blocks have four rows, all of which are read
    ({"base0": 407, "height": 61}, Refusal.ADDRESS),
    ({"base0": 409, "format": StoredFormat.R16_UNORM}, Refusal.ADDRESS),
    ({"base0": 408, "format": StoredFormat.R16_UNORM}, None),
    ({"base0": 409, "format": StoredFormat.A8_UNORM}, None),
    ({"base0": 410, "format": StoredFormat.A8_UNORM}, Refusal.ADDRESS),
    (WIDE | {"base0": 405}, None),
    (WIDE | {"base0": 406}, Refusal.ADDRESS),
    ({"format": StoredFormat.R32_FLOAT}, None),
    ({"distance": 0, "base0": 997}, None),  # [fs 5.5]: the first row in place of all
    ({"distance": 0, "base0": 998}, Refusal.ADDRESS),
    ({"distance": 4095, "height": 1}, Refusal.ADDRESS),
    ({"distance": 4096}, Refusal.STATE),
    ({"distance": (1 << 26) - 1}, Refusal.STATE),
    ({"last": 1}, Refusal.STATE),
    ({"last_layer": 1}, Refusal.STATE),
    ({"width": 60, "cube": 1}, Refusal.STATE),
    ({"coded": 1, "distance": 12}, Refusal.STATE),
    ({"format": StoredFormat.BC1_UNORM_SRGB}, Refusal.STATE),
]


@pytest.mark.plan("descriptor-pool-7")
@pytest.mark.parametrize(("fields", "reason"), RULES)
def test_rules_of_rows(fields, reason, monkeypatch):
    rows = np.concatenate([bench.placed(0, 1, 1000), bench.selected([0])])
    found = refusals(monkeypatch, [LEGAL | ROWS | fields], rows)
    assert found == ([] if reason is None else [(0, reason)])


@pytest.mark.plan("descriptor-pool-7")
def test_the_greatest_pitch_is_legal(monkeypatch):
    rows = np.concatenate([bench.placed(0, 1, 1 << 20), bench.selected([0])])
    assert refusals(monkeypatch, [LEGAL | ROWS | {"distance": 4095}], rows) == []


@pytest.mark.plan("descriptor-pool-7")
def test_rows_are_refused_without_them(monkeypatch):
    params = rtl.CONFIGS["small"]
    numbers = bench.selected([0, 1], params)
    rows = np.concatenate([bench.placed(0, 2, 1000, params), numbers])
    found = refusals(monkeypatch, [LEGAL, LEGAL | {"linear": 1}], rows, "small")
    assert found == [(1, Refusal.STATE)]
    with pytest.raises(InputError, match="rows must be none without layers"):
        replace(rtl.CONFIGS["tiny"], layers=False, cubes=False, surfaces=())
