# SPDX-License-Identifier: BSD-2-Clause
"""Filter: grids of texels of quads become filtered texels.

filter.py        the block: its state, its stalls
pixel_sums.py    a pixel: texels are selected or compared, then summed
channel_sum.py   a channel: between texels, times a weight, over the samples
count_divider.py  a sum by the odd part of the number of samples, four bits a clock
nearest.py       by the unit of the format, and the nearest float32
half_filter.py   quads of halves: a channel of a grid a clock
half_pixel.py    a pixel of them: between texels, levels, samples
lerp.py          two floats interpolated, or their extreme
"""
