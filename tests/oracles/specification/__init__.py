# SPDX-License-Identifier: BSD-2-Clause
"""The functional specification's own rules, line by line, in exact rationals.

They are written from its text alone, and import nothing of the project. A result is what the
specification allows: an interval, where it has a tolerance.

numbers.py     conversions between numbers and what formats store
colours.py     blending, write masks, alpha to coverage, resolves
triangles.py   facing, culls, samples, leading vertices, depth biases and clamps
sampling.py    levels of detail
"""
