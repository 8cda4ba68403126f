# SPDX-License-Identifier: BSD-2-Clause
"""The machine: packets of a ring become targets in memory.

machine.py      packets executed, one method each: draws, dispatches, clears, copies, queries
bound_state.py  pieces of state, read
bindings.py     what shaders see: constants, buffers, textures, samplers
unordered_access.py  what they read and write at places of their own, by unordered/
textures/       textures and samplers that are bound, and the cache between
shaders.py      what shaders declare
shader_units.py what stages hand to shaders, in batches that finish in any order
front_half.py   a draw call becomes triangles: frontend and geometry joined
back_half.py    triangles become depths and colours: raster, depth, pixel and output joined
back_state.py   what the back half takes of state
targets.py      what is drawn to: slices of textures, and what is held of them
tile_shading.py tiles become quads; what a shader makes of these comes back to lanes
undo.py         what work has changed, so that work that fails changes nothing

The command processor hands work to ``machine.py``. That reads what is bound, and sends the parts
of ``front_half.py`` to ``back_half.py``, which shades what it rasterizes through
``tile_shading.py``. Command streams go to the model of the hardware, in ``top``.
"""
