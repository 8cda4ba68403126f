# SPDX-License-Identifier: BSD-2-Clause
"""Pixels: tiles become quads, quads get their attributes.

quad_dispatch.py  tiles to quads, one a clock
interpolator/     attributes of quads, one a clock
texture_stage.py  colours of quads without a shader, one a clock
pixel_pipe/       the three in a row: colours of tiles without a shader
"""
