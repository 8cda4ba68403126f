# SPDX-License-Identifier: BSD-2-Clause
"""Scenes: a mesh, a camera, a light, and the frame that the hardware should draw of them.

scene.py    a mesh and how to look at it; the teapot from its patches
camera.py   a camera that sees the whole of a mesh
render.py   the frame: the front half of the machine, then the model of the hardware
shading.py  Lambert light at vertices, and the pixel shader: a texture in that light

A ``Scene`` goes through a draw call of the front half, whose triangles are those of the command
stream; ``top`` draws them, and ``shading.py`` colours what passes.
"""
