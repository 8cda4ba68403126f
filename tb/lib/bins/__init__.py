# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the blocks in ``rtl/lib``: see :mod:`fixfunc.tb.coverage`.

float_unit.py
"""
