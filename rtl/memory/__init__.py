# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a surface: where they lie, who asks for them, and the cache that holds them.

surface       tiles of a target: numbers, rectangles, addresses; the front that takes their beats
tile_client   what a test or a blender puts before its slots: requests to the caches, and their turn
tile_cache    the cache between slots on chip and memory behind AXI4

read_reorder.py  reads of one id, for a memory that answers in any order
"""
