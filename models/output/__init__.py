# SPDX-License-Identifier: BSD-2-Clause
"""Output: colours of a target.

colour_write.py   quads of what passed; colours blended, and kept in memory behind a cache
blend.py          integers exactly, floats by float32; logic operations
formats.py        channels of a shader, of a blender and of memory
output_merger.py  both joined: colours of any format that is drawn to
colour_coder.py, colour_decoder.py   tiles of colours by a palette or by differences;
                  colour_compression.py: what both share
display           a display: buffers that take turns, lines of a screen
scan_out.py       the same as the hardware does it: beats of a screen
transaction_elimination.py   tiles that changed, by their signatures
averages.py       means of samples, and of texels for smaller levels
resolve.py        resolves of coded targets as the unit does them
"""
