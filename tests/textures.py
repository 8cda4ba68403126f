# SPDX-License-Identifier: BSD-2-Clause
"""Textures for tests."""

import numpy as np

from fixfunc.models.texture.texture import bytes_of, create, size


def noise(width, height, seed=0, faces=1, layers=1, levels=None, format="RGBA8", depth=1, **fields):
    """A texture of random bytes; with all of its levels, unless their number is given."""
    rng = np.random.default_rng(seed)
    count = levels or max(width, height, depth).bit_length()
    data = [
        rng.integers(
            0,
            256,
            (
                faces * layers,
                bytes_of(format, *size(width, height, n))
                * max(depth >> n, 1)
                * fields.get("samples", 1),
            ),
            np.uint8,
        )
        for n in range(count)
    ]
    return create(format, width, height, data, faces=faces, depth=depth, **fields)


def floats(width, height=1, seed=0, format="R32_FLOAT", channels=1, depth=1, **fields):
    """A texture of random float32 from 0 to 1, with all of its levels."""
    rng = np.random.default_rng(seed)
    levels = []
    for n in range(max(width, height, depth).bit_length()):
        wide, high = size(width, height, n)
        values = rng.random((1, wide * high * max(depth >> n, 1) * channels), np.float32)
        levels.append(values.view(np.uint8))
    return create(format, width, height, levels, depth=depth, **fields)
