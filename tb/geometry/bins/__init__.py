# SPDX-License-Identifier: BSD-2-Clause
"""Bins of triangle setup: see :mod:`fixfunc.tb.coverage`.

triangle_setup.py
"""
