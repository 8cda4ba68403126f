# SPDX-License-Identifier: BSD-2-Clause
"""What if: a scene on several machines, one parameter at a time, as a table and a page.

command.py     the command line, fixfunc explore
subject.py     what can be explored: configurations, numbers of each, what is worth changing
machines.py    machines by name
frame.py       a scene's frame on a machine, by the performance model
bandwidth.py   what frame buffers ask of memory, the documents' table
explore.py     rows of configurations and of changed parameters
charts.py, page.py, explore.html.in   the page
"""
