# SPDX-License-Identifier: BSD-2-Clause
"""Recorded frames, without OpenGL: docs/cosim/record.md.

frame.py    what a frame is made of
file.py     its file, read with every number checked
checks.py   what numbers may be; shading_checks.py: of varyings, textures and samplers
texels.py   texels as they are stored, and what differs
lookup.py   fragments of a draw, by pixel and order
shading.py  draws of fixed functions as shaders; shaders.py: all of a frame's, what they differ by
shaded.py   that in figures and words
drawing.py  the frame as calls of device and context
result.py   drawn by the golden machine and by the hardware, compared; pictures
"""
