# SPDX-License-Identifier: BSD-2-Clause
"""Textures: from files to filtered samples.

container/         files: DDS and KTX2
texture.py         levels, layers and faces in memory
texels.py          formats without blocks; block_decode.py: BC1 to BC5; blocks/: BC6H and BC7
sampler.py         coordinates to filtered texels
coordinates/       levels and anisotropy, faces of directions
cube_faces.py      faces that quads see, and level_of_detail.py: their levels, as hardware has both
filtering/         texels of a filter, and what becomes of them; texels by their numbers
addresses.py       texels of grids, and filter.py: what becomes of them, as hardware has both
cache/             texels that are read, decoded blocks next to the sampler
texture_unit.py    coordinates of quads to filtered texels, as hardware has all of it
descriptor_pool.py textures and samplers by number, from memory
unit/              textures as that has them in memory, and which there may be
coded_lines.py     lines of coded surfaces of colours
texture_cache.py   texels of quads, and what both levels of the cache read for them
"""
