# SPDX-License-Identifier: BSD-2-Clause
"""What tiles spare: memory of a tile on chip, tiled caching, positions before all else.

tile_memory.py       colours, depths and data of a tile on chip; what leaves it
tiled_caching.py     triangles in bins, so that a tile's targets stay in a cache
position_shading.py  positions for the tiler, all else for what is seen
"""
