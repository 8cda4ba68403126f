# SPDX-License-Identifier: BSD-2-Clause
"""Cubes: six faces, which meet.

cube_faces.py    block: directions of quads become faces, places on them, and gradients
face.py          of a pixel
cube_quads.py    quads of cubes take that way, others wait for them
neighbours.py    texels beyond an edge: where they lie on the next face
edge_rounds.py   a grid becomes a part a face
edge_texels.py   texels of several faces become those of a grid; corners
"""
