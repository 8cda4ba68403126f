# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil: what is tested, kept, coded.

depth_unit.py          HiZ, then the test; cached_depth.py: the same with depths in memory
hiz.py                 bounds of tiles, and what they decide; depth_bounds.py, decision.py: how
depth_test.py          the test, sample by sample; compare.py, stencil.py: its comparisons
depth_cache.py         caches of depths and of stencil values
plane_table.py         planes of tiles, followed by many writes at a time
depth_compression.py   coding of tiles; compression/: blocks by planes, and by differences

Tiles of the rasterizer go through HiZ to the test. What passes is written to the caches, and is
reported to HiZ.
"""
