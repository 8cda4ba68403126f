# SPDX-License-Identifier: BSD-2-Clause
"""The golden texture cache of a hardware's parameters."""

from fixfunc.models.texture.texture_cache import QuadCacheShape
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams


def cache_shape(params: TextureCacheParams) -> QuadCacheShape:
    """Shape of the golden cache."""
    return QuadCacheShape(
        *(params.sets, params.ways, params.line_sets, params.line_ways),
        *(params.formats, params.layers, params.coded > 0, params.linear),
    )
