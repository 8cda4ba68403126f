# SPDX-License-Identifier: BSD-2-Clause
"""Tessellation: domain points are matched with those being shaded, and packed into waves.

domain_matching.py     block: hit or miss, and the place of every point
point_lookup.py        is a point in one of the newest waves?
tag_ram.py             the points of these waves
wave_allocator.py      places of the vertex buffer, lane by lane
wave_references.py     which waves are in use
vertex_references.py   whether a release belongs to a reference
match_counters.py      hits, misses, stalls and others
wave_constructor.py    block: points that are to be shaded become waves
"""
