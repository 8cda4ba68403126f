# SPDX-License-Identifier: BSD-2-Clause
"""The demo: a frame by the golden pipeline, and by the hardware.

frame.py        golden frame, pictures, figures
result.py       what became of a frame
job.py          command stream of a frame, and what should come of it
vertex_list.py  its triangles as packets of the vertex ring
hardware.py     the hardware draws it, everything is compared
mesh.py         meshes from files
texture.py      textures from files
"""
