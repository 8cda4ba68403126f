# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil test.

depth_test.py      the block, with tiles on chip
cached_test.py     the same with slots that tile caches fill and empty
datapath.py        from a tile to what is left of it: both are composed of it
test_output.py     tiles, counts of samples, and reports to HiZ
passed_count.py    samples that passed, for fences
rule_selector.py   which samples are tested, cleared or filled, and how
new_depths.py      what a tile brings: its plane's depths, or its shader's
sample_depths.py   depths of a tile's samples, from its plane
bias.py            depth bias
rule.py            compare and stencil operations, decoded
tested_tiles.py    read, compare and write a tile every clock
"""
