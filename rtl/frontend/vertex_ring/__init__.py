# SPDX-License-Identifier: BSD-2-Clause
"""Vertex ring: vertices in slots, triangles by the slots of their corners.

vertex_ring.py       block: joins the parts
packet_intake.py     packets become rows of the memories, and operations in order
header_check.py      the first rule that a header breaks
slot_window.py       which slots hold a vertex, now and in the order of packets
corner_fetch.py      corners of each triangle, checked; what goes out, in order
attribute_memory.py  attributes, by slot
operation.py         what the intake and the fetch tell each other
"""
