# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour write, compression, merger and resolve: see :mod:`fixfunc.tb.coverage`.

colour_write.py
colour_compression.py
output_merger.py
resolve.py
"""
