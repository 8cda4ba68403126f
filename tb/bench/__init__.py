# SPDX-License-Identifier: BSD-2-Clause
"""What benches share.

bench.py    one stream in, one out: driver, monitors, golden model, checker
stream.py   driver, sink and monitor of a stream; pace.py: when they move
states.py   beats on which a STATE holds for what comes behind it
clocked.py  primitives, compared in every clock
codecs.py   codecs with both ways behind one stream, and what goes in and out of their own
memory.py   a memory behind AXI4 ports; reading.py: a block that reads it alone
scenes.py   triangles that find mistakes; depths.py: draws that do
"""
