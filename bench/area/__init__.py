# SPDX-License-Identifier: BSD-2-Clause
"""Static timing and area in a standard-cell library: ``make area LIBERTY=file.lib[.gz]``.

jobs.py      what is measured: Verilog of every configuration, and of the top's parts
liberty.py   the library, without the cells that synthesis shall not take
netlist.py   Verilog to cells, by Yosys and ABC; memories stay outside, and are counted
timing.py    the longest path of a netlist, by OpenSTA
measure.py   both for every job, what is known already taken from ``build/area``
table.py     the figures as text and as a section of docs/bench.md
store.py     docs/area.json, which keeps them
__main__.py  the command

Data flows in this order.
"""
