# SPDX-License-Identifier: BSD-2-Clause
"""Golden models: numpy alone, exact, a whole frame in seconds.

formats.py     how a depth becomes what is stored
payload.py     dtypes of the field tables of spec/payloads.py
state.py       draw states, checked
pipeline.py    a mesh drawn by the front half, then the machine
front_half.py  a draw call becomes triangles: frontend and geometry joined
top.py         the machine: every stage behind a command stream, with its memory
shading.py     what stands for a pixel shader
lib/           golden models of the hardware's primitives

The folders are the stages, in the order of data: frontend, tessellation, geometry, raster, depth,
output; memory holds what the last two keep, texture what shaders read.
"""
