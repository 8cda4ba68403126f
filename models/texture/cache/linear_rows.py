# SPDX-License-Identifier: BSD-2-Clause
"""Where blocks of a texture lie whose texels lie row by row."""

import numpy as np

from fixfunc.spec.textures.cache import LINE

BLOCK = 4  # texels along the edge of a block
MORTON = -1  # in place of a pitch


def row_places(
    x: np.ndarray, y: np.ndarray, first: np.ndarray, pitch: np.ndarray, size: np.ndarray
) -> np.ndarray:
    """First byte of the block of a texel, which has a quarter of a line at most in four rows.

    Parameters
    ----------
    x, y : ndarray of int64
        Column and row of the texel.
    first, pitch : ndarray of int64
        The texture's first line; lines from a row of texels to the next.
    size : ndarray of int64
        Bytes of a texel.

    Returns
    -------
    ndarray of int64

    Source: [fs 5.5] of pitches, of which 0 is one, [fs 5.6.1] of rows.
    """
    row = first + y // BLOCK * BLOCK * pitch
    return row * LINE + x // BLOCK * BLOCK * size
