# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of what goes to memory.

bursts.py      no burst of tiles, lines or commands crosses a page
tile_cache.py  tags, interlock and hazard check of the tile cache
"""
