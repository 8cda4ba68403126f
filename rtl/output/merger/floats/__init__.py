# SPDX-License-Identifier: BSD-2-Clause
"""Formats of floats: blended in float32, then rounded to the format.

float_lane.py    one sample: texel and colours in, texel out
float_channel.py factors, products, their sum; or the less, or the greater
small_floats.py  float32 as floats of 16, 11 and 10 bits
"""
