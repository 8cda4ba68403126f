# SPDX-License-Identifier: BSD-2-Clause
"""Benches of colours.

colour_write.py         quads, and every byte of memory
shaded_write.py         the block with a shader
colour_planes.py        stimuli for several planes; plane_formats.py: for their formats
colour_compression.py   tiles coded and decoded
output_merger.py        samples merged with the texels of a target
resolve.py              surfaces in memory averaged
scan_out.py             frames of buffers that take turns; show.py: a picture of one
transaction_elimination.py   tiles that changed, and their signatures in memory

bins/   bins of coverage, a file a block
"""
