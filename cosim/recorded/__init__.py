# SPDX-License-Identifier: BSD-2-Clause
"""Recorded frames, without OpenGL: docs/cosim/record.md.

frame.py    what a frame is made of
file.py     its file, read with every number checked
texels.py   texels as they are stored, and what differs
lookup.py   fragments of a draw, by pixel and order
drawing.py  the frame as calls of device and context
result.py   drawn by the golden machine and by the hardware, compared; pictures
"""
