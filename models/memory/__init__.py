# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a surface, and the cache that holds them.

surface.py      tiles of a target: places, rectangles, images
tile_cache.py   tiles on chip, coded in memory
"""
