# SPDX-License-Identifier: BSD-2-Clause
"""Texture unit: coordinates of quads become filtered texels.

texture_unit.py    block: joins the parts
layouts.py         parameters, and what the parts hand to each other
state_rows.py      texture states on chip, by row
grid_rounds.py     a quad becomes a grid a level
sample_places.py   coordinates of the samples of footprints
converted_queue.py what quads bring waits, converted, for its turn
layers.py          layers of arrays, as numbers
references.py      references of comparisons, as textures store them
places.py          a coordinate times a size
placed_grids.py    texels of grids begin, and levels wait beside them
texel_requests.py  texels of grids, and their levels, for the cache
texel_grids.py     texels, borders and weights for the filter
"""
