# SPDX-License-Identifier: BSD-2-Clause
"""How long a frame takes on a machine, without simulating it.

params.py       the machine: units, rates, queues, caches, memory
events.py       what a frame asks of any machine
recording       the golden top draws a frame, and tells its events
line.py         stations in a row, with queues of so many places
reader.py       the command reader: clocks of packets, and what it waits for
stations.py     stations behind it: clocks of each beat, and queues between them
cache_moves.py  which tiles a cache of some shape fetches and writes back
ports.py        a cache and its port to memory in time
planes.py       caches of all planes, beat by beat
flow.py         a frame from reader to memory: when each beat leaves each station
predict.py      clocks, bytes, loads, and what holds a frame
studies.py      three processors of the documents as machines

::

  command stream --> recording --> FrameEvents --+--> predict --> Prediction
                     golden top                  |
                                 MachineParams --+
"""
