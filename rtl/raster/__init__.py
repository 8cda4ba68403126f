# SPDX-License-Identifier: BSD-2-Clause
"""Rasterization: triangles become covered tiles.

edge_evaluator.py     block: an edge function at the 64 samples of a tile
addends.py            column terms, row terms and sample offsets of an edge function
tile_rasterizer.py    block: triangles to tiles; it joins the parts below, in the order of data
triangle_intake.py    contexts of triangles, and the first cell of each
triangle_context.py   RAM of what later stages look up of a triangle
cells.py              layouts of what travels from part to part
small_box.py          a grid of pixels over a box of a few tiles
cell_walker.py        superblocks of a triangle's box
coarse_test.py        which children of a cell a triangle may touch
cell_picker.py        the children of a cell, one after the other
fine_raster.py        covered samples of a tile, and the last tile of a triangle
tile_plane.py         depth plane at a tile
"""
