# SPDX-License-Identifier: BSD-2-Clause
"""Textures of the texture unit.

stored.py         textures as memory has them; samplers as fields
cube_grids.py     texels of grids on several faces of a cube, and its corners
places.py         coordinates as fixed point, numbers of layers
texture_rules.py  what textures there are, and where they may lie
"""
