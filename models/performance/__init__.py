# SPDX-License-Identifier: BSD-2-Clause
"""How long a frame takes on a machine, without simulating it.

params.py       the machine: units, rates, queues, caches, memory
events.py       what a frame asks of any machine
recorder.py     the golden top draws a frame, and tells its events
beat_rows.py    triangles, tiles and control beats as rows of events
plane_uses.py   tiles that a plane's cache is asked for, and how each would lie in memory
cache_moves.py  which of them a cache of some shape fetches and writes back
line.py         stations in a row, with queues of so many places
reader.py       the command reader in time
ports.py        a cache and its port to memory in time
predict.py      a frame from reader to memory: clocks, and what holds it

::

  command stream --> recorder --> FrameEvents --+--> predict --> Prediction
                     golden top                 |
                                MachineParams --+
"""
