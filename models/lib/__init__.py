# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of the primitives in ``rtl/lib``.

forwarded_memory.py  rows that are read, modified and written every clock
scoreboard.py        counts of what is in flight, by key
fifo.py              credit counter, credited FIFO, FIFO between streams
skid_buffer.py       skid buffer, and a pipeline that one enable stops
delay.py             delay line, drain timer
pending_table.py     keys of what is in flight
write_buffer.py      rows that are pushed, then committed
placing.py           values of several lengths side by side, and apart
axi.py               transfers of bursts, in order
float32.py           float32 without denormals; quotients that are rounded once
arithmetic.py        products, quotients, their latencies; a beat every few clocks
float_unit.py        operations of floats of any format, by exact integers

Those with a ``step`` go clock by clock: it takes the inputs of a clock, and returns its outputs.
"""
