# SPDX-License-Identifier: BSD-2-Clause
"""What the hardware does clock by clock, for people and for other programs.

timeline.py  stalls, beats and transfers of a frame by intervals, and where draws begin
charts.py    the same as charts of a page
dram_table.py  what the golden DRAM makes of its traffic
traffic.py   bursts as the text that simulators of DRAM read
trace.py     all of it as a trace for Perfetto
outputs.py   which files a run leaves
"""
