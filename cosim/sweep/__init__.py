# SPDX-License-Identifier: BSD-2-Clause
"""Frames over parameters of the machine: a table with a row for each point.

parameters.py  what can be swept, by kind of scene, golden or hardware; the points
point.py       one point is drawn, and becomes a row
schema.py      columns of the table, with their types and words
store.py       points that have been drawn, a file each, and the table of them
workers.py     processes of this machine, or a Dask cluster, draw points
plots.py       a chart for each parameter
sweep.py       all of it; command.py: its command line
"""
