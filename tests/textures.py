# SPDX-License-Identifier: BSD-2-Clause
"""Textures for tests."""

import numpy as np

from fixfunc.models.texture.texture import bytes_of, create, size


def noise(width, height, seed=0, faces=1, layers=1, levels=None, format="RGBA8", srgb=False):
    """A texture of random bytes; with all of its levels, unless their number is given."""
    rng = np.random.default_rng(seed)
    count = levels or max(width, height).bit_length()
    data = [
        rng.integers(0, 256, (faces * layers, bytes_of(format, *size(width, height, n))), np.uint8)
        for n in range(count)
    ]
    return create(format, width, height, data, faces=faces, srgb=srgb)
