# SPDX-License-Identifier: BSD-2-Clause
"""Scenes of files, drawn through device and context: docs/scene/files.md.

item.py        objects of JSON, checked
document.py    glTF files: JSON, buffers, accessors
nodes.py       where meshes stand, and cameras
primitives.py  lists of points, lines, triangles
materials.py   what of materials is drawn, and what is not
textures.py    PNG, JPEG, DDS, KTX2
gltf.py        all of it: a scene from a glTF file
pictures.py    a folder of pictures as a scene
scene.py       what a scene is made of
drawing.py     the scene as calls of device and context
shaders.py     of vertices and pixels
result.py      drawn by the golden machine and by the hardware; pictures, figures
"""
