# SPDX-License-Identifier: BSD-2-Clause
"""From host to card: what lies between a program and the ring of packets.

user_mode_driver.py  state that is filtered, draws in command buffers
scheduler.py         which process has the card, and what hangs
kernel_ring.py       the main ring, fences, room for command buffers
sequence.py          numbers that wrap
bus.py               the link between host and card: bandwidth and latency
dma_engine.py        copies beside the drawing, ordered by fences
page_table.py        pages of local and system memory, in tables in memory
mmu.py               a walk, a TLB, faults
demand_paging.py     local memory as a cache of system memory, page by page
unified_memory.py    one memory for host and card, or one each
card/                all of it and the machine: processes draw, and their pictures are right
"""
