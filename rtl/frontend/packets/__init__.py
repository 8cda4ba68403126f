# SPDX-License-Identifier: BSD-2-Clause
"""Units of the command reader that execute packets, of one kind each.

packet.py              port of such a unit
packet_units.py        all of them, and what they tell each other:
state_packet.py        draw states
pixel_state_packet.py  how pixels are shaded
texture_packet.py      textures and samplers
clear_packet.py        targets and clears
constant_packet.py     the blend constant
triangles_packet.py    lists of triangles
vertex_packet.py       vertices, triangles by their slots, releases
resolve_packet.py      resolves: where surfaces may lie, and when
plane_order.py         which colour planes may be drawn to
"""
