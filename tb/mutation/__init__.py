# SPDX-License-Identifier: BSD-2-Clause
"""Mutation of the hardware: every mutant is one change of a block's source; its own tests judge it.

One build holds every mutant that was drawn (mutant schemata): each changed node is a choice by the
number of the mutant, which is one input of the simulated component.

nodes.py      Amaranth's nodes
trace.py      where in the source a node was made
kinds.py      what may be changed of a node
signals.py    which signals are read, and which reach an output
schemata.py   an elaborated component with its choices
source.py     a change in words, from the text of the source
places.py     all mutants of a block, and the draw
equivalent.py waivers: mutants that no test can tell apart, by name and reason
judge.py      the block's own tests, run on one mutant
run.py        the run: draw, build, judge
report.py     docs/mutation.json and docs/mutation.md
"""
