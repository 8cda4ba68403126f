# SPDX-License-Identifier: BSD-2-Clause
"""Proofs: properties of the hardware, for all inputs, by SymbiYosys and z3.

A proof wraps a component of ``rtl`` in free inputs, states what holds, and asks the solver. All
proofs have a broken component that they refute, in ``tests/proofs``.

catalogue.py     all proofs, by name
run.py           the run: proofs side by side
report.py        docs/proofs/proofs.json and docs/proofs/proofs.md
plane_check.py   the reader's range check
late_z.py        tiles that are out for shading
quotient.py      quotients of the output merger
shared_edges.py  the fill rule of shared edges, the sign of every lane
engine/          properties, the contract of streams, the solver, traces
lib/             the primitives
memory/          bursts, and the tile cache
"""
