# SPDX-License-Identifier: BSD-2-Clause
"""Between tiles and a pixel shader.

interpolator.py   weights of a triangle's corners at positions, and attributes by them
quads.py          two by two pixels of a tile
pixel_stage.py    the port to a pixel shader
"""
