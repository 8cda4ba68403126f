# SPDX-License-Identifier: BSD-2-Clause
"""What hardware and models agree on: names, widths, encodings. No algorithms.

payloads.py   field tables of every payload; points.py, colours.py: those of shaders, coded colours
state.py      enumerations of draw states, outcomes, tile modes; when tests are early
draw.py       topologies, marks of indices; dxgi.py: formats
ring.py       packets of the ring, errors, events; descriptors.py: pieces of state, and their tables
commands.py   packets of a command stream; counters.py: counters by address
floats.py     operations of floats; pixels: between quads and colours; textures: of their texels;
memory        of caches of tiles
errors.py     errors of bad input, with field, rule and value
"""
