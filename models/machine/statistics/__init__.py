# SPDX-License-Identifier: BSD-2-Clause
"""What became of a draw's primitives and samples, counted by draw, and why nothing was drawn.

losses.py     triangles and samples that the back half leaves out, counted by cause
reasons.py    the causes in words
draw_log.py   counts of the latest draws
predicate.py  what a predicate says of totals
"""
