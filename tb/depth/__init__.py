# SPDX-License-Identifier: BSD-2-Clause
"""Benches of depth: a file a block, and the hardware around them.

hiz.py, depth_test.py, depth_unit.py, cached_depth.py, depth_compression.py   the benches
loop.py      reports of made-up tests, behind HiZ; noise.py: sooner or later
shading.py   a shader behind the depth test
sweep.py     every function, format, mode and operation in turn
switching.py contexts of HiZ saved and restored between draws

bins/   bins of coverage, a file a block
"""
