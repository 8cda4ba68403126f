# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a target.

front.py         takes tiles and control beats; control beats wait until the tiles have drained
rectangle.py     samples of a tile within a rectangle of pixels; walks the tiles of a rectangle
tile_number.py   the number of a tile, row by row
tile_counts.py   how many tiles a surface has
state_check.py   legality of a draw state and of a clear; whether the target changes
address.py       where tiles and their table lie in memory
"""
