# SPDX-License-Identifier: BSD-2-Clause
"""Differences of depths: what is coded of tiles that no planes give, one tile a clock each way.

grid.py                 numbers of a tile sample by sample, and what is taken from what
widths.py               codes of widths, lengths of payloads
difference_coder.py     depths -> differences in both turns -> widths -> bits, side by side
difference_decoder.py   bits -> differences -> sums -> depths
"""
