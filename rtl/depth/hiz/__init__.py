# SPDX-License-Identifier: BSD-2-Clause
"""Hierarchical depth and stencil.

hiz.py              the block: joins all parts
tile_bounds.py      bounds of a tile: read, compared, updated
depth_bounds.py     bounds of a triangle's depths within a tile
entry_lookup.py     where a tile's bounds are kept
bounds_ram.py       bounds of every tile; pending_clears.py and clear_control.py: their clears
decision.py         what bounds say about a tile, and what the tile does to them
hiz_output.py       outcomes, and the tiles that stay
feedback.py         bounds that the depth test reports
context_switch.py   bounds saved and restored
single_bound.py     which bound is kept, where there is memory for one alone
"""
