# SPDX-License-Identifier: BSD-2-Clause
"""Frames of real OpenGL programs are recorded: docs/cosim/record.md.

trace.py      a program runs under apitrace, in a display of its own; its calls
tokens.py     names and types of OpenGL, as PyOpenGL has them
context.py    contexts of Mesa's llvmpipe without a window, and their functions
arguments.py  arguments of traced calls become those of calls here
windows.py    what stands for the program's windows
programs.py   what its programs of shaders are made of
replay.py     its calls are made again, draws and clears of one frame are handed on
recorder.py   draws and clears are written down
targets.py    what is drawn on, and what that holds
state.py      state in D3D11's names, and what cannot be carried
peel.py       triangles and fragments of a draw
shading/      what its fragments are made of: varyings, textures, samplers
"""
