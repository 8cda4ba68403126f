# SPDX-License-Identifier: BSD-2-Clause
"""Depth compression.

depth_compression.py   the block: a coder and a decoder
tile_coder.py          a tile by planes, or else by anchors or differences
tile_decoder.py        the way back
tile_modes.py          bit layouts of the codings
anchor.py              anchor coding of 4x4 blocks
plane_codec.py         the codec of a tile cache of depths
depth_codec.py         the same with floats, which lie raw
plane_table.py         planes known of each slot
"""
