# SPDX-License-Identifier: BSD-2-Clause
"""Differences of depths: what is coded of tiles that no planes give, a tile in four clocks.

grid.py                 which lanes are taken from which, a quarter of a tile a clock
residuals.py            depths -> residuals in both turns
widths.py               codes of widths, lengths of payloads
portions.py             groups of each quarter of the payloads
payloads.py             residuals -> bits, side by side
difference_coder.py     all of that
numbers.py              bits -> residuals
sums.py                 residuals -> depths
difference_decoder.py   all of that, and what cannot be
result_order.py         results of two units in the order of their tiles
"""
