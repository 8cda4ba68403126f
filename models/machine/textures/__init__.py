# SPDX-License-Identifier: BSD-2-Clause
"""What shaders of the machine read of textures.

sampled.py         textures and samplers that are bound
texture_reads.py   texels that are read, through the texture cache
"""
