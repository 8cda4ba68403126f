# SPDX-License-Identifier: BSD-2-Clause
"""Textures: from files to filtered samples.

container.py       DDS and KTX2; texture.py: levels, layers and faces in memory
block_decode.py    BC1 to BC5; bc6h.py, bc7.py, with their partitions in subsets.py
sampler.py         coordinates to filtered texels; footprint.py: level and anisotropy; cube.py
texture_cache.py   decoded blocks next to the sampler
"""
