# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the texture unit: see :mod:`fixfunc.tb.coverage`.

block_decode.py, level_of_detail.py, addresses.py, texture_cache.py, filter.py, texture_unit.py,
descriptor_pool.py, cube_faces.py, coded_lines.py
"""
