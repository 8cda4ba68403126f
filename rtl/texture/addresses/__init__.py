# SPDX-License-Identifier: BSD-2-Clause
"""Texel addresses: places of quads become texels of their grids, and weights.

addresses.py   the block: sizes of levels, corners of the grids
axis.py        along an axis: address modes, and the weight
"""
