# SPDX-License-Identifier: BSD-2-Clause
"""The engine of proofs: properties in, a verdict out.

properties.py a module with what is assumed, asserted and reached; looks into components
places.py     what FIFOs hold, for inductions
streams.py    the contract of streams: stable, in order, nothing lost or doubled, no deadlock
proof.py      one entry of the table: what is proved, how deep
solver.py     SymbiYosys and z3
sizes.py      smaller hardware, by other constants
trace.py      the run that breaks a property, as a table
"""
