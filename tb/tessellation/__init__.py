# SPDX-License-Identifier: BSD-2-Clause
"""Benches of tessellation.

domain_matching.py    points that repeat, near and far
wave_constructor.py   points to waves

bins/   bins of coverage, a file a block
"""
