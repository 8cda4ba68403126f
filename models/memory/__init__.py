# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a surface, and the cache that holds them.

contract.py       what stages obey, what they refuse, what fences report
surface.py        tiles of a target: places, rectangles, images
layout.py         textures: levels, layers and slices, by rows or by tiles
copies.py         clears, copies, resolves and smaller levels of textures in memory
coded_tiles.py    tiles of a slice in memory, coded, with their table, or raw
tile_codecs.py    how they are coded
cache_shape.py    sets, ways and table of a tile cache
tile_cache.py     tiles on chip, coded in memory
tile_tags.py      which of them are on chip, and which modes; which moves each use makes
sample_grids.py   lanes of a tile as pixels by sample, and groups of them: for coders
bit_planes.py     rows of bits that coders fill and decoders read
counters.py       counters of a cache, as the hardware sends them
dram/             channels, banks and rows behind the ports, and their controller
"""
