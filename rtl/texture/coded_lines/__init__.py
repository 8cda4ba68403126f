# SPDX-License-Identifier: BSD-2-Clause
"""Coded lines: lines of a texture that lies in memory as a coded surface of colours.

coded_lines.py   block: joins the parts
layouts.py       parameters, and what the parts hand to each other
tile_lookup.py   lines: which tiles of them are on chip, and which have to be read
tile_modes.py    tiles that are to be read: their modes, from the table
tile_reads.py    transfers of tiles, and lines of the table, from memory
decoded_tiles.py decoded tiles, and the lines that are taken from them, in order
"""
