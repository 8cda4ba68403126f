# SPDX-License-Identifier: BSD-2-Clause
"""A whole frame, drawn a sample at a time: a second opinion about the golden machine.

It is written from the documents and from D3D11's specification, and imports no model. Loops run
over pixels and samples; numbers are Python's integers and fractions, so that nothing is rounded
where the documents do not say so.

scene.py       what is drawn: a frame, its draws and all of their state, as plain values
float32.py     float32 arithmetic, each result rounded once from exact integers
clipping.py    primitives cut by planes and by clip distances
triangles.py   from clip space to snapped corners; edges, faces, planes of depths
attributes.py  weights of corners at a position, attributes by them
depths.py      formats of depths, bias, ranges
formats.py     formats of colours: from a shader's values to stored channels and to bytes
blending.py    blending and logic operations of one sample
frame.py       the renderer: triangles in order, pixels, samples
"""
