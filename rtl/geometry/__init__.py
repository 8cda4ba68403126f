# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: snapped triangles become edge functions, boxes and depth planes.

triangle_setup.py   block: culls triangles, and joins the outputs of the parts below
bounds.py           box in pixels, bounds of the depths
block_depths.py     depths of the vertices in units that they share
edges.py            edge functions at the first tile
plane.py            depth plane; determinants.py: determinants of two by two, for both

A triangle enters all three at once. Edges wait for the plane, which takes a division.
"""
