# SPDX-License-Identifier: BSD-2-Clause
"""Bins of tessellation, a file a block: see :mod:`fixfunc.tb.coverage`.

domain_matching.py, wave_constructor.py
"""
