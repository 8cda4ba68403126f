# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames, drawn by the machine and by others.

scene.py     a scene: passes with shaders for both
shapes.py    meshes, cameras, textures
scenes.py    eight scenes
drawing.py   a scene drawn through device and context
"""
