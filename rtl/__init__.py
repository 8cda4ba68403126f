# SPDX-License-Identifier: BSD-2-Clause
"""Synthesizable blocks, a folder a stage of the pipeline, in the order of data.

frontend       packets in memory become triangles and control beats
tessellation   domain points: which are shaded already, and waves of those that are not
geometry       triangles become edge functions, boxes and depth planes
raster         triangles become covered 8x8 tiles
depth          HiZ, depth and stencil test, depth compression
pixel          tiles become quads of pixels, quads get attributes
output         tiles become quads for a shader; its colours are blended and written
texture        compressed blocks become texels
memory         tiles on chip, coded in memory behind AXI4
lib            primitives: FIFOs, credits, delays, AXI4, arithmetic

payload.py     layouts of the field tables; samples.py: shapes of pixels in a tile, by sample count
probes.py      streams between stages, shown to a bench; counters.py: counters by address

``top.py`` joins them, as ``top_params.py`` says. Control beats (state, clear, fence) travel in the
streams, in order.
"""
