# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil.

hiz            bounds of each tile: drops and accepts whole tiles
test           tests and writes the samples of tiles
late           tiles that are out for shading before they are written
compression    codes tiles of depths for memory
differences    what it codes of tiles that no planes give
depth_unit.py    HiZ and test, tiles on chip
cached_depth.py  HiZ and test, tiles in memory behind their caches

Tiles pass HiZ, then the test, which feeds the bounds of what it wrote back to HiZ.
"""
