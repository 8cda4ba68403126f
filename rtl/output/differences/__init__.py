# SPDX-License-Identifier: BSD-2-Clause
"""Differences of colours: what is coded of tiles that no palette gives, a channel a clock each way.

colour_order.py         groups of lanes, channels, and what depends on their bits
residuals.py            channels, and their differences in both turns
widths.py               widths of groups, their codes, lengths of payloads
header.py               what lies before the payloads
difference_coder.py     colours -> differences in both turns -> widths -> bits, side by side
sums.py                 differences back to channels
difference_decoder.py   bits -> differences -> sums -> colours
"""
