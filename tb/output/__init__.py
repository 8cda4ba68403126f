# SPDX-License-Identifier: BSD-2-Clause
"""Bench of colour write.

colour_write.py   quads, and every byte of memory

bins/   bins of coverage, a file a block
"""
