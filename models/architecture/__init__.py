# SPDX-License-Identifier: BSD-2-Clause
"""What lies around the fixed functions, as an architect asks about it: engines, sorts, rays.

simd_engine.py         occupancy, and a scheduler of warps that hides latency
divergence.py          warps whose threads go different ways
quad_packing.py        quads in warps
speedup.py             Amdahl's law
frame_work.py          a frame as work that units share, and who owns which tile
sorting.py             five ways to share it, and images that are merged by depth
hierarchical_tiler.py  lists of triangles by tiles and larger squares
hidden_fragments.py    early depth test, forward pixel kill, deferred shading
frame_bandwidth.py     what fragments ask of memory
several_cards.py       several cards for one picture
tiled/                 what tiles spare: memory on chip, caching, positions first
ray_boxes.py           a ray-box unit of few bits
ray_coherence.py       a tree of boxes, and rays that are gathered
"""
