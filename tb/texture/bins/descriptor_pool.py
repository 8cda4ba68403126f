# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the descriptor pool: reasons of refusals, beats behind beats, descriptors on chip."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.descriptors.descriptor_pool import DescriptorPoolParams
from fixfunc.spec.textures.descriptors import POOL_SELECT, REFUSED, DescriptorKind, Refusal
from fixfunc.tb.coverage.bins import Seen, cross, flag, of

CONFIG = "tiny"
COUNT = 4000


def bins(seen: Seen, _: DescriptorPoolParams) -> dict[str, int]:
    """Counts of one batch."""
    kinds = (seen.rows[:, 0] & np.uint64(3)).astype(np.int64)
    refused = codec.unpack(seen.out["refused"], REFUSED, dtype(REFUSED))
    is_select = kinds == DescriptorKind.SELECT
    numbers = codec.unpack(seen.rows[is_select], POOL_SELECT, dtype(POOL_SELECT))["number"]
    pool_of = np.cumsum(kinds == DescriptorKind.POOL)[is_select]
    pairs = pool_of * 128 + numbers
    again = np.ones(len(pairs), bool)
    again[np.unique(pairs, return_index=True)[1]] = False
    found = cross("refused", of(Refusal, refused["reason"]))
    found |= cross("selected", flag(again, "for the first time", "again"))
    before = of(DescriptorKind, kinds[:-1])
    return found | cross("beat behind", before, of(DescriptorKind, kinds[1:]))
