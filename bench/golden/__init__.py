# SPDX-License-Identifier: BSD-2-Clause
"""What golden models alone tell.

front.py      reuse of vertices, speed of the front half, changes of state
colours.py    bytes of colours between cache and memory; whole frames of the machine
sweep.py      two workers of a Dask cluster beside one
recorded.py   recorded frames of OpenGL programs, by the golden machine and by the top
"""
