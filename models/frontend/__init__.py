# SPDX-License-Identifier: BSD-2-Clause
"""The front end: what a command stream says.

command_reader.py   packets in memory become triangles, draw states, clears and fences
"""
