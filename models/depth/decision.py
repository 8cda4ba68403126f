# SPDX-License-Identifier: BSD-2-Clause
"""What bounds decide."""

import numpy as np

from fixfunc.spec.state import Compare

LESS = (Compare.LESS, Compare.LESS_EQUAL)
GREATER = (Compare.GREATER, Compare.GREATER_EQUAL)
UNORDERED = (Compare.NOT_EQUAL, Compare.ALWAYS)  # may write depths on either side of the old ones


def outcome(compare, low, high, zmin, zmax):
    """What the bounds of a triangle and of a tile's depths decide, were nothing else in the way.

    Parameters
    ----------
    compare : Compare
    low, high : ndarray of int, shape (n,)
        Bounds of the triangle's depths in the tile.
    zmin, zmax : ndarray of int, shape (n,)
        Bounds of the depths stored.

    Returns
    -------
    drop, accept : ndarray of bool, shape (n,)
        No sample passes; every sample passes.

    Source: [trip 7], numerics: HiZ.
    """
    never = np.zeros(np.shape(low), bool)
    disjoint = (high < zmin) | (low > zmax)
    return {
        Compare.NEVER: lambda: (~never, never),
        Compare.LESS: lambda: (low >= zmax, high < zmin),
        Compare.EQUAL: lambda: (disjoint, never),
        Compare.LESS_EQUAL: lambda: (low > zmax, high <= zmin),
        Compare.GREATER: lambda: (high <= zmin, low > zmax),
        Compare.NOT_EQUAL: lambda: ((low == high) & (zmin == zmax) & (low == zmin), disjoint),
        Compare.GREATER_EQUAL: lambda: (high < zmin, low >= zmax),
        Compare.ALWAYS: lambda: (never, ~never),
    }[Compare(compare)]()
