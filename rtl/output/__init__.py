# SPDX-License-Identifier: BSD-2-Clause
"""Colours.

colour_write.py      the block: quads to a shader, its colours into memory
shading_queue.py     quads out; their tiles wait for colours
shaded_colours.py    these colours; those of late draws wait for the depth test
colour_slots.py      tiles of colours on chip: read, blended, written
byte_blender.py      a sample of bytes, blended
blend_constant.py    the blend constant, in steps of a shader's colours
texel_blender.py     a sample of one of several formats, blended
plane_formats.py     what these formats ask of it; a shader's colours as numbers
blend_turns.py       a tile that is blended takes few lanes, group by group
sample_interlock.py  no sample is read while a write of it is in flight
quads.py             which pixels of a tile are shaded
merger/              every format and all of blending: output_merger.py is the block
compression/         tiles of colours coded and decoded: colour_compression.py is the block
differences/         what is coded of tiles that have more colours than a palette
resolve/             means of samples, from coded tiles to coded tiles: resolve.py is the block
display/             frames scanned out, tiles that did not change: two blocks
"""
