# SPDX-License-Identifier: BSD-2-Clause
"""Payloads between the caches of tiles and memory, as field tables: see
:mod:`fixfunc.spec.payloads`.

caching.py      what a cache is asked for, and does with a tile on chip; what it has moved
depth_tiles.py  tiles of depths, to be coded and coded
"""
