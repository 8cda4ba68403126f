# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the tile cache: see :mod:`fixfunc.tb.coverage`.

tile_cache.py
"""
