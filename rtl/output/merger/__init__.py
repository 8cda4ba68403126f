# SPDX-License-Identifier: BSD-2-Clause
"""Output merger: a shader's colours meet what a target holds, in formats that are drawn to.

output_merger.py  the block: samples of one target, a few or a tile a beat
lane.py           one sample of a normalised format, or of integers
blender.py        its channels: blended, replaced, or combined bit by bit
formats.py        where channels lie in a texel, and how wide they are
control.py        the state, decoded once a beat
quantiser.py      float32 as integers
texels.py         texels taken apart, and put together
factor.py         blend factors
channel.py        products of colours and factors, their sum, cut to the range
quotient.py       quotients by 2^n - 1
srgb.py           linear colours as sRGB
floats/           samples of floats: float_lane.py is one

 texel --> words --> integers, sRGB linear --+
 colours --> cut and rounded to the format --+--> factors --> products --> sum --+
 texel <-- sRGB <-- channels <-- write mask <-- quotient <-----------------------+
"""
