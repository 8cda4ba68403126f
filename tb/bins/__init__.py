# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the whole: see :mod:`fixfunc.tb.coverage`.

top.py
"""
