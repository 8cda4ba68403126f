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
draws.py        triangles go through the back half, to what views show
back_state.py   what the back half takes of state
targets.py      what is drawn to: slices of textures, held from draw to draw behind caches
tile_shading.py tiles become quads; what a shader makes of these comes back to lanes
statistics/     what became of a draw's primitives and samples, and why nothing was drawn
memory/         what work may touch by client, and what it has changed

The command processor hands work to ``machine.py``. That reads what is bound, and sends the parts
of ``front_half.py`` by ``draws.py`` to the back half, which is that of the hardware's model too
(``models/back_half``); it shades through ``tile_shading.py``. Command streams go to that model, in
``top``.
"""
