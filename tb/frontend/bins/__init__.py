# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the front end: see :mod:`fixfunc.tb.coverage`.

command_reader.py
vertex_ring.py
"""
