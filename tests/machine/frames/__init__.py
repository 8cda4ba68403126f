# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames, drawn by the machine and by others.

scene.py             a scene: passes with shaders for both
shapes.py            meshes, cameras, textures
scenes.py            eight scenes
drawing.py           a scene drawn through device and context
random_frames.py     frames of random state, for the naive renderer
random_triangles.py  their triangles
naive_drawing.py     such a frame drawn through device and context
naive_frame.py       one of them, by its seed
states.py            what they have to reach
"""
