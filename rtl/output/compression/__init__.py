# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours: one tile a clock each way.

colour_compression.py   the block: coder and decoder, each between two streams
colour_codec.py         the same behind a tile cache
tile_order.py           lanes by groups that share a width, for every number of samples
differences.py          channels, and their differences in both turns
widths.py               widths of groups, their codes, and bits by planes
placing.py              trees that put payloads side by side, and take them apart
header.py               what lies before the payloads
palette.py              tiles of four colours at most
colour_coder.py         lanes -> differences -> widths -> placing, beside the palette
sums.py                 differences back to colours
colour_decoder.py       taking apart -> sums -> lanes, beside the palette
"""
