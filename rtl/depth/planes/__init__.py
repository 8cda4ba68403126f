# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a tile by planes, one tile a clock each way.

plane_depths.py    depths of a tile's samples from up to four planes
fewest_planes.py   planes that no sample needs are left out
plane_coder.py     whether planes give a tile, or its clear value
plane_decoder.py   tiles from planes, as they are, and from anchors
"""
