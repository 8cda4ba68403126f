# SPDX-License-Identifier: BSD-2-Clause
"""Front end: packets in memory become the beats of a frame.

command_reader.py     block: reads packet after packet, and dispatches them to the units below
command_fetch.py      reads transfers of memory ahead
packet.py             port of a unit that executes packets of one kind
packet_units.py       these units, and what they tell each other:
state_packet.py       draw states
clear_packet.py       targets and clears
triangles_packet.py   lists of triangles
resolve_packet.py     resolves: where surfaces may lie, and when
plane_order.py        which colour planes may be drawn to
byte_range.py         places in memory, and whether two have a byte in common
state_check.py        which states, clears and planes are legal
vertex_ring/          block: vertices in slots, triangles by them
"""
