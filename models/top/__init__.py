# SPDX-License-Identifier: BSD-2-Clause
"""The part of the machine that is hardware: a command stream becomes a picture in memory.

top.py     every stage behind the command reader, with its memory; what each stage puts out
shades.py  what a shader takes and returns

Packets become beats; triangles are set up, rasterized, tested behind HiZ, shaded, and blended into
coded tiles. Every probe of ``rtl/top.py`` has its records here.
"""
