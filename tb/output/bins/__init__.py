# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour write: see :mod:`fixfunc.tb.coverage`.

colour_write.py
"""
