# SPDX-License-Identifier: BSD-2-Clause
"""Golden models: numpy alone, exact, a whole frame in seconds.

formats.py     how a depth becomes what is stored
payload.py     dtypes of the field tables of spec/payloads.py
state.py       draw states, checked
pipeline.py    a mesh drawn by the front half, then the machine
machine.py     the machine: packets of a ring, from draw calls to targets in memory
bound_state.py pieces of state, read; bindings.py: what shaders see; shaders.py: what they declare
front_half.py  a draw call becomes triangles: frontend and geometry joined
back_half.py   triangles become depths and colours: raster, depth, pixel and output joined
host/          the driver that people program: D3D11's device and context
top.py         every stage that is hardware, behind a command stream, with its memory
shading.py     what stands for a pixel shader in the mesh demo
lib/           golden models of the hardware's primitives

The folders are the stages, in the order of data: frontend, tessellation, geometry, raster, depth,
pixel, output; memory holds what the last two keep, texture what shaders read.
"""
