# SPDX-License-Identifier: BSD-2-Clause
"""Golden models: numpy alone, exact, a whole frame in seconds.

formats.py     how a depth becomes what is stored
payload.py     dtypes of the field tables of spec/payloads.py
state.py       draw states, checked
annotations.py values as annotations say that they are
machine/       packets of a ring are executed, from draw calls to targets in memory
host/          the driver that people program: D3D11's device and context
top/           every stage that is hardware, behind a command stream, with its memory
back_half/     from triangles to targets: what machine and top have in common
system/        between program and card: drivers, scheduler, bus, DMA engine, MMU
architecture/  what lies around the fixed functions: SIMD engines, sorts, rays
performance/   how long a frame takes on a machine, without simulating it
scene/         a mesh, a camera, a light, and the frame that the hardware should draw of them
lib/           golden models of the hardware's primitives

The folders are the stages, in the order of data: frontend, tessellation, geometry, raster, depth,
pixel, output; memory holds what the last two keep, texture what shaders read.
"""
