# SPDX-License-Identifier: BSD-2-Clause
"""Benches: every block held to its golden model, on both simulators and in volume.

catalogue.py   benches by the names of their blocks
__main__.py    their command line: python -m fixfunc.tb
top.py         bench of the top
bench/         driver, monitors, memory, paces, and the scenes that stages share
lib/           benches of the primitives
coverage/      what the stimuli of a block have tried, and what not
bins/          bins of the top
mutation/      changes of the source that the tests of a block must notice
stamp.py       sources, commit and day of the figures on pages
waivers.py     waivers of mutants and of coverage, as TOML has them
proofs/        properties that hold for all inputs, by a solver

Benches of blocks lie in folders by stage: frontend, tessellation, geometry, raster, depth, pixel,
memory, output, texture. A bench file has ``requests`` and ``expected``, which both tiers share, and
the tests of its block.
"""
