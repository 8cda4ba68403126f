# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour write and colour compression: see :mod:`fixfunc.tb.coverage`.

colour_write.py
colour_compression.py
"""
