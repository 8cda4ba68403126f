# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the texture unit.

block_decode.py    blocks of every format and mode
cube_faces.py      directions at edges, at corners, anywhere; ties
level_of_detail.py gradients of every length, biases, bounds
addresses.py       places of quads, in every mode, at any size
filter.py          grids of quads, in every unit and operation
texture_unit.py    quads anywhere on textures of any size, between levels
descriptor_pool.py numbers of a few descriptors and of many, legal and not, quads between them
coded_lines.py     walks over tiles of coded surfaces, tiles that cannot be, memory that fails
texture_cache.py   walks over textures, what wraps, pixels anywhere, memory that fails

bins/   bins of coverage, a file a block
"""
