# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours: one tile a clock each way.

colour_compression.py   the block: coder and decoder, each between two streams
colour_codec.py         the same behind a tile cache
colour_order.py         groups of lanes, and what depends on the bits of a channel
differences.py          channels, and their differences in both turns
widths.py               widths of groups, and their codes
header.py               what lies before the payloads
palette.py              tiles of four colours at most
colour_coder.py         lanes -> differences -> widths -> placing, beside the palette
sums.py                 differences back to colours
colour_decoder.py       taking apart -> sums -> lanes, beside the palette

Groups of lanes, their bit planes and the trees lie in ``rtl/lib/tile_groups``.
"""
