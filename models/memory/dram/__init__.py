# SPDX-License-Identifier: BSD-2-Clause
"""DRAM behind the ports: channels, banks and rows, and a controller that orders what they do.

timing.py          clocks between two commands, rule by rule
address_map.py     which channel, bank, row and column an address is; row hits in order
accesses.py        what clients ask for, of bursts of AXI4 ports too
controller.py      which command each channel takes in each clock
service.py         what comes of it: answers, row hits, efficiency by client
last_level.py      a cache of all clients before it
configurations.py  memories that have a name

Accesses come with their clocks, the map gives each its place, the controller turns them into
commands, and the service reads answers from the commands.
"""
