# SPDX-License-Identifier: BSD-2-Clause
"""Bench of the tile cache.

tile_cache.py   the bench; slots.py: slots that hold values, and writes in place of tests

bins/   bins of coverage, a file a block
"""
