# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the command reader: see :mod:`fixfunc.tb.coverage`.

command_reader.py
"""
