# SPDX-License-Identifier: BSD-2-Clause
"""Level of detail: coordinates of quads become levels, and footprints of anisotropic filters.

level_of_detail.py  the block: quads enter, those of an anisotropic filter four times
levels.py           levels by lengths, with biases, within bounds
gradients.py        differences of coordinates, squared lengths
footprints.py       a pixel at a time: level, number of samples, axis
ellipse.py          the major axis of two gradients
logarithm.py        of a float, by table
"""
