# SPDX-License-Identifier: BSD-2-Clause
"""The interpolator.

interpolator.py     attributes of quads, one a clock; all comes by one stream
attribute_quads.py  the same, triangles beside the quads
triangle_intake.py  what quads need of their triangles, and quads in their turn
edges.py            edge functions of corners
planes.py           linear functions on the screen, once a triangle
inner_coverage.py   pixels that a triangle has whole
locations.py        where in its pixels an attribute is evaluated
weights.py          weights of corners at four pixels
values.py           corners under one exponent, and what lies between
"""
