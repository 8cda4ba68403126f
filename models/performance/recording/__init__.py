# SPDX-License-Identifier: BSD-2-Clause
"""The golden top draws a frame, and tells what it asks of any machine.

recorder.py    a command stream becomes :class:`~fixfunc.models.performance.events.FrameEvents`
beat_rows.py   triangles, tiles and control beats as rows
plane_uses.py  tiles that a plane's cache is asked for, and how each would lie in memory
"""
