# SPDX-License-Identifier: BSD-2-Clause
"""Raster: covered tiles of triangles.

edge_evaluator.py    an edge function over the samples of a tile
tile_rasterizer.py   the tiles that a triangle covers, in order
forced_samples.py    the same at a number of samples that targets do not have
"""
