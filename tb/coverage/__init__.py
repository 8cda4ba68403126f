# SPDX-License-Identifier: BSD-2-Clause
"""Coverage: what the stimuli of a block have tried, and what they have not.

Bins are declared beside the stimuli, in ``tb/<stage>/bins/``; lines and toggles are Verilator's. A
gate asks for all of them; what cannot be hit is waived, by name and reason.

bins.py      counts of bins, and their crosses
events.py    events within the hardware, watched by cover properties
named.py     which signals are counted
points.py    Verilator's counts, by the names of the hardware
netlist.py   what no input can change, by Yosys
waivers.py   what cannot be hit, from waivers.toml
run.py       the run of one block
report.py    docs/coverage/results.json and docs/coverage/README.md
"""
