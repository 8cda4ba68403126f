# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a target.

front.py         takes tiles and control beats, which wait until tiles have drained, or follow them
state_gate.py    which control beats wait for the tiles before them
state_queue.py   draw states that follow tiles, until these have left
rectangle.py     samples of a tile within a rectangle of pixels; walks the tiles of a rectangle
tile_number.py   the number of a tile, row by row
tile_counts.py   how many tiles a surface has
state_check.py   legality of a draw state and of a clear; whether the target changes
address.py       where tiles and their table lie in memory
"""
