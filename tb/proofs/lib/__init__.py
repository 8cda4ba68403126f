# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the primitives of ``rtl/lib``, each for all time.

skid_buffer.py  skid buffer, and a pipeline that one enable stops
fifo.py         credits; FIFOs between streams, and at the end of a pipeline
delay.py        registers of a timeline, a delay line, a timer
memories.py     forwarded memory, write buffer
pending.py      pending set, scoreboard
axi.py          reader and writer of bursts
arithmetic.py   products, quotients, intervals; places of bits
tile_groups.py  payloads joined, and taken apart
"""
