# SPDX-License-Identifier: BSD-2-Clause
"""Between tiles and a pixel shader.

interpolator.py     weights of a triangle's corners at positions, and attributes by them
attribute_quads.py  the same as beats, as hardware has them
quads.py            two by two pixels of a tile
quad_dispatch.py    the same as beats, as hardware has them
texture_stage.py    colours of quads without a shader
pixel_pipe.py       all in a row: colours of tiles without a shader
pixel_shader.py     what a shader declares, and what it returns
pixel_inputs.py     what it takes: attributes, at pixels, centroids, samples and offsets
pixel_stage.py      the port to it
"""
