# SPDX-License-Identifier: BSD-2-Clause
"""Tessellation: from patches to triangles.

bezier.py             the Utah teapot: control points, hull and domain stage of bicubic patches
tessellator.py        points and primitives of a patch's domain; edge.py: points along its edges
domain_matching.py    points that are being shaded already are not shaded again
wave_constructor.py   points to be shaded, in waves of 32
patches.py            a draw of patches through all of these
stages.py             ports to hull and domain shaders
"""
