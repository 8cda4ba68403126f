# SPDX-License-Identifier: BSD-2-Clause
"""Bins of depth, a file a block: see :mod:`fixfunc.tb.coverage`.

depth_test.py, depth_unit.py, cached_depth.py, hiz.py, depth_compression.py

anywhere.py   directed beats that several of them share: any target, any plane
far.py        those of cached depth: targets anywhere in memory, misses without end
"""
