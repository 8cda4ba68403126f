# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the texture unit, as field tables: see :mod:`fixfunc.spec.payloads`.

level_of_detail.py  coordinates of quads in, levels out
cache.py            taps of quads in, their texels out
cube.py             directions of quads in, faces and gradients out
addresses.py        places of quads in, texels of their grids out
filter.py           texels and weights of quads in, filtered texels out
unit.py             coordinates of quads in, filtered texels out
coded_lines.py      lines of coded surfaces to be read, and their bytes
descriptors.py      textures by number in, their states out
"""
