# SPDX-License-Identifier: BSD-2-Clause
"""What fragments of a draw are made of: varyings, textures, and the fixed functions' state.

outputs.py     what a program's vertex shader puts out, and how it is interpolated
fixed.py       the fixed functions of vertices as a shader, so that theirs is fed back, too
forms.py       formats of OpenGL's textures in DXGI's
textures.py    textures that are bound, each stored once
samplers.py    state of samplers in D3D11's names
bindings.py    which textures and samplers a draw can use, and the state of the fixed functions
shadings.py    all of that as rows of the file
"""
