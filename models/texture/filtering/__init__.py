# SPDX-License-Identifier: BSD-2-Clause
"""Filtering: texels of a filter, and what becomes of them.

sampler_state.py  what tells how
filtering.py  from coordinates in a texture to its texels
reduction.py  means, extremes and blends of texels
fetch.py      single texels by their numbers
"""
