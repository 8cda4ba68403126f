# SPDX-License-Identifier: BSD-2-Clause
"""Texture cache: quads of texel addresses become texels, through two levels of cache.

texture_cache.py   block: joins the parts
layouts.py         what the parts hand to each other
block_rounds.py    a quad becomes rounds, each of one block a quarter
lookup.py          rounds: addresses of blocks, tags of the first level
tags.py            tags of a cache, least recently used ways first to go
miss_scheduler.py  misses: tags of the second level, lines to read, the order of fills
line_reads.py      lines from memory, in any order, to those who wait in order
line_cache.py      lines of the second level, and which of them is filled next
formats.py         formats of textures, as tables
fill.py            a line becomes 16 texels
texel_reads.py     rounds in order: filled, then read
texel_banks.py     texels of the first level, a copy a pixel
"""
