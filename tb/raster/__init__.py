# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the rasterizer.

edge_evaluator.py    edges over all samples
tile_rasterizer.py   tiles of triangles

bins/   bins of coverage, a file a block
"""
