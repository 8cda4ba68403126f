# SPDX-License-Identifier: BSD-2-Clause
"""What shaders of the machine read of textures, and store to them.

sampled.py         textures and samplers that are bound
texture_reads.py   texels that are read, through the texture cache
images.py          texels that shaders load and store by their numbers
"""
