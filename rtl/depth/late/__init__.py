# SPDX-License-Identifier: BSD-2-Clause
"""Tiles that go out for shading, and come back to be tested again and written.

late_z.py       late-Z scoreboard: places of which a tile is out
late_front.py   the front of a test whose tiles lie in slots: they keep them until they are written
"""
