# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colours: see :mod:`fixfunc.tb.coverage`.

colour_write.py
colour_compression.py
output_merger.py
resolve.py
scan_out.py
transaction_elimination.py
"""
