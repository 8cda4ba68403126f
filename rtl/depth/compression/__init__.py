# SPDX-License-Identifier: BSD-2-Clause
"""Depth compression.

depth_compression.py   the block: a coder and a decoder
tile_coder.py          all codings of a tile side by side, of which the shortest is taken
tile_decoder.py        the way back
tile_modes.py          bit layouts of the codings
anchor.py              anchor coding of 4x4 blocks
plane_depths.py        depths of a tile's samples from up to four planes
fewest_planes.py       planes that no sample needs are left out
plane_codec.py         the codec of a tile cache of depths
depth_codec.py         the same with floats, which lie raw
plane_table.py         planes known of each slot
"""
