# SPDX-License-Identifier: BSD-2-Clause
"""What is read of textures, and the cache that it is read through.

taps.py            texels that samples read
texture_cache.py   two levels: decoded blocks, and lines of memory
linear_rows.py     blocks of textures whose texels lie row by row
stored_texels.py   texels of any format, from memory
tag_array.py       which lookups hit, many at a time
cache_clock.py     time, block by block
"""
