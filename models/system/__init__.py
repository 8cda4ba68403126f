# SPDX-License-Identifier: BSD-2-Clause
"""From host to card: what lies between a program and the ring of packets.

bus.py         the link between them: bandwidth and latency
page_table.py  pages of local and system memory, in tables in memory
mmu.py         a walk, a TLB, faults
dma_engine.py  copies beside the drawing, ordered by fences
"""
