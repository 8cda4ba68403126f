# SPDX-License-Identifier: BSD-2-Clause
"""Front end: packets in memory become the beats of a frame.

command_reader.py     block: reads packet after packet, and dispatches them to the units of packets/
reader_params.py      its parameters
command_fetch.py      reads transfers of memory ahead
packets/              units that execute packets, of one kind each
byte_range.py         places in memory, and whether two have a byte in common
state_check.py        which states, clears and planes are legal
vertex_ring/          block: vertices in slots, triangles by them
"""
