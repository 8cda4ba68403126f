# SPDX-License-Identifier: BSD-2-Clause
"""Primitives that every stage uses; ``docs/lib`` has a page with a waveform for each.

fifo.py              credited FIFO at the end of a pipeline, FIFO between streams; in block RAM
credit.py            counts the places that a pipeline may still fill
skid_buffer.py       two places behind a pipeline that one enable stops; such a pipeline
fork_join.py         streams that move together
delay.py             registers, delay lines in block RAM, a timer that knows when they are empty
timeline.py          values of a pipeline, by the clock in which they are valid; steps that share
forwarded_memory.py  rows that are read, modified and written every clock
scoreboard.py        counts of what is in flight, by key
pending_table.py     which keys are in flight, two bits a key, in memory
write_buffer.py      rows that are pushed, then committed, then popped
axi.py               AXI4 port; reader and writer of bursts
arithmetic/          pipelined products and quotients; values that hold for an interval
float32/             operations of floats, correctly rounded
tile_groups/         numbers of a tile in groups that share a width, side by side
bits.py              where the bits of a value are

A beat consumes a credit, runs through a pipeline whose clocks a timeline names, and ends in the
credited FIFO. On the way it may update a forwarded memory, or wait for a scoreboard or a pending
table. A wide beat has a skid buffer at the end instead. To memory, rows go through the write buffer
and the writer; the reader brings them back in order.
"""
