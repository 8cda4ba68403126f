# SPDX-License-Identifier: BSD-2-Clause
"""Where samples lie, by log2 of the samples of a pixel. The golden models type their own.

A test compares.
"""

# 1/16 pixel from the pixel's centre.
POSITIONS = [
    [(0, 0)],
    [(4, 4), (-4, -4)],
    [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
]
SHAPES = [(0, 0), (0, 1), (1, 1), (1, 2)]  # log2 of a pixel's columns and rows of lanes
REACH = [0, 4, 6, 7]  # the farthest sample of a pixel from its centre, 1/16 pixel
# Of conservative coverage: half a pixel, and half a unit that snapping may have moved a vertex,
# rounded up, 1/256 pixel.
OUTER = 129
