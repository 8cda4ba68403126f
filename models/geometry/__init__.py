# SPDX-License-Identifier: BSD-2-Clause
"""Geometry: triangles, from clip space to what the rasterizer walks.

primitive_assembly.py   primitives from a marked row of vertices
geometry_stage.py       the port to a geometry shader; its streams
stream_output.py        primitives into buffers
projection.py           clipper, viewports and expansion joined
clipper.py              cut by near and far plane, guard band and clip distances
viewport.py             projected, and snapped to 1/256 pixel
faces.py                facing, unit and slopes of what is expanded
expand.py               points, lines and wireframes become triangles or pixels
triangle_setup.py       culled; edge functions, box and depth plane
"""
