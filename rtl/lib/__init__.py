# SPDX-License-Identifier: BSD-2-Clause
"""Primitives that every stage uses.

fifo.py           FIFOs in block RAM, with and without credits
credit.py         credits for the places at the end of a pipeline
skid_buffer.py    what still arrives when a stream stops
delay.py          registers and delay lines
timeline.py       values of a pipeline by the clock in which they are valid
axi.py            AXI4 port signature
arithmetic.py     pipelined products and quotients
bits.py           where the bits of a value are
"""
