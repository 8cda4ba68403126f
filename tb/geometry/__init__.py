# SPDX-License-Identifier: BSD-2-Clause
"""Bench of triangle setup.

triangle_setup.py   draws of every kind of triangle, and the rate

bins/   bins of coverage, a file a block
"""
