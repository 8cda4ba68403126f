# SPDX-License-Identifier: BSD-2-Clause
"""Parts of depth compression.

codes.py         codes of the mode table by coding, and sizes of tiles
planes.py        the planes that made a tile
differences.py   second differences, by groups of lanes that share a width
anchor.py        a depth, slopes to two neighbours, and differences from that plane
block.py         coding of blocks of 4 by 4 as the documents have it, to compare with
"""
