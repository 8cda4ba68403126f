# SPDX-License-Identifier: BSD-2-Clause
"""Bench of the block decoder.

block_decode.py   blocks of every format and mode

bins/   bins of coverage, a file a block
"""
