# SPDX-License-Identifier: BSD-2-Clause
"""Pixel pipe: colours of tiles without a shader.

pixel_pipe.py      tiles of a triangle become its quads, their attributes, colours, tiles again
triangle_table.py  what the quads of a triangle need of it, from the reader on until they are shaded
triangle_fetch.py  its corners and attributes, read from the table and from the vertex ring
tile_feed.py       has triangles fetched while their tiles wait for the quads before them
stage_feed.py      quads with whole attributes, and the pixel state of each
texture_reads.py   texels of quads, from textures in memory
colour_pack.py     colours of quads in the format of a plane
tile_gather.py     these become those of a tile
shader_choice.py   tiles for the pipe, and for a shader outside, in order
"""
