# SPDX-License-Identifier: BSD-2-Clause
"""What stands between a stream of tiles and slots that a tile cache fills and empties.

slot_requests.py   each tile's requests to the caches, long before the tile needs its slots
slot_front.py      tiles and slot commands in one order, at the head of the pipeline
plane_states.py    what each colour plane has for itself of a draw state
"""
