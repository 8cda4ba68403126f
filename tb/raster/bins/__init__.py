# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the rasterizer, a file a block: see :mod:`fixfunc.tb.coverage`.

edge_evaluator.py, tile_rasterizer.py
"""
