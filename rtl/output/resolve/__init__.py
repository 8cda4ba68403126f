# SPDX-License-Identifier: BSD-2-Clause
"""Means of the samples of each pixel, from coded tiles to coded tiles.

resolve.py      the block: a surface in memory becomes another one
source_tiles.py which tiles are read, and their modes
mode_lines.py   lines of the mode table of one row of tiles in a group, ahead of their use
group_place.py  where a tile lies among those that become one
averages.py     tiles of samples in, tiles of means out
target_tiles.py tiles are coded, and written with their mode table
"""
