# SPDX-License-Identifier: BSD-2-Clause
"""Textures: blocks become texels, and texels filtered colours.

block_decode.py      block: all formats side by side, and the selection of one
palette_blocks.py    BC1 to BC5, from colours and channels
colours.py           colours of BC1 to BC3
channel.py           channels of BC3 to BC5
subset_blocks.py     BC6H and BC7, between the end points of subsets
bc6h.py bc7.py       end points, by the mode of a block
indices.py           subsets and weights of the texels
partitions.py        table of the partitions
linear.py            sRGB to linear
level_of_detail.py   coordinates of quads become levels of detail
state_feed.py        quads enter a pipeline, each with the state before it

addresses   places of quads become texels of their grids, and weights
cube        faces of cubes, and texels beyond their edges
cache       taps of quads become texels, through blocks and lines on chip
coded_lines lines of coded surfaces of colours, as those of plain textures
descriptors textures and samplers by number, from memory
unit        coordinates of quads become filtered texels: all of these joined
filter      grids of texels of quads become filtered texels
"""
