# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the command reader and of the vertex ring.

command_reader.py, vertex_ring.py   the benches; streams.py: command streams, right and
wrong; edges.py, texture_edges.py: those at the edges of the rules, for the command reader alone;
hostile.py: broken ones, for the whole of the hardware
vertex_streams.py   streams of packets for the vertex ring; vertex_draws.py: draws by it, for all
of the hardware

bins/   bins of coverage, a file a block
"""
