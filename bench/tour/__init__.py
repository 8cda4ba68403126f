# SPDX-License-Identifier: BSD-2-Clause
"""Figures of the guided tour, docs/guide/tour.md: one for each stage, by its golden model.

__main__.py   draws them: python -m bench.tour, a part of make figures
geometry.py   from packets to snapped triangles
tiles.py      from triangles to tiles of depths
pixels.py     from quads to lines of a display
"""
