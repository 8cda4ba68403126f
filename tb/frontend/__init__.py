# SPDX-License-Identifier: BSD-2-Clause
"""Bench of the command reader.

command_reader.py   the bench; streams.py: command streams, right and
wrong; edges.py: those at the edges of the rules, for the command reader alone; hostile.py: broken
ones, for the whole of the hardware

bins/   bins of coverage, a file a block
"""
