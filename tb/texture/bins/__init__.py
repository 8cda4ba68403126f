# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the block decoder: see :mod:`fixfunc.tb.coverage`.

block_decode.py
"""
