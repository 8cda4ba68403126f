# SPDX-License-Identifier: BSD-2-Clause
"""From coordinates to faces, levels of detail and footprints.

footprint.py   gradients, levels of detail, samples along a footprint
cube.py        faces of directions, and texels beyond their edges
"""
