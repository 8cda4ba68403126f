# SPDX-License-Identifier: BSD-2-Clause
"""From triangles to targets: one back half, behind packets of a ring and behind command streams.

back_half.py  a list of triangles is set up, rasterized, tested, shaded and merged

Each front brings its targets, and what its shader makes of tiles: ``machine`` the views and pixel
shaders of a program, ``top`` the target and the colours of the hardware's stream.
"""
