# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of a tile in groups that share a width, side by side: what coders of tiles share.

tile_order.py   lanes by groups, for every number of samples
bit_planes.py   signed numbers of a group by bit plane, and back
placing.py      trees that put payloads side by side, and take them apart
packer.py       values behind one another in a row, from a running position
unpacker.py     bits of a row, from a running position
"""
