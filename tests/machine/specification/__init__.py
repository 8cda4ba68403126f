# SPDX-License-Identifier: BSD-2-Clause
"""The machine beside the functional specification's own rules, of tests/oracles/specification.

drawing.py         draws whose every pixel is given
test_colours.py    conversions, blending, masks, alpha to coverage, resolves
test_triangles.py  facing, culls, samples, leading vertices, depth biases and clamps
test_levels.py     levels of detail
"""
