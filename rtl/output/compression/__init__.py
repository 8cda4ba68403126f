# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours: one tile a clock each way, by differences one in four.

colour_compression.py   the block: coder and decoder, each between two streams
colour_codec.py         the same behind a tile cache
palette.py              tiles of four colours at most
colour_coder.py         a palette, or else differences
colour_decoder.py       the inverse, and what cannot be a tile

Differences are in ``rtl/output/differences``; groups of lanes, bit planes, trees, packer and
unpacker in ``rtl/lib/tile_groups``.
"""
